"""A large Hermitian matrix, reduced to a tridiagonal one by reflections on both sides.

Each rank has some rows. All know the columns of a panel with their changes: for each of
them only the product of the matrix and a vector is sent. All that is left changes after
a panel, by a product (Dongarra, Sorensen, Hammarling, "Block reduction of matrices to
condensed forms for eigenvalue computations", 1989).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.panels import less_product
from dtensor.ops.linalg.reflected import compact, reflect, reflection

__all__ = ["Dealt", "Tridiagonal"]

Array = npt.NDArray[Any]

# Columns of a panel.
WIDTH = 32
# Parts of reflections that each rank keeps for the vectors.
KEPT = 3


class Dealt:
    """In which order rows are taken: one of each rank in turn, so that all have work
    until the end.

    Attributes
    ----------
    order : array of int
        The numbers of rows, as they are taken.
    owner : list of int
        Who has them.
    mine : array of int
        When the caller's are taken; ascending.
    """

    def __init__(self, line: Line, count: int) -> None:
        edges = np.array(line.edges(count))
        starts, lengths = edges[:-1], np.diff(edges)
        owners = np.repeat(np.arange(line.count), lengths)
        self.order = np.lexsort((owners, np.arange(count) - starts[owners]))
        self.owner = owners[self.order].tolist()
        self.of = [np.flatnonzero(owners[self.order] == k) for k in range(line.count)]
        self.mine = self.of[line.number]

    def after(self, k: int) -> list[Array]:
        """Return when the rows of each rank are taken, from one time on."""
        return [each[np.searchsorted(each, k) :] for each in self.of]


class Tridiagonal:
    """A Hermitian matrix while it becomes tridiagonal.

    Collective along the line. Sent: all ranks get each row once, and one product for
    each column: together as many parts as there are other ranks; again those of the
    reflections that are not kept. Memory: one part, `KEPT` parts, some rows.

    Parameters
    ----------
    line : Line
    rows : array
        The caller's rows, an even part; overwritten.
    wants_vectors : bool

    Attributes
    ----------
    d, e : array
        The diagonal and what is beside it; the same on all ranks.
    """

    def __init__(self, line: Line, rows: Array, wants_vectors: bool) -> None:
        self.line, self.rows = line, rows
        self.n = rows.shape[1]
        self.deal = Dealt(line, self.n)
        for some in range(0, len(rows), WIDTH):
            rows[some : some + WIDTH] = rows[some : some + WIDTH, self.deal.order]
        real = np.finfo(rows.dtype).dtype
        found = np.zeros((2, self.n), real)
        self.d, self.e = found
        starts = range(0, self.n, WIDTH)
        self.panels = [(s, min(s + WIDTH, self.n)) for s in starts]
        most = KEPT * self.n**2 // line.count if wants_vectors else 0
        self.known: list[tuple[Array | None, Array]] = []
        sizes = [(t - s) * (self.n - s) for s, t in self.panels]
        sums = np.cumsum(sizes[::-1])[::-1]
        for (start, stop), some in zip(self.panels, sums, strict=True):
            v, scales = self._panel(start, stop)
            if wants_vectors:
                self.known.append((v if some <= most else None, scales))
        self.d, self.e = line.first(found.T).T
        self.e = self.e[:-1]

    def _of_mine(self, k: int) -> int:
        return int(np.searchsorted(self.deal.mine, k))

    def _joined(self, piece: Array, k: int) -> Array:
        """Return the pieces of all, in the order of rows from one on."""
        when = self.deal.after(k)
        found = self.line.gathered(piece, [len(each) for each in when])
        result = np.empty_like(found)
        result[np.concatenate(when) - k] = found
        return result

    def _panel(self, start: int, stop: int) -> tuple[Array, Array]:
        """Reduce a panel and change the rows after it; return its v and scales."""
        n, rows, width = self.n, self.rows, stop - start
        raw = self._raw(start, stop)
        # From `start` on; in each line a vector.
        v, w = (np.zeros((width, n - start), rows.dtype) for _ in range(2))
        scales = np.zeros(width, rows.dtype)
        for k in range(start, stop):
            s = k - start
            column = np.conj(raw[s, s:])
            column -= np.conj(w[:s, s]) @ v[:s, s:]
            column -= np.conj(v[:s, s]) @ w[:s, s:]
            self.d[k] = column[0].real
            if k + 1 == n:
                break
            rest = column[1:]
            norm = float(np.linalg.norm(rest[1:]))
            self.e[k], scale, scales[s] = reflection(rest[0], norm)
            v[s, s + 1] = 1
            np.multiply(rest[1:], scale, out=v[s, s + 2 :])
            if scales[s] == 0:
                v[s, s + 2 :] = 0
            one = v[s, s + 1 :]
            mine = rows[self._of_mine(k + 1) :, k + 1 :] @ one
            product = self._joined(mine, k + 1)
            product -= (np.conj(w[:s, s + 1 :]) @ one) @ v[:s, s + 1 :]
            product -= (np.conj(v[:s, s + 1 :]) @ one) @ w[:s, s + 1 :]
            t = scales[s]
            half = abs(t) ** 2 / 2 * np.vdot(one, product).real
            w[s, s + 1 :] = t * product - half * one
        self._change(start, stop, v, w)
        return v, scales

    def _raw(self, start: int, stop: int) -> Array:
        """Return rows of the matrix, from the first of these columns on."""
        low, high = self._of_mine(start), self._of_mine(stop)
        when = [each[each < stop] for each in self.deal.after(start)]
        found = self.line.gathered(
            self.rows[low:high, start:], [len(each) for each in when]
        )
        return np.asarray(found[np.argsort(np.concatenate(when))])

    def _change(self, start: int, stop: int, v: Array, w: Array) -> None:
        """Change the rows after a panel, and put its v in place of its rows."""
        low, high = self._of_mine(start), self._of_mine(stop)
        mine, width = self.deal.mine, stop - start
        self.rows[low:high, start:] = v[mine[low:high] - start]
        here = mine[high:] - start
        left = np.concatenate([v[:, here], w[:, here]]).T
        right = np.conj(np.concatenate([w[:, width:], v[:, width:]]))
        less_product(self.rows[high:, stop:], left, right)

    def product(self, vectors: Array) -> Array:
        """Return the product of the reflections and vectors, once.

        Parameters
        ----------
        vectors : array
            A vector in each line; overwritten.
        """
        for start, stop in reversed(self.panels):
            v, scales = self.known.pop()
            if v is None:
                v = self._raw(start, stop)
            reflect(vectors[:, start:], v, compact(v, scales))
        for some in range(0, len(vectors), WIDTH):
            block = vectors[some : some + WIDTH]
            block[:, self.deal.order] = block.copy()
        return vectors
