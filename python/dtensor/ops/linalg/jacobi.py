"""Eigenvalues and singular values of large matrices in parts, by Jacobi's method.

Pairs of blocks of columns are turned until they do not depend on each other: the two
blocks that a rank has, then those that neighbours bring together. Blocks that have met
change places, so all have met after a sweep of as many steps as there are blocks (odd
and even steps as in Brent, Luk, "The solution of singular-value and symmetric
eigenvalue problems on multiprocessor arrays", 1985; blocks as in Becka, Oksa,
Vajtersic, "Dynamic ordering for a parallel block-Jacobi SVD algorithm", 2002).
"""

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.linalg import LinAlgError

from dtensor import _C
from dtensor.ops._make.parts import local, make, move, positions

__all__ = ["Turns"]

Array = npt.NDArray[Any]

# Sweeps: far more than are ever needed.
MOST_SWEEPS = 40
# In units of rounding: what is left is small, and what does not get smaller any more.
SMALL, STUCK = 8, 10_000


class Turns:
    """A matrix whose columns are turned until they are eigenvectors, times eigenvalues,
    or orthogonal; and the turns, multiplied.

    Sent: in each step a block to a neighbour, and as many turns as a part has elements
    to all; 2 steps for each rank in a sweep, and about 7 sweeps. Memory: two parts,
    another one for products, one of turns, and what LAPACK needs for a pair.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
        A matrix whose columns are cut, evenly; the caller is inside the mesh. It has at
        least as many rows as columns, and no element is much larger than 1. It may be
        overwritten.
    is_hermitian : bool
        Whether the rows are turned, too: then the columns end as those of a diagonal
        matrix.
    wants_turns : bool
        Whether these are needed.

    Attributes
    ----------
    array : array
        The caller's columns.
    turns : array or None
        The caller's rows of the product of all turns.
    """

    def __init__(
        self, name: str, x: _C.DTensor, is_hermitian: bool, wants_turns: bool
    ) -> None:
        self.name, self.is_hermitian = name, is_hermitian
        self.mesh, self.dtype = x.device_mesh, x.dtype
        self.rows, n = x.shape
        self.cutting = x.layout.cut_by(1)
        self.count = math.prod(self.mesh.shape[m] for m in self.cutting)
        blocks = 2 * self.count
        self.sizes = [n * (k + 1) // blocks - n * k // blocks for k in range(blocks)]
        self.labels = list(range(blocks))  # of the blocks, from left to right
        self.odd = 0
        along = _C.Layout(self.mesh, self._cut(0), (self.count,), np.int64)
        self.number = int(positions(along, 0)[0])
        self.array = local(move(name, x, self._columns()))
        self.turns: Array | None = None
        if wants_turns:
            rows = positions(self.square(), 0)
            self.turns = np.equal.outer(rows, np.arange(n)).astype(self.dtype)

    # --- who has what -----------------------------------------------------------------

    def _cut(self, dim: int) -> list[_C.Placement]:
        cutting, ndim = self.cutting, self.mesh.ndim
        return [_C.Shard(dim) if m in cutting else _C.Replicate() for m in range(ndim)]

    def square(self) -> _C.Layout:
        """Return the layout of the turns."""
        n = sum(self.sizes)
        return _C.Layout(self.mesh, self._cut(0), (n, n), self.dtype)

    def edges(self) -> list[int]:
        """Return where blocks begin, and where the last one ends."""
        return [0, *accumulate(self.sizes[label] for label in self.labels)]

    def _slots(self) -> list[int]:
        """Return which block is the first one of each rank, and how many there are: in
        odd steps the first rank has three and the last one has one."""
        return [0, *(2 * k + self.odd for k in range(1, self.count)), 2 * self.count]

    def _columns(self) -> _C.Layout:
        edges = self.edges()
        cuts = {1: tuple(edges[slot] for slot in self._slots())}
        shape = self.rows, edges[-1]
        return _C.Layout(self.mesh, self._cut(1), shape, self.dtype, cuts=cuts)

    def first(self) -> int:
        """Return which column is the caller's first."""
        return self.edges()[self._slots()[self.number]]

    def columns(self) -> _C.DTensor:
        """Return the columns as a DTensor."""
        return make(self.array, self._columns())

    def _pairs(self) -> list[int]:
        """Return the first block of the pair of each rank; the last may have none."""
        return list(range(self.odd, 2 * self.count - 1, 2))

    # --- sweeps -----------------------------------------------------------------------

    def run(self) -> bool:
        """Turn until nothing changes; return whether that came to be."""
        size = self._sum(float(np.linalg.norm(self.array)) ** 2) ** 0.5
        if not np.isfinite(size):
            return False
        unit = size * float(np.finfo(self.dtype).eps)
        least, before = unit / len(self.sizes), np.inf
        for _ in range(MOST_SWEEPS):
            squares = 0.0
            for step in range(len(self.sizes)):
                self._bring(step % 2)
                squares += self._step(least)
            self._bring(0)
            left = squares**0.5
            if not np.isfinite(left):
                return False
            if left <= SMALL * unit:
                return True
            if before <= STUCK * unit and left > before / 4:
                return True
            before = left
        return False

    def _sum(self, value: float) -> float:
        placements = [
            _C.Partial() if m in self.cutting else _C.Replicate()
            for m in range(self.mesh.ndim)
        ]
        here = _C.Layout(self.mesh, placements, (), np.float64)
        total = move(self.name, make(np.array(value), here), here.with_placements(None))
        return float(local(total))

    def _bring(self, odd: int) -> None:
        """Give blocks to neighbours, so that those of the next pairs are together."""
        here = self._columns()
        self.odd = odd
        moved = move(self.name, make(self.array, here), self._columns())
        self.array = local(moved)

    def _step(self, least: float) -> float:
        """Turn the pairs; return the square of how far they were from being done."""
        edges, pairs = self.edges(), self._pairs()
        ranges = [(edges[k], edges[k + 2]) for k in pairs]
        lengths = [(stop - start) ** 2 + 1 for start, stop in ranges]
        lengths += [1] * (self.count - len(pairs))
        given = np.zeros(lengths[self.number], self.dtype)
        if self.number < len(pairs):
            k, (start, stop) = pairs[self.number], ranges[self.number]
            mine = self.array[:, start - self.first() : stop - self.first()]
            block = mine[start:stop] if self.is_hermitian else mine
            given[-1], turn = self._turn(block, k, least)
            given[:-1] = turn.ravel()
            mine[:] = self._turned(mine, given, k)
        squares = 0.0
        shown = self._shown(given, lengths)
        for k, (start, stop), given in zip(pairs, ranges, shown, strict=False):
            squares += float(given[-1].real) ** 2
            if self.is_hermitian:
                rows = self.array[start:stop].T
                rows[:] = self._turned(rows, np.conj(given), k)
            if self.turns is not None:
                some = self.turns[:, start:stop]
                some[:] = self._turned(some, given, k)
        for k in pairs:
            self.labels[k : k + 2] = self.labels[k + 1], self.labels[k]
        return squares

    def _shown(self, given: Array, lengths: Sequence[int]) -> list[Array]:
        """Return what each rank gives."""
        cuts = (0, *accumulate(lengths))
        placements = self._cut(0)
        here = _C.Layout(self.mesh, placements, (cuts[-1],), self.dtype, cuts={0: cuts})
        shown = local(move(self.name, make(given, here), here.whole(0)))
        return [shown[start:stop] for start, stop in pairwise(cuts)]

    def _turn(self, block: Array, k: int, least: float) -> tuple[float, Array]:
        """Return how far a pair is from being done, 0 if that is little, and the turn
        that does it. Of the block with the lower number the values come first."""
        left = self.sizes[self.labels[k]]
        columns = np.arange(block.shape[1])
        swapped = np.concatenate([columns[left:], columns[:left]])
        is_low = self.labels[k] < self.labels[k + 1]
        try:
            if self.is_hermitian:
                block = (block + np.conj(block.T)) / 2
                far = _beside_diagonal(block)
                turn = np.linalg.eigh(block)[1] if far > least else block
            else:
                order = columns if is_low else swapped
                r = _triangle_of(block, order)
                far = _beside_diagonal(r)
                turn = r
                if far > least:
                    turn = np.empty_like(r)
                    turn[order] = np.conj(np.linalg.svd(r)[2].T)
        except LinAlgError:
            return np.nan, block[: len(columns)]
        if far <= least:
            return 0.0, turn
        # LAPACK's vectors, made orthogonal to rounding: these errors add up.
        turn -= turn @ ((np.conj(turn.T) @ turn - np.eye(len(turn))) / 2)
        return far, turn[:, swapped] if is_low else turn

    def _turned(self, columns: Array, given: Array, k: int) -> Array:
        """Return the columns of a pair after its turn; they have changed places."""
        if given[-1] == 0:
            left = self.sizes[self.labels[k]]
            return np.concatenate([columns[:, left:], columns[:, :left]], 1)
        return np.asarray(columns @ given[:-1].reshape(columns.shape[1], -1))


def _triangle_of(block: Array, order: Array) -> Array:
    """Return the factor r of columns in an order, some rows at a time."""
    step = max(1, len(order))
    r = np.empty((0, len(order)), block.dtype)
    for start in range(0, len(block), step):
        rows = block[start : start + step, order]
        r = np.asarray(np.linalg.qr(np.concatenate([r, rows]), "r"))
    return r


def _beside_diagonal(block: Array) -> float:
    """Return the size of what is not on the diagonal."""
    return float(np.linalg.norm(block - np.diag(np.diagonal(block))))
