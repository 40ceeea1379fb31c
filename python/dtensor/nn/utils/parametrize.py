"""Parameters that are computed from others: ``torch.nn.utils.parametrize``."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dtensor._C import Tensor
from dtensor.autograd.grad_mode import no_grad
from dtensor.nn.containers import ModuleDict, ModuleList
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_blocks = 0  # of `cached` that are open
_kept: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once in a block, where it is used first.

    What the block has computed is forgotten at its end.
    """
    global _blocks
    _blocks += 1
    try:
        yield
    finally:
        _blocks -= 1
        if not _blocks:
            _kept.clear()


def _register(module: Module, name: str, x: Any) -> None:
    if isinstance(x, Parameter):
        module.register_parameter(name, x)
    else:
        module.register_buffer(name, x)


def _check_same(what: str, of: str, x: Any, like: Any) -> None:
    """Raise unless a tensor has the dtype and the shape of another."""
    if not isinstance(x, Tensor):
        raise ValueError(f"{what} must return a tensor. Got {type(x).__name__}.")
    for property in ("dtype", "shape"):
        new, old = getattr(x, property), getattr(like, property)
        if new != old:
            raise ValueError(
                f"{what} may not change the {property} of the tensor, unless the "
                f"`unsafe` flag is enabled.\n{of}.{property}: {old}\n"
                f"returned {property}: {new}"
            )


class ParametrizationList(ModuleList):
    """The modules through which a tensor is computed, and what it is computed from.

    Parameters
    ----------
    modules : sequence of Module
        The first one gets the original tensors, each other one what the one before
        returns.
    original : Tensor or Parameter
        The tensor as it was: the originals are what ``right_inverse`` makes of it.
    unsafe : bool, default False
        Whether the shape and the dtype may change.

    Attributes
    ----------
    original : Tensor
        What the tensor is computed from, or ``original0``, ``original1`` and so on.

    Raises
    ------
    ValueError
        If there is no module, or shapes or dtypes change.
    """

    def __init__(
        self, modules: Sequence[Module], original: Any, unsafe: bool = False
    ) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        like = original.detach()
        new = self._inverse(original, True)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the "
                    f"dtype.\noriginal.dtype: {original.dtype}\n"
                    f"right_inverse(original).dtype: {new.dtype}"
                )
            original.data = new.detach()
            _register(self, "original", original)
        else:
            for k, x in enumerate(new):
                _register(self, f"original{k}", _as(x, original))
        if not unsafe:
            _check_same("A parametrization", "original", self(), like)

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{k}") for k in range(self.ntensors)]

    @no_grad()
    def _inverse(self, value: Any, may_lack: bool) -> Any:
        """Return what the modules would compute a value from."""
        for module in reversed(list(self)):
            inverse = getattr(module, "right_inverse", None)
            if inverse is None and not may_lack:
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement "
                    "right_inverse."
                )
            if inverse is not None:
                try:
                    value = inverse(value)
                except NotImplementedError:
                    if not may_lack:
                        raise
        if not isinstance(value, Tensor | Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
                f"tuple...). Got {type(value).__name__}"
            )
        return value

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the tensor becomes a value.

        Parameters
        ----------
        value : Tensor

        Raises
        ------
        RuntimeError
            If a module has no ``right_inverse``.
        ValueError
            If it returns another number of tensors, or other dtypes.
        """
        found = self._inverse(value, False)
        new = [found] if isinstance(found, Tensor) else list(found)
        if len(new) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(new)}."
            )
        for k, (x, old) in enumerate(zip(new, self._originals(), strict=True)):
            if not isinstance(x, Tensor) or x.dtype != old.dtype:
                raise ValueError(
                    f"Tensor {k} returned by `right_inverse` has dtype "
                    f"{getattr(x, 'dtype', type(x).__name__)} while the original has "
                    f"dtype {old.dtype}"
                )
        for x, old in zip(new, self._originals(), strict=True):
            old.data = x.detach()

    def forward(self) -> Any:
        """Return the tensor, computed from the originals."""
        first, *others = self
        x = first(*self._originals())
        for module in others:
            x = module(x)
        return x


def _as(x: Any, original: Any) -> Any:
    """Return a parameter if the original is one."""
    if not isinstance(x, Tensor):
        raise ValueError(
            "'right_inverse' must return a Tensor or a Sequence of tensors (list, "
            f"tuple...). Got an element of type {type(x).__name__}."
        )
    x = x.detach()
    if isinstance(original, Parameter):
        return Parameter(x, original.requires_grad)
    return x.requires_grad_(original.requires_grad)


def _deepcopied(self: Any, memo: dict[int, Any]) -> Any:
    replica = self.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__ = copy.deepcopy(self.__dict__, memo)
    return replica


def _unpicklable(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict()"
    )


def _computed(name: str) -> property:
    """Return the attribute of a module that has parametrizations of that name."""

    def get(self: Any) -> Any:
        if not _blocks:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _kept:
            _kept[key] = self.parametrizations[name]()
        return _kept[key]

    def set(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    return property(get, set)


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or a buffer of a module from others.

    Parameters
    ----------
    module : Module
        It gets a class of its own, of which the tensor is a property, and the modules
        in ``module.parametrizations[tensor_name]``.
    tensor_name : str
    parametrization : Module
        Its ``forward`` returns the tensor; its ``right_inverse``, if it has one, what
        `forward` gets: a tensor or several. Several parametrizations of a tensor come
        one after the other.
    unsafe : bool, default False
        Whether the shape and the dtype may change; they are not checked then.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        If there is no such tensor, or its shape or dtype changes.

    Examples
    --------
    >>> from dtensor import nn
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return np.triu(x) + np.triu(x, 1).T
    >>> layer = register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> bool(np.all(layer.weight == layer.weight.T))
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        found = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            kind = type(module)
            own: dict[str, Any] = {"__getstate__": _unpicklable}
            if not hasattr(kind, "__deepcopy__"):
                own["__deepcopy__"] = _deepcopied
            module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), own)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _computed(tensor_name))
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'"
        )
    return module


def _append(module: Any, name: str, parametrization: Any, unsafe: bool) -> None:
    if not unsafe:
        before = getattr(module, name)
        after = parametrization(before)
        _check_same("A parametrization", f"module.{name}", after, before)
        if hasattr(parametrization, "right_inverse"):
            try:
                back = parametrization.right_inverse(after)
            except NotImplementedError:
                pass
            else:
                what = "parametrization.right_inverse"
                _check_same(what, f"module.{name}", back, before)
    module.parametrizations[name].append(parametrization)
    module.parametrizations[name].unsafe |= unsafe


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a module computes a tensor of that name, or any."""
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Make a tensor of a module a parameter or a buffer again.

    Parameters
    ----------
    module : Module
    tensor_name : str
    leave_parametrized : bool, default True
        Whether it is what was computed last, instead of the original.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        If it is not parametrized, or the original is not wanted of several tensors.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"Module {module} does not have a parametrization on {tensor_name}"
        )
    held: Any = module
    found = held.parametrizations[tensor_name]
    if not found.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    value = getattr(module, tensor_name)
    if not found.is_tensor:
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        original = found.original
        if leave_parametrized:
            original.data = value.detach()
    delattr(type(module), tensor_name)
    del held.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        del held.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module without its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give the parametrizations of a module, and what they compute from, to another.

    Parameters
    ----------
    from_module, to_module : Module
    tensor_name : str, optional
        Default: all parametrized tensors. Those that `to_module` lacks are made.

    Returns
    -------
    Module
        `to_module`.
    """
    source: Any = from_module
    if not is_parametrized(from_module, tensor_name):
        raise ValueError(f"Module {from_module} has no such parametrization")
    names = list(source.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        found = source.parametrizations[name]
        if not hasattr(to_module, name):
            _register(to_module, name, copy.deepcopy(found._originals()[0]))
        for module in found:
            register_parametrization(to_module, name, module, unsafe=found.unsafe)
        held: Any = to_module
        for new, old in zip(
            held.parametrizations[name]._originals(), found._originals(), strict=True
        ):
            new.data = old.detach()
    return to_module
