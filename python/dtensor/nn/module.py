"""Module: the base class of all layers and models."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dtensor._C import Tensor
from dtensor._core import device as _device
from dtensor._core.dtype import dtype_of
from dtensor.autograd import no_grad
from dtensor.nn._dtype import is_floating
from dtensor.nn._hooks import Hooks, RemovableHandle
from dtensor.nn._state import State
from dtensor.nn._tree import Tree
from dtensor.nn.parameter import Parameter, zero_grads

__all__ = ["Module", "RemovableHandle"]

_TABLES = """
    _backward_pre_hooks _backward_hooks _forward_hooks _forward_hooks_with_kwargs
    _forward_hooks_always_called _forward_pre_hooks _forward_pre_hooks_with_kwargs
    _state_dict_hooks _state_dict_pre_hooks _load_state_dict_pre_hooks
    _load_state_dict_post_hooks
""".split()


class Module(Tree, Hooks, State):
    """Parameters, buffers and modules in a tree, and a `forward` that uses them.

    As ``torch.nn.Module``: a subclass calls ``super().__init__()``, assigns parameters
    and modules to its attributes, and defines `forward`. The tensors may be Tensors of
    this rank or DTensors.

    Attributes
    ----------
    training : bool
        Whether layers such as Dropout behave as in training: see `train`, `eval`.

    Examples
    --------
    >>> from dtensor import nn
    >>> class Model(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = nn.Linear(2, 3)
    ...
    ...     def forward(self, x):
    ...         return self.layer(x).relu()
    >>> [name for name, _ in Model().named_parameters()]
    ['layer.weight', 'layer.bias']
    """

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        own["_parameters"], own["_buffers"], own["_modules"] = {}, {}, {}
        own["_non_persistent_buffers_set"] = set()
        for name in _TABLES:
            own[name] = OrderedDict()

    def _forward_is_missing(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output from the input: every module defines its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    forward: Callable[..., Any] = _forward_is_missing

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for parameter in self._parameters.values():
            if parameter is not None:  # a pickle does not store the flag
                parameter._is_param = True

    # --- modes ------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set `training` of this module and all below it; return this module.

        Raises
        ------
        ValueError
            If `mode` is not a bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set `training` to False: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters are trained; return this module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters to None, or to 0."""
        zero_grads(self.parameters(), set_to_none)

    # --- changing all tensors ---------------------------------------------------------

    def apply(self, fn: Callable[["Module"], Any]) -> Self:
        """Call ``fn(module)`` for all modules below this one, then for this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace every tensor and every gradient by ``fn(tensor)``.

        Parameters stay the same objects, so that optimizers still have them.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                data, grad = fn(parameter.detach()), parameter.grad
                parameter.grad = None
                parameter.data = data
                if grad is not None:
                    parameter.grad = fn(grad.detach())
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Change the dtype of floating-point and complex tensors, or the device.

        Parameters
        ----------
        *args : dtype, device, or a tensor whose dtype and device are used
        dtype : dtype_like, optional
        device : str, optional
            ``"cpu"`` or ``"meta"``.
        non_blocking, memory_format
            Ignored.

        Returns
        -------
        Module
            This module.

        Raises
        ------
        TypeError
            If the dtype is neither floating-point nor complex.
        NotImplementedError
            If a tensor without data would need data: see `to_empty`.
        """
        device, dtype = _parse_to(*args, **kwargs)
        if dtype is not None and not _changes(dtype):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got "
                f"desired dtype={dtype}"
            )

        def convert(x: Any) -> Any:
            wanted = dtype if _changes(x.dtype) else None
            if device is None or device == x.device:
                return x if wanted is None else x.to(wanted)
            if _device.is_meta(x):
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when "
                    "moving module from meta to a different device."
                )
            return _device.empty_like(x, wanted, device)

        return self._apply(convert)

    def to_empty(self, *, device: str | None, recurse: bool = True) -> Self:
        """Give all tensors new memory on a device, with arbitrary elements.

        Not collective: a DTensor without data gets memory for this rank's part. Then
        ``reset_parameters`` of the layers, or `load_state_dict`, sets the elements.

        Parameters
        ----------
        device : str or None
            ``"cpu"`` or ``"meta"``; None: that of the ``with device(...):`` block.
        recurse : bool, default True
            Whether to include submodules.
        """
        wanted = _device.kind_of(device)
        return self._apply(
            lambda x: _device.empty_like(x, device=wanted), recurse=recurse
        )

    def type(self, dst_type: npt.DTypeLike) -> Self:
        """Change the dtype of all parameters and buffers; return this module."""
        return self._apply(lambda x: x.to(dst_type))

    def _cast(self, dtype: npt.DTypeLike) -> Self:
        return self._apply(lambda x: x.to(dtype) if is_floating(x.dtype) else x)

    def float(self) -> Self:
        """Change floating-point tensors to float32; return this module."""
        return self._cast(np.float32)

    def double(self) -> Self:
        """Change floating-point tensors to float64; return this module."""
        return self._cast(np.float64)

    def half(self) -> Self:
        """Change floating-point tensors to float16; return this module."""
        return self._cast(np.float16)

    def bfloat16(self) -> Self:
        """Change floating-point tensors to bfloat16; needs ml_dtypes.

        Raises
        ------
        ModuleNotFoundError
            If ml_dtypes is not installed. On this rank only.
        """
        return self._cast(dtype_of("bfloat16"))

    def cpu(self) -> Self:
        """Return this module: all tensors are in CPU memory."""
        return self.to("cpu")

    # --- for layers -------------------------------------------------------------------

    def _add_parameters(
        self,
        shapes: Mapping[str, Sequence[int] | None],
        device: str | None,
        dtype: npt.DTypeLike | None,
    ) -> None:
        """Register parameters with arbitrary elements; None for those without shape."""
        for name, shape in shapes.items():
            new = None if shape is None else _device.empty(shape, dtype, device)
            self.register_parameter(name, None if new is None else Parameter(new))

    def _named(self, *names: str) -> str:
        """Return attributes in the form of `extra_repr`."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in names)

    # --- text -------------------------------------------------------------------------

    def _get_name(self) -> str:
        return self.__class__.__name__

    def extra_repr(self) -> str:
        """Return the text between the parentheses of the module's repr."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def _changes(dtype: np.dtype[Any]) -> bool:
    """Return whether `Module.to` changes tensors of a dtype."""
    return is_floating(dtype) or dtype.kind == "c"


def _is_dtype(name: str) -> bool:
    try:
        dtype_of(name)
    except TypeError:
        return False
    return True


def _parse_to(
    *args: Any,
    device: str | None = None,
    dtype: npt.DTypeLike | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> tuple[str | None, np.dtype[Any] | None]:
    """Return the device and the dtype that the arguments of `Module.to` name."""
    for value in args:
        if isinstance(value, Tensor):
            device, dtype = value.device, value.dtype
        elif isinstance(value, int) and not isinstance(value, bool):
            device = _device.device(value)  # raises
        elif isinstance(value, str) and not _is_dtype(value):
            device = value
        elif not isinstance(value, bool | None):
            dtype = value
    kind = None if device is None else _device.kind_of(device)
    return kind, None if dtype is None else dtype_of(dtype)
