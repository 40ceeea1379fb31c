"""Functions that return facts about tensors."""

from typing import Any

from dtensor import ops
from dtensor._C import DTensor, Tensor

__all__ = [
    "allclose",
    "equal",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_tensor",
    "numel",
]

allclose = ops.allclose


def equal(input: Any, other: Any) -> bool:
    """Return whether two tensors have the same shape and elements. Collective.

    A rank outside the mesh of a DTensor gets True.
    """
    if isinstance(input, DTensor) and input.device_mesh.get_coordinate() is None:
        return True
    return bool(ops.array_equal(input, other))


def is_tensor(obj: Any) -> bool:
    """Return whether an object is a Tensor or DTensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Any) -> bool:
    """Return whether the dtype is a floating-point one."""
    return bool(input.dtype.kind == "f" or input.dtype.name == "bfloat16")


def is_complex(input: Any) -> bool:
    """Return whether the dtype is a complex one."""
    return bool(input.dtype.kind == "c")


def is_nonzero(input: Any) -> bool:
    """Return whether the single element is not 0. Collective."""
    return bool(input.item())


def numel(input: Any) -> int:
    """Return the number of elements."""
    return int(input.numel())
