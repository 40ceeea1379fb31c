"""The ranks that cut the rows of a matrix, as one line: what they tell each other."""

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.parts import local, make, move, parts_of, positions

__all__ = ["Line"]

Array = npt.NDArray[Any]

# Elements of each part of a sum that is made in two steps.
LEAST = 16


class Line:
    """The ranks that cut the rows of a matrix.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    like : Layout
        Of a matrix whose rows alone are cut; the caller is inside its mesh.

    Attributes
    ----------
    count, number : int
        How many parts there are, and which is the caller's.
    """

    def __init__(self, name: str, like: _C.Layout) -> None:
        self.name, self.mesh = name, like.mesh
        self.cutting = like.cut_by(0)
        self.count = math.prod(self.mesh.shape[m] for m in self.cutting)
        along = self.layout((self.count,), np.int64)
        self.number = int(positions(along, 0)[0])

    def layout(
        self, shape: Sequence[int], dtype: Any, dim: int = 0, cuts: Any = None
    ) -> _C.Layout:
        """Return a layout of which one dim is cut by the line."""
        placements = [
            _C.Shard(dim) if m in self.cutting else _C.Replicate()
            for m in range(self.mesh.ndim)
        ]
        cuts = None if cuts is None else {dim: cuts}
        return _C.Layout(self.mesh, placements, shape, dtype, cuts=cuts)

    def edges(self, length: int) -> list[int]:
        """Return where even parts of a dim begin, and where the last one ends."""
        parts = parts_of(self.layout((length,), np.int64), 0) or ()
        return [*(start for start, _ in parts), length]

    def gathered(self, piece: Array, lengths: Sequence[int], dim: int = 0) -> Array:
        """Return the pieces of all, joined along a dim."""
        cuts = (0, *accumulate(int(n) for n in lengths))
        shape = list(piece.shape)
        shape[dim] = cuts[-1]
        here = self.layout(shape, piece.dtype, dim, cuts)
        own = make(np.ascontiguousarray(piece), here)
        return local(move(self.name, own, here.whole(dim)))

    def first(self, array: Array) -> Array:
        """Return the array of the first rank of the mesh: all have the same bits."""
        n, ndim = len(array), self.mesh.ndim
        count = math.prod(self.mesh.shape)
        here = _C.Layout(
            self.mesh,
            [_C.Shard(0)] * ndim,
            array.shape,
            array.dtype,
            cuts={0: (0, *[n] * count)},
        )
        own = np.ascontiguousarray(array[: here.local_shape()[0]])
        return local(move(self.name, make(own, here), here.whole(0)))

    def total(self, array: Array) -> Array:
        """Return the sum of the arrays of all."""
        placements = [
            _C.Partial() if m in self.cutting else _C.Replicate()
            for m in range(self.mesh.ndim)
        ]
        here = _C.Layout(self.mesh, placements, array.shape, array.dtype)
        parts = make(array, here)
        if self.count > 2 and len(array) >= LEAST * self.count:
            # Fewer bytes than in one step, in which all get the addends.
            parts = move(self.name, parts, self.layout(array.shape, array.dtype))
        return local(move(self.name, parts, here.with_placements(None)))

    def recut(self, piece: Array, shape: Sequence[int], dim: int, to: int) -> Array:
        """Return the caller's part of a matrix that is cut along another dim than it
        was, both evenly."""
        here = self.layout(shape, piece.dtype, dim)
        there = self.layout(shape, piece.dtype, to)
        own = make(np.ascontiguousarray(piece), here)
        return local(move(self.name, own, there))
