"""Pools on one rank: windows along one dim after the other, and what is made of them.

A pool is separable. So windows are told dim by dim, as pieces: pairs of a slice of
places and a slice of elements, such that all of the windows' elements are in the pairs,
each once. Padding is in none of them. Kernels take arrays (samples, channels, dims...).
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops._make.reduction import lowest
from dtensor.ops.model.columns import Ints

__all__ = [
    "Dims",
    "Shares",
    "Windows",
    "averages",
    "averages_input",
    "has_kernel",
    "largest",
    "maxima",
    "picked",
    "put",
    "tables",
]

Array = npt.NDArray[Any]
Pieces = list[tuple[slice, slice]]

# --- windows --------------------------------------------------------------------------


class Windows(NamedTuple):
    """Windows of one size along a dim, a step apart; some may begin in the padding."""

    length: int
    places: int
    size: int
    stride: int
    padding: int
    dilation: int = 1
    padded: bool = True  # whether averages count the padding

    def pieces(self) -> Pieces:
        """Return a pair for each element of a window: the places that have it."""
        pieces = []
        end = self.size * self.dilation - self.padding
        for offset in range(-self.padding, end, self.dilation):
            first = max(0, -(offset // self.stride))
            last = min(self.places - 1, (self.length - 1 - offset) // self.stride)
            if first <= last:
                start, stop = (place * self.stride + offset for place in (first, last))
                elements = slice(start, stop + 1, self.stride)
                pieces.append((slice(first, last + 1), elements))
        return pieces

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return by what sums of each window are divided."""
        start = np.arange(self.places) * self.stride - self.padding
        stop = np.minimum(start + self.size, self.length + self.padding)
        if not self.padded:
            start, stop = start.clip(0), stop.clip(max=self.length)
        return stop - start

    def spans(self) -> npt.NDArray[np.int64]:
        """Return the windows for the C kernels: those of their elements that are
        inside, and `sizes`."""
        start, step = np.arange(self.places) * self.stride - self.padding, self.dilation
        first = np.where(start < 0, start % step, start)
        end = (start + (self.size - 1) * step + 1).clip(max=self.length)
        columns = first, end, np.full_like(first, step), self.sizes()
        return np.stack(columns, 1).astype(np.int64)


class Shares(NamedTuple):
    """Windows that share a dim out: as many as there are places, of about one size."""

    length: int
    places: int

    def pieces(self) -> Pieces:
        """Return a pair for each place: all elements of its window."""
        return [
            (slice(place, place + 1), slice(*ends))
            for place, ends in enumerate(self._ends().T.tolist())
        ]

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return how many elements each window has."""
        sizes: npt.NDArray[np.int64] = np.diff(self._ends(), axis=0)[0]
        return sizes

    def spans(self) -> npt.NDArray[np.int64]:
        """Return the windows for the C kernels: see `Windows.spans`."""
        first, last = self._ends()
        return np.stack([first, last, np.ones_like(first), last - first], 1)

    def _ends(self) -> npt.NDArray[np.int64]:
        n, places = self
        ends = np.empty((2, places), np.int64)  # if memory lacks, it lacks here
        ends[0] = np.arange(places) * n // max(places, 1)
        ends[1] = -(-np.arange(1, places + 1) * n // max(places, 1))
        return ends


Dims = tuple[Windows | Shares, ...]


def has_kernel(dtype: np.dtype[Any], dims: Dims) -> bool:
    """Return whether a C kernel is there for an array of a dtype."""
    return dtype in DIRECT and len(dims) < 3


def tables(dims: Dims) -> tuple[Array, Array, Array]:
    """Return what C kernels take: windows down and to the right, and the lengths."""
    spans = [dim.spans() for dim in dims]
    return spans[0], spans[-1], np.array([dim.length for dim in dims], np.int64)


def _at(axis: int, where: slice) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, where)


def _with_length(shape: Ints, axis: int, length: int) -> Ints:
    return (*shape[:axis], length, *shape[axis + 1 :])


# --- averages -------------------------------------------------------------------------


def _divided(x: Array, dims: Dims, divisor: int | None) -> Array:
    """Return sums of windows by a divisor, or by the sizes; integers are cut off."""
    by: Any = divisor
    if divisor is None:
        sizes = [dim.sizes() for dim in dims]
        by = functools.reduce(np.multiply.outer, sizes).astype(x.dtype)
    if x.dtype.kind != "i":
        return np.asarray(x / by)
    by = np.asarray(by)
    below = x // by
    return np.asarray(below + ((below < 0) & (below * by != x)))


def _wide(x: Array) -> Array:
    """Return numbers in which sums are exact enough."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


@np.errstate(invalid="ignore")
def averages(x: Array, dims: Dims, divisor: int | None) -> Array:
    """Return the average of every window."""
    sums = _wide(x)
    for axis, dim in enumerate(dims, 2):
        before = sums
        sums = np.zeros(_with_length(before.shape, axis, dim.places), before.dtype)
        for places, elements in dim.pieces():
            under = before[_at(axis, elements)]
            if isinstance(dim, Shares):
                under = under.sum(axis, keepdims=True)
            sums[_at(axis, places)] += under
    return _divided(sums, dims, divisor).astype(x.dtype, copy=False)


def averages_input(grad: Array, dims: Dims, divisor: int | None) -> Array:
    """Return the gradient of what averages were taken of: each place gives its share
    to all of its window."""
    shares = _divided(_wide(grad), dims, divisor)
    for axis, dim in enumerate(dims, 2):
        before = shares
        shares = np.zeros(_with_length(before.shape, axis, dim.length), before.dtype)
        for places, elements in dim.pieces():
            shares[_at(axis, elements)] += before[_at(axis, places)]
    return shares.astype(grad.dtype, copy=False)


# --- maxima ---------------------------------------------------------------------------


def maxima(x: Array, dims: Dims) -> Array:
    """Return the largest element of every window; NaN if there is one."""
    for axis, dim in enumerate(dims, 2):
        shape = _with_length(x.shape, axis, dim.places)
        values = np.full(shape, lowest(x.dtype), x.dtype)
        for places, elements in dim.pieces():
            part, other = values[_at(axis, places)], x[_at(axis, elements)]
            if isinstance(dim, Shares):
                other = np.max(other, axis, keepdims=True)
            np.maximum(part, other, out=part)
        x = values
    return x


def largest(x: Array, dims: Dims) -> tuple[Array, Array]:
    """Return `maxima`, and where they are: numbers in row-major order of the dims.

    Of equal elements the first counts, of several NaN the last. A window that lies in
    the padding altogether has -1.
    """
    count = math.prod(x.shape[2:])
    index = np.broadcast_to(np.arange(count).reshape(x.shape[2:]), x.shape)
    # The last dim first: of equal elements that one is kept which comes first.
    for axis, dim in reversed([*enumerate(dims, 2)]):
        shape = _with_length(x.shape, axis, dim.places)
        values = np.full(shape, lowest(x.dtype), x.dtype)
        found = np.full(shape, -1, np.int64)
        for places, elements in dim.pieces():
            best, at = values[_at(axis, places)], found[_at(axis, places)]
            other, where = x[_at(axis, elements)], index[_at(axis, elements)]
            if isinstance(dim, Shares):
                first = other.argmax(axis, keepdims=True)
                other = np.take_along_axis(other, first, axis)
                where = np.take_along_axis(where, first, axis)
            better = (other > best) | (other != other) | (at < 0)
            np.copyto(best, other, where=better)
            np.copyto(at, where, where=better)
        x, index = values, found
    return x, index


def put(x: Array, index: Array, lengths: Ints) -> Array:
    """Return zeros with `x` added at the numbers that `index` holds; not at -1."""
    rows, count = math.prod(x.shape[:2]), math.prod(lengths)
    first = np.arange(rows).reshape(*x.shape[:2], *(1,) * len(lengths)) * count
    there = index >= 0
    if x.dtype in DIRECT and there.all():
        places = (rows, math.prod(index.shape[2:]))
        flat = index.reshape(places), x.reshape(places)
        added = _C.put_along((rows, count), *flat, 1, 1)
        return added.reshape(*x.shape[:2], *lengths)
    sums = np.zeros(rows * count, _wide(x[:0]).dtype)
    np.add.at(sums, (index + first)[there], _wide(x)[there])
    return sums.astype(x.dtype, copy=False).reshape(*x.shape[:2], *lengths)


def picked(x: Array, index: Array) -> Array:
    """Return what `put` adds to: the elements at numbers; 0 for -1."""
    flat = x.reshape(*x.shape[:2], math.prod(x.shape[2:]))
    numbers = index.reshape(*x.shape[:2], math.prod(index.shape[2:]))
    found = np.take_along_axis(flat, numbers, 2).reshape(index.shape)
    return np.where(index < 0, x.dtype.type(0), found)
