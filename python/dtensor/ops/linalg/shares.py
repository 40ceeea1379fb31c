"""Which elements of a matrix ranks of a grid give each other when it is dealt."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.parts import parts_of
from dtensor.ops._make.routes import exchanged

__all__ = ["Shares"]

Array = npt.NDArray[Any]
Rectangle = tuple[slice, slice]  # of rows and of columns


class Block(NamedTuple):
    """Lines of a matrix that one rank gives another: their numbers, which ascend, the
    rectangles of them that are given, and their places in the array of one of the two.
    Numbers in a row have places in a row.
    """

    rows: Array
    columns: Array
    rectangles: list[Rectangle]
    row_places: Array
    column_places: Array

    def key(self, rectangle: Rectangle) -> Rectangle:
        """Return where a rectangle of the block is in the array."""
        rows, columns = rectangle
        return _run(self.row_places[rows]), _run(self.column_places[columns])


def _run(places: Array) -> slice:
    return slice(int(places[0]), int(places[-1]) + 1)


def _runs(numbers: Array) -> list[tuple[int, int]]:
    """Return the ranges in which each number is one more than the last."""
    edges = np.flatnonzero(np.diff(numbers) != 1) + 1
    bounds = [0, *edges.tolist(), len(numbers)]
    return list(pairwise(bounds)) if len(numbers) else []


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
        "lower" or "upper" if only that triangle is needed; the rest are zeros.

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
        mine = [self.of_part[part] for part in self.part[self.at[0]]]
        self.lines = np.sort(np.concatenate(mine))
        self.rectangles = {
            (part, to): self._rectangles(*self._both(lines, taken))
            for part, lines in enumerate(self.of_part)
            for to, taken in enumerate(self.taken)
        }

    def _both(self, lines: Array, taken: Array) -> tuple[Array, Array]:
        """Return what is said of rows, and of columns."""
        return (lines, taken) if self.dim == 0 else (taken, lines)

    def _block(self, part: int, to: int, at: Array, taken_at: Array) -> Block:
        """Return the block of a part that member `to` of its group gets."""
        rows, columns = self._both(self.of_part[part], self.taken[to])
        return Block(
            rows, columns, self.rectangles[part, to], *self._both(at, taken_at)
        )

    def _rectangles(self, rows: Array, columns: Array) -> list[Rectangle]:
        """Return what is given of a block. Of a triangle these have all of it, and of
        the rest what is beside the diagonal: so they are copied as they are."""
        found = []
        for left, right in _runs(columns):
            first, last = columns[left], columns[right - 1]
            for top, below in _runs(rows):
                if self.triangle == "lower":
                    top = max(top, int(np.searchsorted(rows, first)))
                elif self.triangle:
                    below = min(below, int(np.searchsorted(rows, last, "right")))
                if top < below:
                    found.append((slice(top, below), slice(left, right)))
        return found

    def _clear(self, piece: Array, rows: Array, columns: Array) -> None:
        """Put zeros where a rectangle is outside the triangle."""
        if self.triangle == "lower":
            some = slice(0, int(np.searchsorted(rows, columns[-1])))
            piece[some][columns > rows[some, None]] = 0
        else:
            some = slice(int(np.searchsorted(rows, columns[0], "right")), None)
            piece[some][columns < rows[some, None]] = 0

    # --- there and back ---------------------------------------------------------------

    def dealt(self, name: str, rows: _C.Layout, own: Array) -> Array:
        """Return the caller's part of the grid's matrix, made of what parts have."""
        lines, taken = len(self.lines), len(self.taken[self.at[1]])
        shape = (lines, taken) if self.dim == 0 else (taken, lines)
        given, got = self._of_part(), self._of_grid()
        return self._moved(name, rows, own, given, got, self._sizes(), shape)

    def cut(self, name: str, rows: _C.Layout, array: Array) -> Array:
        """Return the caller's part, made of what the ranks of the grid have."""
        group, member = self.at
        lines = len(self.of_part[self.part[group, member]])
        taken = sum(map(len, self.taken))
        shape = (lines, taken) if self.dim == 0 else (taken, lines)
        given, got = self._of_grid(), self._of_part()
        return self._moved(name, rows, array, given, got, self._sizes().T, shape)

    def _of_part(self) -> list[Block]:
        """Return what others of the grid have of the caller's part."""
        part = self.part[self.at]
        at = np.arange(len(self.of_part[part]))
        return [self._block(part, to, at, taken) for to, taken in enumerate(self.taken)]

    def _of_grid(self) -> list[Block]:
        """Return what the caller's part of the grid's matrix has of each part."""
        group, member = self.at
        at = np.arange(len(self.taken[member]))
        return [
            self._block(
                part, member, np.searchsorted(self.lines, self.of_part[part]), at
            )
            for part in self.part[group]
        ]

    def _moved(
        self,
        name: str,
        rows: _C.Layout,
        array: Array,
        given: Sequence[Block],
        got: Sequence[Block],
        sizes: Array,
        shape: tuple[int, int],
    ) -> Array:
        mine = self._number(*self.at)
        run = np.empty(int(sizes[mine].sum()), array.dtype)
        start = 0
        for block in given:
            for rectangle in block.rectangles:
                piece = array[block.key(rectangle)]
                stop = start + piece.size
                run[start:stop].reshape(piece.shape)[...] = piece
                start = stop
        (come,) = exchanged(name, rows, [run], sizes, mine)
        del run
        found = np.zeros(shape, array.dtype)
        start = 0
        for block in got:
            for rectangle in block.rectangles:
                piece = found[block.key(rectangle)]
                stop = start + piece.size
                piece[...] = come[start:stop].reshape(piece.shape)
                start = stop
                if self.triangle:
                    of_rows, of_columns = rectangle
                    self._clear(piece, block.rows[of_rows], block.columns[of_columns])
        return found

    def _number(self, group: int, member: int) -> int:
        """Return the number of a rank of the grid."""
        i, j = (group, member) if self.dim == 0 else (member, group)
        wide = self.part.shape[1 - self.dim]
        return int(i * wide + j)

    def _sizes(self) -> Array:
        """Return how many elements each rank of the grid deals to each."""
        sizes = np.zeros((self.part.size, self.part.size), int)
        for (group, member), part in np.ndenumerate(self.part):
            here = self._number(group, member)
            for to in range(len(self.taken)):
                sizes[here, self._number(group, to)] = sum(
                    (rows.stop - rows.start) * (columns.stop - columns.start)
                    for rows, columns in self.rectangles[part, to]
                )
        return sizes
