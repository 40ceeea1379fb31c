"""LU factors of a large square matrix that is dealt to a grid of ranks."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import (
    divided,
    divided_upper,
    less_product,
    unit_lower,
)
from dtensor.ops.linalg.pivots import Pivots

__all__ = ["LU"]

Array = npt.NDArray[Any]


class LU(Pivots):
    """A matrix while it becomes its upper factor.

    Sent: for each block its part of the lower factor along the rows of the grid, and
    the rows of its pivots along the columns. Memory: one part, and some blocks.

    Parameters
    ----------
    name, deal, array
        As for pivots.
    right : array
        The caller's part of what is divided; overwritten.
    columns : Layout
        Of that matrix when its columns are cut.
    """

    def __init__(
        self, name: str, deal: Deal, array: Array, right: Array, columns: _C.Layout
    ) -> None:
        super().__init__(name, deal, array)
        self.right, self.widths = right, deal.widths(columns)
        for block in deal.blocks:
            self._step(*block)

    # --- factors ----------------------------------------------------------------------

    def _step(self, start: int, stop: int, owner: int) -> None:
        deal, width = self.deal, stop - start
        first, after = self.first(start), self.first(stop)
        owners, mine, lower = self.choose(
            start, stop, owner, (self.array[:, first:], self.right)
        )
        packed = self.packed[-1]
        if owner == deal.j and lower is None:
            rows = self.array[self.done + len(mine) :, first:after]
            lower = _over_upper(rows, packed)
        if lower is None:
            lower = np.empty((self.left[deal.i], 0), packed.dtype)
        lower = deal.joined(self.name, lower, self.left, deal.only(owner, width), 1)
        top = self._divided_pivots(packed, owners, mine, after, stop)
        self.done += len(mine)
        split = self.array.shape[1] - after
        less_product(self.array[self.done :, after:], lower, top[:, :split])
        less_product(self.right[self.done :], lower, top[:, split:])

    def _divided_pivots(
        self, packed: Array, owners: Array, mine: Array, after: int, stop: int
    ) -> Array:
        """Return the rows of the upper factor of a block: those of what is divided are
        beside them."""
        deal, rows = self.deal, slice(self.done, self.done + len(mine))
        piece = np.concatenate([self.array[rows, after:], self.right[rows]], 1)
        widths = [
            len(columns) - int(np.searchsorted(columns, stop)) + more
            for columns, more in zip(deal.columns, self.widths, strict=True)
        ]
        heights = np.bincount(owners, minlength=deal.high)
        top = self.in_order(deal.joined(self.name, piece, heights, widths, 0), owners)
        top = divided(unit_lower(packed), top)
        split = self.array.shape[1] - after
        self.array[rows, after:] = top[mine, :split]
        self.right[rows] = top[mine, split:]
        return top

    # --- solutions --------------------------------------------------------------------

    def solve(self) -> Array:
        """Return what is divided by both factors: its rows are those of the deal.

        Sent: each block of the upper factor along the rows of the grid, the result
        along the columns."""
        deal = self.deal
        rows = deal.rows[deal.i]
        found = np.empty((len(rows), self.right.shape[1]), self.right.dtype)
        before = np.array([len(each) for each in deal.rows])
        for k in reversed(range(len(deal.blocks))):
            start, stop, owner = deal.blocks[k]
            owners = self.owner[self.pivots[start:stop]]
            heights = np.bincount(owners, minlength=deal.high)
            before -= heights
            self.done = int(before[deal.i])
            piece = self.right[self.done :][: heights[deal.i]]
            top = deal.joined(self.name, piece, heights, self.widths, 0)
            top = divided_upper(np.triu(self.packed[k]), self.in_order(top, owners))
            low, high = np.searchsorted(rows, (start, stop))
            found[low:high] = top[rows[low:high] - start]
            here = slice(*map(self.first, (start, stop)))  # empty unless the owner
            panel = self.array[: self.done, here]
            widths = deal.only(owner, stop - start)
            panel = deal.joined(self.name, panel, before, widths, 1)
            less_product(self.right[: self.done], panel, top)
        return found

    def solve_few(self) -> Array:
        """Return what is divided by both factors, whole: for a few columns.

        Sent: these, for each block a sum of as many rows."""
        deal, n = self.deal, len(self.pivots)
        counts = [len(rows) for rows in deal.rows]
        known = deal.joined(self.name, self.right, counts, self.widths, (0, 1))
        found = self.in_order(known, self.owner[self.pivots])
        self.done = counts[deal.i]
        for k in reversed(range(len(deal.blocks))):
            start, stop, _ = deal.blocks[k]
            owners = self.owner[self.pivots[start:stop]]
            heights = np.bincount(owners, minlength=deal.high)
            self.done -= int(heights[deal.i])
            if stop < n:
                after = self.first(stop)
                rows = self.array[self.done :][: heights[deal.i], after:]
                some = rows @ found[deal.columns[deal.j][after:]]
                some = deal.summed(self.name, some, heights.tolist())
                found[start:stop] -= self.in_order(some, owners)
            upper = np.triu(self.packed[k])
            found[start:stop] = divided_upper(upper, found[start:stop])
        return found


def _over_upper(rows: Array, packed: Array) -> Array:
    """Return rows divided by an upper triangle; where a pivot is 0, by 1."""
    upper = np.triu(packed)
    zeros = np.flatnonzero(np.diagonal(upper) == 0)
    upper[zeros, zeros] = 1
    return np.asarray(divided(upper.T, rows.T).T)
