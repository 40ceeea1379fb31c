"""LU factors of a large square matrix that is dealt to a grid of ranks.

The rows stay where they are: pivots go to the top of what their rank has. Where several
ranks share a block of columns, each proposes as many rows as it has columns, and the
pivots are chosen among these (tournament pivoting: Grigori, Demmel, Xiang, "CALU: a
communication optimal LU factorization algorithm", 2011).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import (
    divided,
    divided_upper,
    factor,
    less_product,
    order_of,
    swapped,
    unit_lower,
)

__all__ = ["LU"]

Array = npt.NDArray[Any]


class LU:
    """A matrix while it becomes its upper factor.

    Sent: for each block its part of the lower factor along the rows of the grid, and
    the rows of its pivots along the columns. Memory: one part, and some blocks.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    deal : Deal
        Who has what; the caller is inside the mesh.
    array, right : array
        The caller's part of the matrix, and of what is divided; overwritten.
    widths : list of int
        How many columns of `right` each column of the grid has.
    is_one : bool, default False
        Whether `right` is the matrix 1: a row of it has elements where the pivots until
        then were, and no others are sent.

    Attributes
    ----------
    pivots : array
        The numbers of the rows, in the order in which they are pivots.
    packed : list of array
        Of each block the square in both factors; on all ranks.
    """

    def __init__(
        self,
        name: str,
        deal: Deal,
        array: Array,
        right: Array,
        widths: list[int],
        is_one: bool = False,
    ) -> None:
        self.name, self.deal, self.array, self.right = name, deal, array, right
        self.widths, self.is_one = widths, is_one
        n = sum(map(len, deal.rows))
        self.owner, self.where = np.empty(n, int), np.empty(n, int)
        for i, rows in enumerate(deal.rows):
            self.owner[rows], self.where[rows] = i, np.arange(len(rows))
        self.ids = deal.rows[deal.i].copy()  # of the caller's rows
        self.left = np.array([len(rows) for rows in deal.rows])  # not yet pivots
        self.done = 0  # of the caller's rows: the pivots
        self.pivots = np.empty(n, int)
        self.packed: list[Array] = []
        for block in deal.blocks:
            self._step(*block)

    def _first(self, start: int) -> int:
        """Return the place of the first of the caller's columns from one on."""
        return int(np.searchsorted(self.deal.columns[self.deal.j], start))

    # --- factors ----------------------------------------------------------------------

    def _step(self, start: int, stop: int, owner: int) -> None:
        deal, width, is_owner = self.deal, stop - start, owner == self.deal.j
        first, after = self._first(start), self._first(stop)
        panel = self.array[self.done :, first:after] if is_owner else None
        top, lower = self._panel(panel, width, owner)
        top = deal.shown(self.name, top, owner, (width + 1, width))
        chosen, packed = top[0].real.astype(int), np.ascontiguousarray(top[1:])
        self.pivots[start:stop] = chosen
        self.packed.append(packed)
        owners = self.owner[chosen]
        mine = np.flatnonzero(owners == deal.i)
        self._to_top(chosen[mine], first)
        self.left -= np.bincount(owners, minlength=deal.high)
        if is_owner and lower is None:
            rows = self.array[self.done + len(mine) :, first:after]
            lower = _over_upper(rows, packed)
        if lower is None:
            lower = np.empty((len(self.ids) - self.done - len(mine), 0), top.dtype)
        lower = deal.joined(self.name, lower, self.left, deal.only(owner, width), 1)
        top = self._divided_pivots(packed, owners, mine, after, stop)
        self.done += len(mine)
        split = self.array.shape[1] - after
        less_product(self.array[self.done :, after:], lower, top[:, :split])
        less_product(self.right[self.done :], lower, top[:, split:])

    def _panel(
        self, panel: Array | None, width: int, owner: int
    ) -> tuple[Array | None, Array | None]:
        """Return, of a block that the caller has, the pivots and what they become, one
        below the other; and its part of the lower factor, if that is known already."""
        deal = self.deal
        ids = self.ids[self.done :]
        if deal.high > 1:
            piece = np.empty((min(width, len(ids)), 0), self.array.dtype)
            if panel is not None:
                best = np.arange(len(ids))
                if len(ids) > width:
                    best = order_of(factor(np.array(panel.T, order="C")))
                piece = np.column_stack([ids[best].astype(panel.dtype), panel[best]])
            heights = np.minimum(self.left, width)
            widths = deal.only(owner, width + 1)
            rows = deal.joined(self.name, piece, heights, widths, 0)
            if panel is None:
                return None, None
            ids, panel = rows[:, 0].real.astype(int), rows[:, 1:]
        if panel is None:
            return None, None
        found = np.array(panel.T, order="C")
        chosen = ids[order_of(factor(found))].astype(found.dtype)
        top = np.concatenate([chosen[None], found[:, :width].T])
        return top, found[:, width:].T if deal.high == 1 else None

    def _to_top(self, chosen: Array, first: int) -> None:
        """Bring rows to the top of those that are left, in columns from one on."""
        to, come = (self.done + x for x in swapped(self.where[chosen] - self.done))
        for rows in (self.array[:, first:], self.right, self.ids):
            rows[to] = rows[come]
        self.where[self.ids[to]] = to

    def _divided_pivots(
        self, packed: Array, owners: Array, mine: Array, after: int, stop: int
    ) -> Array:
        """Return the rows of the upper factor of a block: those of what is divided are
        beside them."""
        deal, rows = self.deal, slice(self.done, self.done + len(mine))
        filled = self._filled(stop)
        some = filled[deal.j]
        piece = np.concatenate([self.array[rows, after:], self.right[rows][:, some]], 1)
        widths = [
            len(columns) - int(np.searchsorted(columns, stop)) + len(more)
            for columns, more in zip(deal.columns, filled, strict=True)
        ]
        heights = np.bincount(owners, minlength=deal.high)
        top = self._in_order(deal.joined(self.name, piece, heights, widths, 0), owners)
        top = divided(unit_lower(packed), top)
        split = self.array.shape[1] - after
        if self.is_one:
            beside = np.zeros((len(top), self.right.shape[1]), top.dtype)
            beside[:, some] = top[:, split:]
            top = np.concatenate([top[:, :split], beside], 1)
        self.array[rows, after:] = top[mine, :split]
        self.right[rows] = top[mine, split:]
        return top

    def _filled(self, stop: int) -> list[Array]:
        """Return, for each column of the grid, in which of its columns of `right` the
        pivots until one have elements."""
        if not self.is_one:
            return list(map(np.arange, self.widths))
        ends = np.cumsum(self.widths)
        pivots = np.sort(self.pivots[:stop])
        return [
            pivots[slice(*np.searchsorted(pivots, (end - width, end)))] - (end - width)
            for width, end in zip(self.widths, ends, strict=True)
        ]

    def _in_order(self, rows: Array, owners: Array) -> Array:
        """Return pivots in their order, which come in that of their owners."""
        found = np.empty_like(rows)
        found[np.argsort(owners, kind="stable")] = rows
        return found

    # --- what follows from them -------------------------------------------------------

    def diagonal(self) -> Array:
        """Return the diagonal of the upper factor."""
        found = [np.diagonal(block) for block in self.packed]
        return np.concatenate([np.empty(0, self.array.dtype), *found])

    def is_odd(self) -> bool:
        """Return whether the pivots are an odd permutation of the rows."""
        cycles, seen, order = 0, np.zeros(len(self.pivots), bool), self.pivots.tolist()
        for k in range(len(order)):
            cycles += not seen[k]
            while not seen[k]:
                seen[k] = True
                k = order[k]
        return bool((len(order) - cycles) % 2)

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
            top = divided_upper(np.triu(self.packed[k]), self._in_order(top, owners))
            low, high = np.searchsorted(rows, (start, stop))
            found[low:high] = top[rows[low:high] - start]
            here = slice(*map(self._first, (start, stop)))  # empty unless the owner
            panel = self.array[: self.done, here]
            widths = deal.only(owner, stop - start)
            panel = deal.joined(self.name, panel, before, widths, 1)
            less_product(self.right[: self.done], panel, top)
        return found

    def solve_few(self) -> Array:
        """Return what is divided by both factors, whole: for a few columns.

        Sent: these, for each block a sum of as many rows."""
        deal, n = self.deal, len(self.pivots)
        heights = [len(rows) for rows in deal.rows]
        known = deal.joined(self.name, self.right, heights, self.widths, (0, 1))
        found = self._in_order(known, self.owner[self.pivots])
        self.done = heights[deal.i]
        for k in reversed(range(len(deal.blocks))):
            start, stop, _ = deal.blocks[k]
            mine = np.flatnonzero(self.owner[self.pivots[start:stop]] == deal.i)
            self.done -= len(mine)
            if stop < n:
                after = self._first(stop)
                some = np.zeros((stop - start, found.shape[1]), found.dtype)
                row = self.array[self.done :][: len(mine), after:]
                some[mine] = row @ found[deal.columns[deal.j][after:]]
                found[start:stop] -= deal.total(self.name, some)
            upper = np.triu(self.packed[k])
            found[start:stop] = divided_upper(upper, found[start:stop])
        return found


def _over_upper(rows: Array, packed: Array) -> Array:
    """Return rows divided by an upper triangle; where a pivot is 0, by 1."""
    upper = np.triu(packed)
    zeros = np.flatnonzero(np.diagonal(upper) == 0)
    upper[zeros, zeros] = 1
    return np.asarray(divided(upper.T, rows.T).T)
