"""The Cholesky factor of a large matrix that is dealt to a grid of ranks."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.parts import local
from dtensor.ops.linalg.deal import Deal
from dtensor.ops.linalg.panels import adjoint, divided, less_product

__all__ = ["Cholesky"]

Array = npt.NDArray[Any]

# Of columns: of each only the rows from its first diagonal element on are changed.
STRIPS = 8


class Cholesky:
    """A matrix while it becomes its lower factor.

    A block of the factor is found, and under way, before the one before it has been
    subtracted from all columns: who has the next block need not be waited for
    ("lookahead": Kurzak, Dongarra, "Implementing linear algebra routines on multi-core
    processors with pipelining and a look ahead", 2006).

    Sent: each block of the factor along the rows and the columns of the grid. Memory:
    one part, and some blocks.

    Parameters
    ----------
    deal : Deal
        Who has what; the caller is inside the mesh.
    array : array
        The caller's part of the matrix, of which the lower triangle is read;
        overwritten.

    Attributes
    ----------
    is_definite : bool
        Whether all blocks that the caller has had a factor.
    """

    def __init__(self, deal: Deal, array: Array) -> None:
        self.deal, self.array = deal, array
        self.rows, self.columns = deal.rows[deal.i], deal.columns[deal.j]
        self.is_definite = True
        here: Any = world.current()
        self.progress = here.progress
        n = deal.like.shape[1]
        following = self._factored(*deal.blocks[0])
        for (_, stop, _), after in pairwise(deal.blocks):
            left = local(following)
            below = int(np.searchsorted(self.rows, stop))
            right = deal.turned("cholesky", left, self.rows[below:], stop)
            right = adjoint(right)
            self._subtract(left, right, stop, after[1])
            following = self._factored(*after)
            self._subtract(left, right, after[1], n)

    def _factored(self, start: int, stop: int, owner: int) -> _C.DTensor:
        """Put a block of the factor in its place; return its rows after the block, on
        their way to those who need them."""
        deal, widths = self.deal, self.deal.only(owner, stop - start)
        top, below = np.searchsorted(self.rows, (start, stop))
        # No columns unless the caller is in the owner's.
        first, after = np.searchsorted(self.columns, (start, stop))
        counts = [np.searchsorted(rows, (start, stop)) for rows in deal.rows]
        heights = [int(high - low) for low, high in counts]
        own, panel = self.array[top:below, first:after], self.array[below:, first:after]
        square = deal.joined("cholesky", own, heights, widths, 0)
        if owner == deal.j:
            ids = np.concatenate(
                [rows[(start <= rows) & (rows < stop)] for rows in deal.rows]
            )
            try:
                lower = np.linalg.cholesky(square[np.argsort(ids)])
            except LinAlgError:
                self.is_definite, lower = False, np.eye(len(ids), dtype=own.dtype)
            own[:] = lower[self.rows[top:below] - start]
            panel[:] = adjoint(divided(lower, adjoint(panel)))
        heights = [
            len(rows) - int(high)
            for rows, (_, high) in zip(deal.rows, counts, strict=True)
        ]
        return deal.joining("cholesky", panel, heights, widths, 1)

    def _subtract(self, left: Array, right: Array, start: int, stop: int) -> None:
        """Subtract a product from a range of columns; the operands may have rows and
        columns before it."""
        first, after = map(int, np.searchsorted(self.columns, (start, stop)))
        skipped = len(self.rows) - len(left), len(self.columns) - right.shape[1]
        step = max(1, (len(self.columns) - first) // STRIPS)
        for low in range(first, after, step):
            high = min(low + step, after)
            top = int(np.searchsorted(self.rows, self.columns[low]))
            less_product(
                self.array[top:, low:high],
                left[top - skipped[0] :],
                right[:, low - skipped[1] : high - skipped[1]],
            )
            self.progress()
