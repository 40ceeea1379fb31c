"""The inverse of a large square matrix that is dealt to a grid of ranks.

Gauss and Jordan's method in place, block by block: the rows of a block's pivots are
divided by its square, and subtracted from all others as often as these have elements of
the block. The pivots are those of LU factors.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.parts import make, parts_of
from dtensor.ops._make.routes import exchanged
from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import (
    divided,
    divided_upper,
    less_product,
    unit_lower,
)
from dtensor.ops.linalg.pivots import Pivots

__all__ = ["Inverse"]

Array = npt.NDArray[Any]


class Inverse(Pivots):
    """A matrix while it becomes its inverse, whose rows and columns are permuted.

    It ends at a block without pivots. Sent: each block of columns along the rows of the
    grid, and the rows of its pivots along the columns. Memory: one part, some blocks.
    """

    def __init__(self, name: str, deal: Deal, array: Array) -> None:
        super().__init__(name, deal, array)
        for block in deal.blocks:
            owners, mine, _ = self.choose(*block, (self.array,))
            if self.is_singular():
                break
            self._step(*block, owners, mine)

    def _step(
        self, start: int, stop: int, owner: int, owners: Array, mine: Array
    ) -> None:
        deal, name = self.deal, self.name
        rows = slice(self.done, self.done + len(mine))
        here = slice(self.first(start), self.first(stop))  # empty unless the owner
        column = self.array[:, here].copy()
        column[rows] = 0
        self.array[:, here] = 0
        if owner == deal.j:
            self.array[rows, here][np.arange(len(mine)), mine] = 1
        heights = [len(each) for each in deal.rows]
        column = deal.joined(name, column, heights, deal.only(owner, stop - start), 1)
        heights = np.bincount(owners, minlength=deal.high).tolist()
        widths = [len(each) for each in deal.columns]
        top = deal.joined(name, self.array[rows], heights, widths, 0)
        packed = self.packed[-1]
        top = divided(unit_lower(packed), self.in_order(top, owners))
        top = divided_upper(np.triu(packed), top)
        less_product(self.array, column, top)
        self.array[rows] = top[mine]
        self.done += len(mine)

    def cut(self, to: _C.Layout) -> _C.DTensor:
        """Return the inverse, its columns cut.

        Its row k has the elements of the k-th pivot, its column `pivots[k]` those of
        the block's column k. Sent: one part."""
        deal, n = self.deal, len(self.pivots)
        spans = parts_of(to, 1) or ()
        stops = np.cumsum([count for _, count in spans])
        part = np.searchsorted(stops, self.pivots, "right")
        which = [
            [np.flatnonzero(part[columns] == p) for p in deal.part.ravel()]
            for columns in deal.columns
        ]
        counts = np.array([[len(some) for some in of_rank] for of_rank in which])
        heights = np.array([len(rows) for rows in deal.rows])
        sizes = (heights[:, None, None] * counts).reshape(deal.part.size, -1)
        array = self.array[self.where[deal.rows[deal.i]]]
        run = np.concatenate([array[:, some].ravel() for some in which[deal.j]])
        del array
        mine = deal.i * deal.wide + deal.j
        (come,) = exchanged(self.name, deal.of_ranks(), [run], sizes, mine)
        del run
        start, count = spans[deal.part[deal.i, deal.j]]
        found = np.empty((n, count), to.dtype)
        row_of = np.empty(n, int)
        row_of[self.pivots] = np.arange(n)
        ends = np.cumsum(sizes[:, mine])
        for k, (i, j) in enumerate(np.ndindex(*deal.part.shape)):
            rows = row_of[deal.rows[i]]
            columns = self.pivots[deal.columns[j][which[j][mine]]] - start
            some = come[ends[k] - sizes[k, mine] : ends[k]]
            found[np.ix_(rows, columns)] = some.reshape(len(rows), len(columns))
        return make(found, to)
