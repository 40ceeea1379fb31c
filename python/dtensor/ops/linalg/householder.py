"""QR factors of a large matrix that is dealt to a grid of ranks, by reflections.

A block of columns is factored by all ranks that share it, with LAPACK; then all ranks
reflect what they have of the columns after it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import less_product, reflections

__all__ = ["Reflections"]

Array = npt.NDArray[Any]

# Parts of reflections that a rank keeps for q.
KEPT = 3


class Reflections:
    """A matrix while it becomes its factor r, above the reflections.

    Sent: each block along the columns of the grid and its reflections along the rows,
    and their products with the columns after it, which are sums of what ranks of a
    column of the grid have. Memory: one part, `KEPT` parts if q is wanted, some blocks.

    Parameters
    ----------
    deal : Deal
        Who has what; the caller is inside the mesh.
    array : array
        The caller's part of the matrix; overwritten.
    wants_q : bool
        Whether there will be a product of the reflections.
    """

    def __init__(self, deal: Deal, array: Array, wants_q: bool) -> None:
        self.deal, self.array = deal, array
        self.rows = deal.rows[deal.i]
        self.least = min(deal.like.shape)
        self.blocks = [
            (start, min(stop, self.least), owner)
            for start, stop, owner in deal.blocks
            if start < self.least
        ]
        m, n = deal.like.shape
        sizes = [(m - start) * (stop - start) for start, stop, _ in self.blocks]
        # Of a block and those after it, which are needed first.
        sums = np.cumsum(sizes[::-1])[::-1] * deal.wide
        most = KEPT * m * n if wants_q else 0
        self.known: list[tuple[Array | None, Array]] = []  # v or None, and t
        for block, some in zip(self.blocks, sums, strict=True):
            v, t = self._step(*block)
            self.known.append((v if some <= most else None, t))

    def _top(self, start: int) -> int:
        return int(np.searchsorted(self.rows, start))

    def _heights(self, start: int) -> list[int]:
        return [len(rows[rows >= start]) for rows in self.deal.rows]

    def _step(self, start: int, stop: int, owner: int) -> tuple[Array, Array]:
        """Factor a block, and reflect the columns after it."""
        deal, top, width = self.deal, self._top(start), stop - start
        first, after = np.searchsorted(deal.columns[deal.j], (start, stop))
        panel = self.array[top:, first:after]  # no columns unless the owner
        heights, widths = self._heights(start), deal.only(owner, width)
        found = deal.joined("qr", panel, heights, widths, 0)
        t, v = None, panel
        if owner == deal.j:
            ids = np.concatenate([rows[rows >= start] for rows in deal.rows])
            raw: Callable[..., Any] = np.linalg.qr
            packed, scales = raw(found[np.argsort(ids)], "raw")
            v, t = reflections(packed.T, scales)
            mine = self.rows[top:] - start
            panel[:], v = packed.T[mine], v[mine]
        t = deal.shown("qr", t, owner, (width, width))
        v = deal.joined("qr", v, heights, widths, 1)
        self._reflect(self.array[top:, after:], v, np.conj(t.T), deal, stop)
        return v, t

    def _reflect(self, some: Array, v: Array, t: Array, deal: Deal, first: int) -> None:
        """Apply reflections to the columns from one on."""
        widths = [len(columns[columns >= first]) for columns in deal.columns]
        product = deal.added("qr", np.conj(v.T) @ some, widths)
        less_product(some, v, t @ product)

    def product(self, deal: Deal) -> Array:
        """Return the caller's part of q, once: the reflections, the last one first, of
        the first columns of 1. The rows of its deal are those of the matrix."""
        columns = deal.columns[deal.j]
        q: Array = np.equal.outer(self.rows, columns).astype(self.array.dtype)
        for start, stop, owner in reversed(self.blocks):
            v, t = self.known.pop()
            if v is None:
                v = self._again(start, stop, owner)
            first = int(np.searchsorted(columns, start))  # zeros before it
            self._reflect(q[self._top(start) :, first:], v, t, deal, start)
        return q

    def _again(self, start: int, stop: int, owner: int) -> Array:
        """Return reflections that are below r."""
        deal, top = self.deal, self._top(start)
        first, after = np.searchsorted(deal.columns[deal.j], (start, stop))
        below = self.rows[top:, None] - deal.columns[deal.j][first:after]
        v = np.where(below > 0, self.array[top:, first:after], 0)
        v[below == 0] = 1
        return deal.joined(
            "qr", v, self._heights(start), deal.only(owner, stop - start), 1
        )
