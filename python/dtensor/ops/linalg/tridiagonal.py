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
from dtensor.ops.linalg.reflected import Dealt, compact, reflect, reflection

__all__ = ["KEPT", "WIDTH", "Tridiagonal"]

Array = npt.NDArray[Any]

# Columns of a panel.
WIDTH = 24
# Parts of reflections that each rank keeps for the vectors.
KEPT = 4


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
            block = rows[some : some + WIDTH]
            block[:] = block[:, self.deal.order]
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
            if scale:
                np.multiply(rest[1:], scale, out=v[s, s + 2 :])
            one = v[s, s + 1 :]
            mine = rows[self.deal.first(k + 1) :, k + 1 :] @ one
            product = self.deal.joined(self.line, mine, k + 1, n)
            adjoint = np.conj(one)
            product -= np.conj(w[:s, s + 1 :] @ adjoint) @ v[:s, s + 1 :]
            product -= np.conj(v[:s, s + 1 :] @ adjoint) @ w[:s, s + 1 :]
            t = scales[s]
            half = abs(t) ** 2 / 2 * np.vdot(one, product).real
            w[s, s + 1 :] = t * product - half * one
        self._change(start, stop, v, w)
        return v, scales

    def _raw(self, start: int, stop: int) -> Array:
        """Return rows of the matrix, from the first of these columns on."""
        low, high = self.deal.first(start), self.deal.first(stop)
        return self.deal.joined(self.line, self.rows[low:high, start:], start, stop)

    def _change(self, start: int, stop: int, v: Array, w: Array) -> None:
        """Change the rows after a panel, and put its v in place of its rows."""
        low, high = self.deal.first(start), self.deal.first(stop)
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
        return self.deal.back(vectors)
