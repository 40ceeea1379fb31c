"""Values and vectors of a tridiagonal or bidiagonal matrix, by all ranks, in parts.

It is divided where the rows of vectors are cut. Each rank solves its own block. Then
blocks become larger ones (`merge`, `merge_bidiagonal`), of whose vectors each rank has
its own rows: only values and the first and last rows of vectors are sent.
"""

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.merge import Merge

__all__ = ["Problem", "spectrum"]

Array = npt.NDArray[Any]

# Blocks up to this side are solved by LAPACK.
SIDE = 48


class Problem(Protocol):
    """A matrix that is divided, as in `merge.Symmetric`."""

    sides: int  # kinds of vectors; those of the first couple blocks
    d: Array
    dtype: np.dtype[Any]

    def leaf(self, start: int, stop: int) -> tuple[Array, list[Array]]: ...

    def merge(
        self, middle: int, stop: int, values: Array, last: Array, first: Array
    ) -> Merge: ...


def solved(
    problem: Problem, start: int, stop: int, is_whole: bool
) -> tuple[Array, list[Array]]:
    """Return the values of a block, and its vectors of each kind, one in each line; or
    of those of the first kind the first and the last element alone."""
    n = stop - start
    if n <= SIDE:
        values, vectors = problem.leaf(start, stop)
        return values, vectors if is_whole else [vectors[0][:, [0, -1]]]
    middle = start + n // 2
    first, left = solved(problem, start, middle, is_whole)
    second, right = solved(problem, middle, stop, is_whole)
    both = np.concatenate([first, second])
    if not np.all(np.isfinite(both)):
        shape = n, n if is_whole else 2
        sides = problem.sides if is_whole else 1
        return np.full(n, np.nan), [np.zeros(shape, problem.dtype)] * sides
    merge = problem.merge(middle, stop, both, left[0][:, -1], right[0][:, 0])
    values = merge.finish(*merge.roots(0, merge.count))
    rows = slice(0, n // 2), slice(n // 2, n)
    if not is_whole:
        ends = np.zeros((n, 2), problem.dtype)
        ends[rows[0], 0], ends[rows[1], 1] = left[0][:, 0], right[0][:, 1]
        return values, [merge.rows(ends, 0, 0, n)]
    found: list[Array] = []
    for side, blocks in enumerate(zip(left, right, strict=True)):
        whole = np.empty((n, n), problem.dtype)
        for some, block in zip(rows, blocks, strict=True):
            whole[:, some] = merge.rows(block, some.start, 0, n, side)
        found.append(whole)
    return values, found


class _Tree:
    """What is known of blocks while they are merged: on all ranks the values and the
    first and last rows of vectors, on each its own rows of the vectors."""

    def __init__(self, line: Line, problem: Problem, wants_vectors: bool) -> None:
        self.line, self.problem = line, problem
        n = len(problem.d)
        self.edges = line.edges(n)
        self.lengths = [stop - start for start, stop in pairwise(self.edges)]
        self.start, self.stop = self.edges[line.number : line.number + 2]
        inner = sorted({*self.edges} - {0, n})
        self.nodes = list(pairwise([0, *inner, n]))
        self.vectors = [np.empty((n, 0), problem.dtype)] * problem.sides
        values, ends = np.empty(0), np.empty((0, 2))
        if self.start < self.stop:
            values, found = solved(problem, self.start, self.stop, wants_vectors)
            ends = found[0][:, [0, -1]]
            if wants_vectors:
                self.vectors = found
        self._share(values, ends)

    def _share(self, values: Array, ends: Array) -> None:
        """Tell all the caller's values, and the ends of their vectors."""
        known = self.line.gathered(np.column_stack([values, ends]), self.lengths)
        self.values, self.ends = known[:, 0], known[:, 1:]

    def step(self) -> None:
        """Merge pairs of neighbours."""
        pairs = [self.nodes[k : k + 2] for k in range(0, len(self.nodes), 2)]
        self.nodes = [(pair[0][0], pair[-1][1]) for pair in pairs]
        here = slice(self.start, self.stop)
        values, ends = self.values[here], self.ends[here]
        for pair in pairs:
            (start, middle), stop = pair[0], pair[-1][1]
            if len(pair) == 2 and start <= self.start < self.stop <= stop:
                values, ends = self._merged(start, middle, stop)
                break
        else:
            self.line.gathered(np.zeros((self.stop - self.start, 2)), self.lengths)
        self._share(values, ends)

    def _merged(self, start: int, middle: int, stop: int) -> tuple[Array, Array]:
        """Merge the caller's block with its neighbour; return its values and ends."""
        n, half = stop - start, middle - start
        values, ends = self.values[start:stop], self.ends[start:stop].copy()
        merge = self.problem.merge(middle, stop, values, ends[:half, 1], ends[half:, 0])
        values = merge.finish(*self._roots(merge, start, stop))
        ends[:half, 1] = ends[half:, 0] = 0
        first, last = self.start - start, self.stop - start
        ends = merge.rows(ends, 0, first, last)
        at = 0 if self.start < middle else half
        for side, lines in enumerate(self.vectors):
            if lines.shape[1]:
                self.vectors[side] = merge.rows(lines, at, 0, n, side)
        return values[first:last], ends

    def _roots(self, merge: Merge, start: int, stop: int) -> tuple[Array, Array]:
        """Return all values of a merge; each rank finds some."""
        ranges = {
            a: [(k - start) * merge.count // (stop - start) for k in (a, b)]
            for a, b in pairwise(self.edges)
            if start <= a < b <= stop
        }
        low, high = ranges[self.start]
        found = np.zeros((self.stop - self.start, 2))
        found[: high - low] = np.column_stack(merge.roots(low, high))
        known = self.line.gathered(found, self.lengths)
        roots = np.concatenate([known[a : a + t - s] for a, (s, t) in ranges.items()])
        return roots[:, 0].astype(np.int64), roots[:, 1]


def spectrum(
    line: Line, problem: Problem, wants_vectors: bool
) -> tuple[Array, list[Array]]:
    """Return the values of a matrix, ascending, and the caller's rows of its vectors of
    each kind, one vector in each line; values that are not finite if there are none.

    Collective along the line. Sent: a few numbers for each value and level. Memory: two
    and a half parts of the vectors, and one for another kind.

    Parameters
    ----------
    line : Line
    problem : Problem
        The same on all ranks.
    wants_vectors : bool
    """
    tree = _Tree(line, problem, wants_vectors)
    while len(tree.nodes) > 1 and np.all(np.isfinite(tree.values)):
        tree.step()
    return line.first(tree.values), tree.vectors
