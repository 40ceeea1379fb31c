"""The pivots of a large square matrix that is dealt to a grid of ranks.

The rows stay where they are: pivots go to the top of what their rank has. Where several
ranks share a block of columns, each proposes as many rows as it has columns, and the
pivots are chosen among these (tournament pivoting: Grigori, Demmel, Xiang, "CALU: a
communication optimal LU factorization algorithm", 2011).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import factor, order_of, swapped

__all__ = ["Pivots"]

Array = npt.NDArray[Any]


class Pivots:
    """A matrix whose rows become pivots, block by block.

    Sent: for each block of w columns w^2 elements to ranks of the same column of the
    grid, and as many to ranks of the same row.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    deal : Deal
        Who has what; the caller is inside the mesh.
    array : array
        The caller's part of the matrix; overwritten.

    Attributes
    ----------
    pivots : array
        The numbers of the rows, in the order in which they are pivots.
    packed : list of array
        Of each block the square in both factors; on all ranks.
    """

    def __init__(self, name: str, deal: Deal, array: Array) -> None:
        self.name, self.deal, self.array = name, deal, array
        n = sum(map(len, deal.rows))
        self.owner, self.where = np.empty(n, int), np.empty(n, int)
        for i, rows in enumerate(deal.rows):
            self.owner[rows], self.where[rows] = i, np.arange(len(rows))
        self.ids = deal.rows[deal.i].copy()  # of the caller's rows
        self.left = np.array([len(rows) for rows in deal.rows])  # not yet pivots
        self.done = 0  # of the caller's rows: the pivots
        self.pivots = np.empty(n, int)
        self.packed: list[Array] = []

    def first(self, start: int) -> int:
        """Return the place of the first of the caller's columns from one on."""
        return int(np.searchsorted(self.deal.columns[self.deal.j], start))

    def choose(
        self, start: int, stop: int, owner: int, arrays: Sequence[Array]
    ) -> tuple[Array, Array, Array | None]:
        """Choose the pivots of a block; they are on top of the rows that are left, in
        these arrays.

        Returns
        -------
        owners : array
            Which row of the grid has each of them.
        mine : array
            Which of them the caller has.
        lower : array or None
            The caller's part of the lower factor, if that is known already.
        """
        deal, width = self.deal, stop - start
        panel = None
        if owner == deal.j:
            panel = self.array[self.done :, self.first(start) : self.first(stop)]
        top, lower = self._panel(panel, width, owner)
        top = deal.shown(self.name, top, owner, (width + 1, width))
        chosen = top[0].real.astype(int)
        self.pivots[start:stop] = chosen
        self.packed.append(np.ascontiguousarray(top[1:]))
        owners = self.owner[chosen]
        mine = np.flatnonzero(owners == deal.i)
        self._to_top(chosen[mine], arrays)
        self.left -= np.bincount(owners, minlength=deal.high)
        return owners, mine, lower

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

    def _to_top(self, chosen: Array, arrays: Sequence[Array]) -> None:
        """Bring rows to the top of those that are left."""
        to, come = (self.done + x for x in swapped(self.where[chosen] - self.done))
        for rows in (*arrays, self.ids):
            rows[to] = rows[come]
        self.where[self.ids[to]] = to

    def in_order(self, rows: Array, owners: Array) -> Array:
        """Return pivots in their order, which come in that of their owners."""
        found = np.empty_like(rows)
        found[np.argsort(owners, kind="stable")] = rows
        return found

    # --- what follows from them -------------------------------------------------------

    def is_singular(self) -> bool:
        """Return whether there is no pivot for a column of the blocks until now."""
        return any(np.any(np.diagonal(block) == 0) for block in self.packed)

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
