"""Recorded writes into views: what the tape is told of the tensor that they are of.

A view and its owner show one memory. After a recorded write into a view, the owner's
node is one of the old node and of the view's; after one into the owner, a view that is
used again is an indexing of the owner. Positions are found by addresses, so that any
chain of views is one view. Of Tensors alone: parts of DTensors are not looked into.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from dtensor import _C
from dtensor.ops.elementwise.piecewise import where
from dtensor.ops.index.take import take
from dtensor.ops.shape.view import reshape

__all__ = ["view_seen", "view_written"]

Array = npt.NDArray[Any]


class _Part(NamedTuple):
    """An array in a block of memory, in elements."""

    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, block: Array) -> Array:
        steps = tuple(step * block.itemsize for step in self.strides)
        return as_strided(block[self.start :], self.shape, steps)


class _Place(NamedTuple):
    """Where a view is in its owner."""

    length: int  # of the block that the owner spans
    owner: _Part
    view: _Part

    def numbers(self) -> Array:
        """For each element of the view its number in the owner; -1: it is not there."""
        block = np.full(self.length, -1)
        number = np.arange(math.prod(self.owner.shape))
        self.owner.of(block)[...] = number.reshape(self.owner.shape)
        return self.view.of(block).copy()


def _place(owner: Any, view: Any) -> _Place | None:
    """Return where a view is; None if it has elements that the owner has not."""
    whole, part = (np.asarray(x.detach()) for x in (owner, view))
    size = whole.itemsize
    if whole.dtype != part.dtype or not whole.size or not part.size:
        return None
    low, high = byte_bounds(whole)
    if low > byte_bounds(part)[0] or high < byte_bounds(part)[1]:
        return None
    parts = []
    for array in (whole, part):
        start = array.__array_interface__["data"][0] - low
        if any(step % size for step in (start, *array.strides)):
            return None
        steps = [
            step // size if n > 1 else 1
            for step, n in zip(array.strides, array.shape, strict=True)
        ]
        if 0 in steps:  # elements that are shown several times
            return None
        parts.append(_Part(start // size, array.shape, tuple(steps)))
    found = _Place((high - low) // size, *parts)
    if not whole.flags.c_contiguous and (found.numbers() < 0).any():
        return None
    return found


def view_written(owner: Any, view: Any) -> bool:
    """Let the owner's node know of a write into a view of it."""
    place = _place(owner, view)
    if place is None:
        return False

    def back(grad: Any) -> Any:
        index = place.numbers()
        mask = np.zeros(math.prod(place.owner.shape), bool)
        mask[index] = True
        left = where(mask.reshape(place.owner.shape), 0, grad)
        taken = take(reshape(grad, (-1,)), index.ravel())
        return left, reshape(taken, place.view.shape)

    _C.record_function("view_written", back, (owner, view), (owner,))
    return view_seen(owner, view)


def view_seen(owner: Any, view: Any) -> bool:
    """Make a view's node of its owner's, which has been written to since."""
    place = _place(owner, view)
    if place is None:
        return False

    def back(grad: Any) -> Any:
        index = place.numbers()
        there = np.full(math.prod(place.owner.shape), -1)
        there[index] = np.arange(index.size).reshape(index.shape)
        taken = take(reshape(grad, (-1,)), np.maximum(there, 0))
        found = where(there >= 0, taken, 0)
        return reshape(found, place.owner.shape)

    _C.record_function("view_seen", back, (owner,), (view,))
    return True


_C.install_views(view_written, view_seen)
