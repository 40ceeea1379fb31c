"""Operands that are lists of tensors: NumPy makes arrays of them, and so does this."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import leaves

__all__ = ["has_lists", "stacked"]


def _holds_tensors(x: Any) -> bool:
    kinds = _C.Tensor, _C.Operand
    return isinstance(x, list | tuple) and any(isinstance(y, kinds) for y in leaves(x))


def has_lists(operands: tuple[Any, ...]) -> bool:
    """Return whether an operand is a list or a tuple that holds tensors."""
    return any(map(_holds_tensors, operands))


def stacked(x: Any) -> Any:
    """Return a list that holds tensors as one tensor, as `np.stack` makes it; anything
    else as it is.

    Raises
    ------
    TypeError
        In PyTorch's dialect, which takes no lists.
    """
    if not _holds_tensors(x):
        return x
    if _C.is_torch(*(leaf for leaf in leaves(x) if isinstance(leaf, _C.Tensor))):
        raise TypeError(f"an operand is a {type(x).__name__}, and no tensor")
    return np.stack([stacked(part) for part in x])
