"""Views of parts where NumPy gives a view of the whole, and copies where it copies.

A part that has one slice of a cut dim, or none, fits shapes and orders that the whole
does not fit. But its strides are those of a longer part, and tell how that would lie.
"""

from itertools import accumulate, pairwise
from operator import mul
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Call
from dtensor.ops._make.operator import LOCAL_SHAPE, Operand, call
from dtensor.ops._make.parts import parts_of
from dtensor.ops._make.words import Shape, method_of

__all__ = ["ordering", "raveling", "reshaping"]

Array = npt.NDArray[Any]
Pair = tuple[int, int]  # dims of a whole: the outer one, and the one that lies within


def reshaping(
    a: Operand, new: Shape, order: str, copy: bool | None = None
) -> Call | None:
    """Return the kernel of a reshape; None if NumPy's own does what is right."""
    dims = _dims(a, order)
    ends = {*accumulate(new[::-1] if order == "F" else new, mul)}
    counts = accumulate((a.shape[dim] for dim in dims), mul)
    pairs = zip(pairwise(dims), counts, strict=False)
    joined = tuple(pair for pair, count in pairs if count not in ends)
    if not joined or copy:
        return None
    return call(_reshaped, a, LOCAL_SHAPE, joined, dims, order, copy)


def ordering(a: Operand, order: str) -> Call:
    """Return the kernel that gives an array itself, or if it lies otherwise a copy."""
    dims = _dims(a, order)
    if not dims:
        return call(np.asarray, a, order=order)
    return call(_in_order, a, dims, order)


def raveling(a: Operand, order: str) -> Call:
    """Return the kernel of `ravel`, whose views are those of arrays without gaps."""
    dims = _dims(a, order)
    if not dims:
        return call(method_of("ravel", a), a, order)
    return call(_raveled, a, dims, order)


def _dims(a: Operand, order: str) -> tuple[int, ...]:
    """Return the dims that a whole has several slices of, the outermost first.

    None if no part is short: then NumPy knows by the part.
    """
    if a.layout is None or 0 in a.shape:
        return ()
    for dim in filter(a.layout.is_cut, range(a.ndim)):
        parts = parts_of(a.layout, dim)
        if parts is None or min(n for _, n in parts) < min(a.shape[dim], 2):
            dims = tuple(dim for dim, length in enumerate(a.shape) if length != 1)
            return dims[::-1] if order == "F" else dims
    return ()


class _Memory:
    """How a part lies in memory."""

    def __init__(self, part: Array, dims: tuple[int, ...]) -> None:
        self.dims = dims
        self.shape = [max(length, 1) for length in part.shape]
        self.steps = [*part.strides]
        next = part.itemsize
        for dim in reversed(range(part.ndim)):
            if not self.steps[dim] and (part.shape[dim] < 2 or not part.size):
                self.steps[dim] = next  # it tells nothing: as in C order
            next = self.steps[dim] * self.shape[dim]

    def joins(self, pair: Pair) -> bool:
        """Return whether nothing is between slices of a dim but those of the inner."""
        outer, inner = pair
        step = self.steps[outer]
        return (
            step == self.steps[inner] * self.shape[inner]
            and self._is_outside(outer, inner)
            and not any(
                self._is_outside(outer, dim) and self._is_outside(dim, inner)
                for dim in self.dims
                if self.steps[dim] == step and dim not in pair
            )
        )

    def _is_outside(self, a: int, b: int) -> bool:
        """Return whether slices of a dim are farther apart than those of another one.

        Where one slice of each of them does not tell, the order is C.
        """
        if self.steps[a] != self.steps[b]:
            return self.steps[a] > self.steps[b]
        here, there = self.shape[a] > 1, self.shape[b] > 1
        return a < b if here == there else here


def _reshaped(
    part: Array,
    shape: Shape,
    joined: tuple[Pair, ...],
    dims: tuple[int, ...],
    order: Any,
    copy: bool | None,
) -> Array:
    """Return a reshaped part.

    Raises
    ------
    ValueError
        If it had to be a copy, and must not.
    """
    memory = _Memory(part, dims)
    if not all(map(memory.joins, joined)):
        if copy is False:
            raise ValueError("Unable to avoid creating a copy while reshaping.")
        copy = True
    return part.reshape(shape, order=order, copy=copy)


def _in_order(part: Array, dims: tuple[int, ...], order: Any) -> Array:
    """Return a part itself, or if it does not lie in an order a copy that does."""
    memory = _Memory(part, dims)
    is_dense = memory.steps[dims[-1]] == part.itemsize
    if is_dense and all(map(memory.joins, pairwise(dims))):
        return part
    return part.copy(order)


def _raveled(part: Array, dims: tuple[int, ...], order: Any) -> Array:
    return _in_order(part, dims, order).ravel(order)


_KERNELS: tuple[Any, ...] = (_reshaped, _in_order, _raveled)
for _kernel in _KERNELS:
    _kernel.geometric = True  # what is a view is made again in C
