"""Large matrices dealt to a grid of ranks: its rows in parts, its columns in
blocks in turn.

So every rank has work until the end of a factorization (Dongarra, van de Geijn, Walker,
"Scalability issues affecting the design of a dense linear algebra library", 1994), and
needs only what ranks in its row and its column of the grid have. Parts of rows stay in
their row of the grid, there and back: only columns are dealt.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import Replicate, Shard
from dtensor.ops._make.parts import local, make, move, parts_of
from dtensor.ops.linalg.shares import Shares

__all__ = ["Deal", "even"]

Array = npt.NDArray[Any]

# Columns of a block at most, and how many blocks of each rank are as high as a part.
WIDTH = 192
LEAST_BLOCKS = 2


def _edges(lengths: Sequence[int]) -> tuple[int, ...]:
    return (0, *accumulate(int(n) for n in lengths))


def even(layout: _C.Layout) -> _C.Layout:
    """Return a layout whose parts are those of `torch.chunk`, in the order of ranks."""
    placements: list[_C.Placement] = [Replicate()] * layout.mesh.ndim
    for dim in (0, 1):
        for m in layout.cut_by(dim):
            placements[m] = Shard(dim)
    return _C.Layout(layout.mesh, placements, layout.shape, layout.dtype)


class Deal:
    """Who has which rows and columns of a matrix.

    Parameters
    ----------
    like : Layout
        Of the matrix, its rows cut. The ranks that cut them become a grid.
    flat : int, default 1
        How many times as wide as high that is, at least. There may be so many times
        fewer blocks.

    Attributes
    ----------
    high, wide : int
        Of the grid.
    i, j : int
        The caller's row and column of the grid; 0 outside the mesh.
    rows, columns : list of array
        Which ones each row, and each column, of the grid has; ascending.
    blocks : list of tuple
        Start, stop and column of the grid of each block of columns.
    """

    def __init__(self, like: _C.Layout, flat: int = 1) -> None:
        self.like = like = even(like)
        mesh: Any = like.mesh
        cutting = like.cut_by(0)
        others = [m for m in range(mesh.ndim) if m not in cutting]
        count = math.prod(mesh.shape[m] for m in cutting)
        sides = [
            k for k in range(1, count + 1) if count % k == 0 and flat * k * k <= count
        ]
        self.high = max(sides, default=1)
        self.wide = count // self.high
        # Parts go down one column of the grid and up the next: so late rows, of which
        # triangles have more, are in all rows of the grid.
        self.part = np.arange(count).reshape(self.wide, self.high).T.copy()
        self.part[:, 1::2] = self.part[::-1, 1::2]
        shape = (*(mesh.shape[m] for m in others), self.high, self.wide)
        ranks = np.transpose(mesh.mesh, [*others, *cutting]).reshape(-1, count)
        ranks = ranks[:, self.part.ravel()].reshape(shape)
        self.mesh = type(mesh)._make(mesh.device_type, shape, ranks, None, mesh.world)
        self.i, self.j = (self.mesh.get_coordinate() or [0, 0])[-2:]
        n = like.shape[1]
        least = LEAST_BLOCKS * count * self.wide // flat
        self.width = max(1, min(WIDTH // flat, -(-n // least)))
        self.blocks = [
            (start, min(n, start + self.width), k % self.wide)
            for k, start in enumerate(range(0, n, self.width))
        ]
        parts = [np.arange(s, s + c) for s, c in parts_of(like, 0) or ()]
        self.rows = [
            np.sort(np.concatenate([parts[p] for p in self.part[i]]))
            for i in range(self.high)
        ]
        owners = np.arange(n) // self.width % self.wide
        self.columns = [np.flatnonzero(owners == j) for j in range(self.wide)]

    def is_few(self, columns: int) -> bool:
        """Return whether it costs little to have as many columns on every rank."""
        return bool(columns * self.part.size**2 <= self.like.shape[0])

    def widths(self, layout: _C.Layout) -> list[int]:
        """Return how many columns each column of the grid has of another matrix, whose
        columns are cut."""
        counts = np.array([count for _, count in parts_of(even(layout), 1) or ()])
        return [int(counts[self.part[:, j]].sum()) for j in range(self.wide)]

    # --- there and back ---------------------------------------------------------------

    def _on_grid(self, a: _C.Placement, b: _C.Placement) -> list[_C.Placement]:
        return [*([Replicate()] * (self.mesh.ndim - 2)), a, b]

    def of_ranks(self) -> _C.Layout:
        """Return the layout of one row for each rank of the grid."""
        placements = self._on_grid(Shard(0), Shard(0))
        return _C.Layout(self.mesh, placements, (self.part.size,), self.like.dtype)

    def dealt(
        self, name: str, x: _C.DTensor, dim: int = 0, triangle: str = ""
    ) -> Array:
        """Return the caller's part of a matrix that is cut along `dim`, as an array of
        its own: the one that is known, of which the "lower" or "upper" triangle may be
        enough, or another of as many rows."""
        x = move(name, x, even(x.layout))
        shares = Shares(self, x.layout, dim, triangle)
        return shares.dealt(name, self.of_ranks(), local(x))

    def cut(
        self,
        name: str,
        array: Array,
        to: _C.Layout,
        dim: int = 0,
        triangle: str = "",
    ) -> _C.DTensor:
        """Return a matrix that is dealt in a layout that is cut along `dim`."""
        here = even(to)
        shares = Shares(self, here, dim, triangle)
        return move(name, make(shares.cut(name, self.of_ranks(), array), here), to)

    # --- moves ------------------------------------------------------------------------

    def only(self, owner: int, width: int) -> list[int]:
        """Return the widths of what one column of the grid has alone."""
        return [width if j == owner else 0 for j in range(self.wide)]

    def joined(
        self, name: str, piece: Array, heights: Any, widths: Any, dims: Any
    ) -> Array:
        """Return the pieces of a column of the grid (`dims` 0) below each other, of a
        row (1) side by side, or of all; how high they are is the same in a row."""
        return local(self.joining(name, piece, heights, widths, dims, False))

    def joining(
        self,
        name: str,
        piece: Array,
        heights: Any,
        widths: Any,
        dims: Any,
        later: bool = True,
    ) -> _C.DTensor:
        """Return what `joined` does; with `later` on its way."""
        cuts = {0: _edges(heights), 1: _edges(widths)}
        shape = cuts[0][-1], cuts[1][-1]
        placements = self._on_grid(Shard(0), Shard(1))
        here = _C.Layout(self.mesh, placements, shape, self.like.dtype, cuts=cuts)
        own = make(np.ascontiguousarray(piece), here)
        return move(name, own, here.whole(dims), later)

    def shown(self, name: str, piece: Array | None, owner: int, shape: Any) -> Array:
        """Return on all ranks what the ranks of one column of the grid have."""
        cuts = {1: _edges(self.only(owner, shape[1]))}
        placements = self._on_grid(Replicate(), Shard(1))
        here = _C.Layout(self.mesh, placements, shape, self.like.dtype, cuts=cuts)
        if piece is None:
            piece = np.empty((shape[0], 0), self.like.dtype)
        return local(move(name, make(piece, here), here.whole(1)))

    def turned(self, name: str, rows: Array, ids: Array, first: int) -> Array:
        """Return which rows, from `first` on, have the numbers of the caller's columns.

        Parameters
        ----------
        name : str
            Of the function.
        rows, ids : array
            Rows that all of this row of the grid have, and their numbers.
        first : int
        """
        met = [[both[both >= first] for both in column] for column in self._meetings]
        mesh_dims = (self.mesh.ndim - 1, self.mesh.ndim - 2)
        sizes = [len(both) for of_column in met for both in of_column]
        edges = _edges(sizes)
        here = _C.Layout(
            self.mesh,
            self._on_grid(Shard(0), Shard(0)),
            (edges[-1], rows.shape[1]),
            self.like.dtype,
            shard_order={0: mesh_dims},
            cuts={0: edges},
        )
        to = _C.Layout(
            self.mesh,
            self._on_grid(Replicate(), Shard(0)),
            here.shape,
            here.dtype,
            cuts={0: edges[:: self.high]},
        )
        mine = rows[np.searchsorted(ids, met[self.j][self.i])]
        found = local(move(name, make(mine, here), to))
        return np.asarray(found[np.argsort(np.concatenate(met[self.j]))])

    @cached_property
    def _meetings(self) -> list[list[Array]]:
        """Return the numbers that columns and rows of the grid have in common."""
        return [
            [np.intersect1d(rows, columns, assume_unique=True) for rows in self.rows]
            for columns in self.columns
        ]

    def total(self, name: str, array: Array) -> Array:
        """Return the sum of the arrays of all ranks of the grid."""
        placements = self._on_grid(_C.Partial(), _C.Partial())
        here = _C.Layout(self.mesh, placements, array.shape, array.dtype)
        return local(move(name, make(array, here), here.with_placements(None)))

    def summed(self, name: str, array: Array, heights: Sequence[int]) -> Array:
        """Return the sums of what each row of the grid has, below each other; they are
        so high."""
        cuts = {0: _edges(heights)}
        placements = self._on_grid(Shard(0), _C.Partial())
        shape = cuts[0][-1], array.shape[1]
        here = _C.Layout(self.mesh, placements, shape, array.dtype, cuts=cuts)
        return local(move(name, make(array, here), here.with_placements(None)))

    def added(self, name: str, array: Array, widths: Sequence[int]) -> Array:
        """Return the sum of the arrays of a column of the grid; these are so wide."""
        cuts = {1: _edges(widths)}
        placements = self._on_grid(_C.Partial(), Shard(1))
        shape = len(array), cuts[1][-1]
        here = _C.Layout(self.mesh, placements, shape, array.dtype, cuts=cuts)
        to = self._on_grid(Replicate(), Shard(1))
        whole = _C.Layout(self.mesh, to, shape, array.dtype, cuts=cuts)
        return local(move(name, make(array, here), whole))
