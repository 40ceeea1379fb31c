"""Layers that learn the size of their input from the first one that they get."""

import inspect
from typing import Any, ClassVar

import numpy as np

from dtensor._C import Tensor
from dtensor._core.device import empty
from dtensor.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from dtensor.nn.conv import Conv1d, Conv2d, Conv3d
from dtensor.nn.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from dtensor.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from dtensor.nn.linear import Linear
from dtensor.nn.module import Module
from dtensor.nn.parameter import Buffer, Parameter

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "UninitializedBuffer",
    "UninitializedParameter",
]


class _LazyParameter(type(Parameter)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Parameter) and hasattr(instance, "_is_lazy")


class _LazyBuffer(type(Buffer)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Buffer) and hasattr(instance, "_is_lazy")


class UninitializedParameter(Parameter, metaclass=_LazyParameter):
    """A parameter without elements, until its layer knows its shape.

    Parameters
    ----------
    requires_grad : bool, default True
    device : str, optional
    dtype : dtype_like, optional
    """

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> Any:
        made: Any = Parameter(empty((0,), dtype, device), requires_grad)
        made._is_lazy = True
        return made


class UninitializedBuffer(Buffer, metaclass=_LazyBuffer):
    """A buffer without elements, until its layer knows its shape.

    Parameters
    ----------
    requires_grad : bool, default False
    device : str, optional
    dtype : dtype_like, optional
    persistent : bool, default True
    """

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        made: Any = Buffer(empty((0,), dtype, device), persistent=persistent)
        made._is_lazy = True
        return made.requires_grad_(requires_grad)


class _Lazy(Module):
    """A layer whose first argument is the size of dim `_dim` of the first input.

    The other arguments are those of the layer that it then becomes. Until then
    parameters have shape (0,); they stay the same objects, so that an optimizer may
    have them already. A state that is loaded gives them their shapes, too.
    """

    cls_to_become: ClassVar[type[Module]]
    __signature__: ClassVar[inspect.Signature]
    _first: str
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        base: Any = next(c for c in cls.__mro__ if not issubclass(c, _Lazy))
        cls.cls_to_become = base
        signature = inspect.signature(base.__init__)
        names = list(signature.parameters)
        cls._first = names[1] if len(names) > 1 else ""
        kept = [
            p.replace(default=cls._defaults.get(n, p.default))
            for n, p in signature.parameters.items()
            if n not in names[:2]
        ]
        cls.__signature__ = signature.replace(parameters=kept)

    def __init__(self, *args: Any, **options: Any) -> None:
        bound = self.__signature__.bind(*args, **options)
        given = {**self._defaults, **bound.arguments}
        groups = given.get("groups", 1)
        least = {**given, "device": "meta"}
        super().__init__(**{self._first: groups}, **least)
        setattr(self, self._first, 0)
        self._given = given
        self._has: set[str] = set()
        device = given.get("device")
        for name, x in self._parameters.items():
            if x is not None:
                new = UninitializedParameter(device=device, dtype=x.dtype)
                self._parameters[name] = new
        for name, x in self._buffers.items():
            if x is not None and x.ndim:
                new = UninitializedBuffer(device=device, dtype=x.dtype)
                self._buffers[name] = new
            elif x is not None:
                self._buffers[name] = empty((), x.dtype, device) * 0

    def has_uninitialized_params(self) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        return any(name not in self._has for name, _ in self._lazy())

    def _lazy(self) -> list[tuple[str, Any]]:
        return [(n, x) for n, x in self._persistent() if hasattr(x, "_is_lazy")]

    def _size(self, x: Any) -> int:
        return int(x.shape[1])

    def forward(self, *args: Any, **options: Any) -> Any:
        """Become the layer that fits the input, and call it."""
        x = args[0] if args else next(iter(options.values()))
        self.initialize_parameters(x)
        return type(self).forward(self, *args, **options)

    def initialize_parameters(self, input: Any) -> None:
        """Become the layer that fits an input."""
        first = {self._first: self._size(input)}
        dtype = next((x.dtype for _, x in self._lazy()), None)
        given = self._given if dtype is None else {**self._given, "dtype": dtype}
        made = self.cls_to_become(**first, **given)
        for name, new in made._persistent():
            own = getattr(self, name)
            if own is None or not hasattr(own, "_is_lazy"):
                continue
            if name not in self._has:
                own.data = new.detach()
            del own._is_lazy
        for name in ("_given", "_has"):
            delattr(self, name)
        kept = {name for name in vars(self) if name.startswith("_")} | {"training"}
        vars(self).update({k: v for k, v in vars(made).items() if k not in kept})
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, own in self._lazy():
            given = state_dict.get(prefix + name)
            if isinstance(given, Tensor) and given.shape != (0,):
                own.data = empty(given.shape, own.dtype, self._given.get("device"))
                self._has.add(name)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class LazyLinear(_Lazy, Linear):
    """`Linear`, whose `in_features` is the length of the last dim of the first input.

    Examples
    --------
    >>> layer = LazyLinear(3)
    >>> layer(np.ones((2, 5), np.float32)).shape, layer
    ((2, 3), Linear(in_features=5, out_features=3, bias=True))
    """

    def _size(self, x: Any) -> int:
        return int(x.shape[-1])


class _LazyConv(_Lazy):
    """`Conv`, whose `in_channels` are those of the first input."""

    _ndim: int

    def _size(self, x: Any) -> int:
        if np.ndim(x) not in (self._ndim + 1, self._ndim + 2):
            raise RuntimeError(
                f"Expected {self._ndim + 1}D (unbatched) or {self._ndim + 2}D "
                f"(batched) input to {type(self).__name__}, but got input of size: "
                f"{x.shape}"
            )
        return int(x.shape[-self._ndim - 1])


class _LazyInstanceNorm(_Lazy):
    """`InstanceNorm` with parameters and running averages by default."""

    _defaults = {"affine": True, "track_running_stats": True}


def _made(kind: type, base: type, what: str) -> Any:
    doc = f"`{base.__name__}`, whose {what} are those of the first input."
    names = {"__doc__": doc, "__module__": __name__}
    return type(f"Lazy{base.__name__}", (kind, base), names)


LazyConv1d: Any = _made(_LazyConv, Conv1d, "`in_channels`")
LazyConv2d: Any = _made(_LazyConv, Conv2d, "`in_channels`")
LazyConv3d: Any = _made(_LazyConv, Conv3d, "`in_channels`")
LazyConvTranspose1d: Any = _made(_LazyConv, ConvTranspose1d, "`in_channels`")
LazyConvTranspose2d: Any = _made(_LazyConv, ConvTranspose2d, "`in_channels`")
LazyConvTranspose3d: Any = _made(_LazyConv, ConvTranspose3d, "`in_channels`")
LazyBatchNorm1d: Any = _made(_Lazy, BatchNorm1d, "`num_features`")
LazyBatchNorm2d: Any = _made(_Lazy, BatchNorm2d, "`num_features`")
LazyBatchNorm3d: Any = _made(_Lazy, BatchNorm3d, "`num_features`")
LazyInstanceNorm1d: Any = _made(_LazyInstanceNorm, InstanceNorm1d, "`num_features`")
LazyInstanceNorm2d: Any = _made(_LazyInstanceNorm, InstanceNorm2d, "`num_features`")
LazyInstanceNorm3d: Any = _made(_LazyInstanceNorm, InstanceNorm3d, "`num_features`")
