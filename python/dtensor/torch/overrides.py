"""``torch.overrides``: functions are not replaced by ``__torch_function__`` here."""

from collections.abc import Callable, Iterable
from typing import Any

from dtensor import _C

__all__ = [
    "get_ignored_functions",
    "get_overridable_functions",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
]


def is_tensor_like(inp: Any) -> bool:
    """Return whether something is a tensor, or says that it behaves as one."""
    return isinstance(inp, _C.Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return False: no argument replaces functions, whatever methods it has."""
    return False


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Return an empty set: see `get_overridable_functions`."""
    return set()


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Return an empty dict: arguments cannot replace functions."""
    return {}


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Return whether a function is a method of tensors, or gets an attribute."""
    name = getattr(func, "__name__", None)
    if name == "__get__":
        return True
    return name is not None and getattr(_C.TorchTensor, name, None) is func


def resolve_name(f: Any) -> str | None:
    """Return the name by which a script calls a function of this library."""
    if is_tensor_method_or_property(f) and getattr(f, "__name__", "") != "__get__":
        return f"torch.Tensor.{f.__name__}"
    name = getattr(f, "__name__", None)
    module = getattr(f, "__module__", None) or ""
    if name is None or not module.startswith("dtensor"):
        return name
    public = [part for part in module.split(".")[1:] if not part.startswith("_")]
    path = ".".join(["torch", *(part for part in public if part != "torch")])
    return f"{path}.{name}"
