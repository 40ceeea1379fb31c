"""Which elements of a matrix ranks of a grid give each other when it is dealt."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.parts import parts_of
from dtensor.ops._make.routes import exchanged

__all__ = ["Shares"]

Array = npt.NDArray[Any]
Block = tuple[Array, Array]  # numbers of its rows and of its columns


class Grid(Protocol):
    """What is known of a grid of ranks, as in `deal.Deal`."""

    part: Array
    i: int
    j: int
    rows: list[Array]
    columns: list[Array]


class Shares:
    """The blocks of a matrix that go from its parts to a grid of ranks, or back.

    What cuts the rows of a matrix goes along the rows of the grid, where each rank gets
    some columns of all parts; what cuts its columns goes along the columns of the grid.

    Parameters
    ----------
    grid : Grid
    even : Layout
        Of the matrix, cut along `dim` only; the grid knows the numbers of parts.
    dim : {0, 1}
    triangle : str
        "lower" or "upper" if only that triangle is given; the rest are zeros.

    Attributes
    ----------
    lines : array
        The numbers of the rows, or columns, of the caller's row or column of the grid.
    """

    def __init__(self, grid: Grid, even: _C.Layout, dim: int, triangle: str) -> None:
        self.dim, self.triangle = dim, triangle
        self.part = grid.part if dim == 0 else grid.part.T
        self.taken = grid.columns if dim == 0 else grid.rows
        self.at = (grid.i, grid.j) if dim == 0 else (grid.j, grid.i)
        spans = parts_of(even, dim) or ()
        self.of_part = [np.arange(start, start + count) for start, count in spans]
        self.lines = np.sort(np.concatenate(self._of_group(self.at[0])))

    def _of_group(self, group: int) -> list[Array]:
        return [self.of_part[part] for part in self.part[group]]

    def _block(self, of_part: Array, taken: Array) -> Block:
        return (of_part, taken) if self.dim == 0 else (taken, of_part)

    def _mask(self, block: Block) -> Array:
        rows, columns = block
        if self.triangle == "upper":
            return np.asarray(columns >= rows[:, None])
        return np.asarray(columns <= rows[:, None])

    def _key(self, axis: int, where: Any) -> Any:
        return (where, slice(None)) if axis == 0 else (slice(None), where)

    # --- there and back ---------------------------------------------------------------

    def dealt(self, name: str, rows: _C.Layout, own: Array) -> Array:
        """Return the caller's part of the grid's matrix, made of what parts have."""
        group, member = self.at
        mine = self._of_group(group)[member]
        given = [(self._key(1 - self.dim, t), self._block(mine, t)) for t in self.taken]
        got = self._ranges(self._of_group(group))
        shape = self._block(self.lines, self.taken[member])
        return self._moved(name, rows, own, given, got, shape, False)

    def cut(self, name: str, rows: _C.Layout, array: Array) -> Array:
        """Return the caller's part, made of what the ranks of the grid have."""
        group, member = self.at
        mine = self._of_group(group)[member]
        got = [(self._key(1 - self.dim, t), self._block(mine, t)) for t in self.taken]
        given = self._ranges(self._of_group(group))
        every = np.arange(sum(map(len, self.taken)))
        return self._moved(
            name, rows, array, given, got, self._block(mine, every), True
        )

    def _ranges(self, lines: list[Array]) -> list[tuple[Any, Block]]:
        """Return where the lines of parts are in the caller's, and the blocks."""
        starts = [int(np.searchsorted(self.lines, ids[:1]).sum()) for ids in lines]
        return [
            (
                self._key(self.dim, slice(start, start + len(ids))),
                self._block(ids, self.taken[self.at[1]]),
            )
            for start, ids in zip(starts, lines, strict=True)
        ]

    def _moved(
        self,
        name: str,
        rows: _C.Layout,
        array: Array,
        given: Sequence[tuple[Any, Block]],
        got: Sequence[tuple[Any, Block]],
        shape: Block,
        is_back: bool,
    ) -> Array:
        sizes = self._sizes().T if is_back else self._sizes()
        mine = self._number(*self.at)
        run = np.empty(int(sizes[mine].sum()), array.dtype)
        start = 0
        for key, block in given:
            stop = start + self._count(block)
            piece = array[key]
            mask = self._mask(block) if self.triangle else ...
            run[start:stop] = piece[mask].ravel()
            start = stop
        (come,) = exchanged(name, rows, [run], sizes, mine)
        del run
        found = np.zeros([len(ids) for ids in shape], array.dtype)
        start = 0
        for key, block in got:
            stop = start + self._count(block)
            piece = come[start:stop]
            if self.triangle:
                run, piece = piece, np.zeros([len(ids) for ids in block], array.dtype)
                piece[self._mask(block)] = run
            found[key] = piece.reshape([len(ids) for ids in block])
            start = stop
        return found

    def _number(self, group: int, member: int) -> int:
        """Return the number of a rank of the grid."""
        i, j = (group, member) if self.dim == 0 else (member, group)
        wide = self.part.shape[1 - self.dim]
        return int(i * wide + j)

    def _sizes(self) -> Array:
        """Return how many elements each rank of the grid deals to each."""
        sizes = np.zeros((self.part.size, self.part.size), int)
        for group, parts in enumerate(self.part):
            for member, part in enumerate(parts):
                for to, taken in enumerate(self.taken):
                    here, there = self._number(group, member), self._number(group, to)
                    block = self._block(self.of_part[part], taken)
                    sizes[here, there] = self._count(block)
        return sizes

    def _count(self, block: Block) -> int:
        """Return how many elements are given of a block."""
        rows, columns = block
        every = len(rows) * len(columns)
        if self.triangle == "upper":
            return every - int(np.searchsorted(columns, rows).sum())
        if self.triangle:
            return int(np.searchsorted(columns, rows, "right").sum())
        return every
