"""A large matrix, reduced to an upper bidiagonal one by reflections on both sides.

Each rank has some rows. Vectors as long as these are in parts, those along columns are
known to all, as are the rows of a panel. So there is one sum for each column: of its
products with all others and with the panel's vectors, of which follow those with the
reflection. All that is left changes after a panel, by a product (see `tridiagonal`).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.panels import less_product
from dtensor.ops.linalg.reflected import Dealt, compact, reflect, reflection
from dtensor.ops.linalg.tridiagonal import KEPT, WIDTH

__all__ = ["Bidiagonal"]

Array = npt.NDArray[Any]


class Bidiagonal:
    """A matrix while it becomes bidiagonal.

    Collective along the line. Sent: all ranks get each row once, and the sum for each
    column: together one and a half parts for each other rank. For vectors on the left
    half a part more, for those on the right what is not kept of the reflections.
    Memory: one part, `KEPT` parts, some rows.

    Parameters
    ----------
    line : Line
    rows : array
        The caller's rows, an even part of a matrix that is not wide; overwritten.
    count : int
        How many rows the matrix has.
    wants_vectors : bool

    Attributes
    ----------
    d, e : array
        The diagonal and what is above it; the same on all ranks.
    """

    def __init__(
        self, line: Line, rows: Array, count: int, wants_vectors: bool
    ) -> None:
        self.line, self.rows, self.deal = line, rows, Dealt(line, count)
        self.m, self.n = count, rows.shape[1]
        found = np.zeros((2, self.n), np.finfo(rows.dtype).dtype)
        self.d, self.e = found
        starts = range(0, self.n, WIDTH)
        self.panels = [(s, min(s + WIDTH, self.n)) for s in starts]
        self.left: list[Array] = []  # scales
        self.right: list[tuple[Array | None, Array]] = []
        most = KEPT * self.m * self.n // line.count if wants_vectors else 0
        sizes = [(t - s) * (self.n - s) for s, t in self.panels]
        sums = np.cumsum(sizes[::-1])[::-1]
        for (start, stop), some in zip(self.panels, sums, strict=True):
            u, left, right = self._panel(start, stop)
            if wants_vectors:
                self.left.append(left)
                self.right.append((u if some <= most else None, right))
        self.d, self.e = line.first(found.T).T
        self.e = self.e[:-1]

    def _panel(self, start: int, stop: int) -> tuple[Array, Array, Array]:
        """Reduce a panel and change the rows after it; return its reflections on the
        right and the scales of both sides."""
        n, low, width = self.n, self.deal.first(start), stop - start
        rows, mine = self.rows[low:, start:], self.deal.mine[low:]
        raw = self._raw(start, stop)
        # Parts of vectors are in columns, from row `low` on; others are in lines.
        v, x = (np.zeros((len(rows), width), rows.dtype, "F") for _ in range(2))
        u, y = (np.zeros((width, n - start), rows.dtype) for _ in range(2))
        left, right = np.zeros((2, width), rows.dtype)
        for s in range(width):
            first = int(np.searchsorted(mine, start + s))
            column = rows[first:, s] - v[first:, :s] @ np.conj(y[:s, s])
            column -= x[first:, :s] @ np.conj(u[:s, s])
            has_it = first < len(mine) and mine[first] == start + s
            inner, norm, of_v, of_x, value = self._summed(
                column, rows[first:, s + 1 :], v[first:, :s], x[first:, :s], has_it
            )
            self.d[start + s], scale, left[s] = reflection(value[0], norm)
            one = np.multiply(column, scale)
            if has_it:
                one[0] = 1
            v[first:, s] = one
            # What the sums would be with the reflection's vector.
            own = np.conj(raw[s, s + 1 :]), np.conj(value[1]), np.conj(value[2])
            if scale:
                beta = self.d[start + s]
                sums = [
                    scale * (a - beta * b)
                    for a, b in zip((inner, of_v, of_x), own, strict=True)
                ]
            else:
                sums = list(own)
            sums[0] -= sums[1] @ y[:s, s + 1 :]
            sums[0] -= sums[2] @ u[:s, s + 1 :]
            np.multiply(sums[0], left[s], out=y[s, s + 1 :])
            if start + s + 1 == n:
                break
            row = np.conj(raw[s, s + 1 :]) - y[s, s + 1 :]
            row -= np.conj(value[1]) @ y[:s, s + 1 :]
            row -= np.conj(value[2]) @ u[:s, s + 1 :]
            norm = float(np.linalg.norm(row[1:]))
            self.e[start + s], scale, right[s] = reflection(row[0], norm)
            u[s, s + 1] = 1
            if scale:
                np.multiply(row[1:], scale, out=u[s, s + 2 :])
            after = int(np.searchsorted(mine, start + s + 1))
            one = u[s, s + 1 :]
            product = rows[after:, s + 1 :] @ one
            adjoint = np.conj(one)
            product -= v[after:, : s + 1] @ np.conj(y[: s + 1, s + 1 :] @ adjoint)
            product -= x[after:, :s] @ np.conj(u[:s, s + 1 :] @ adjoint)
            np.multiply(product, right[s], out=x[after:, s])
        self._change(rows, mine - start, (v, x), (u, y))
        return u, left, right

    def _summed(
        self, column: Array, rows: Array, v: Array, x: Array, has_it: bool
    ) -> tuple[Array, float, Array, Array, tuple[Any, Array, Array]]:
        """Return the products of all with a column, the norm of what is below its first
        element, its products with the panel's vectors; and that element, with the first
        ones of these vectors."""
        below = column[1:] if has_it else column
        count, s = rows.shape[1], v.shape[1]
        own = np.zeros(count + 4 * s + 2, column.dtype)
        adjoint = np.conj(column)
        np.conj(adjoint @ rows, out=own[:count])
        np.conj(adjoint @ v, out=own[count : count + s])
        np.conj(adjoint @ x, out=own[count + s : count + 2 * s])
        own[-1] = np.vdot(below, below).real
        if has_it:
            own[-2] = column[0]
            own[count + 2 * s : count + 3 * s] = v[0]
            own[count + 3 * s : -2] = x[0]
        found = self.line.total(own)
        of_v, of_x, first_v, first_x = np.split(found[count:-2], 4)
        norm = float(found[-1].real) ** 0.5
        return found[:count], norm, of_v, of_x, (found[-2], first_v, first_x)

    def _raw(self, start: int, stop: int) -> Array:
        """Return rows of the matrix, from the first of these columns on."""
        low, high = self.deal.first(start), self.deal.first(stop)
        return self.deal.joined(self.line, self.rows[low:high, start:], start, stop)

    def _change(self, rows: Array, mine: Array, parts: Any, lines: Any) -> None:
        """Change the rows after a panel; put its vectors in place of columns and
        rows."""
        (v, x), (u, y) = parts, lines
        width = len(u)
        high = int(np.searchsorted(mine, width))
        below = np.concatenate([v[high:], x[high:]], axis=1)
        right = np.conj(np.concatenate([y[:, width:], u[:, width:]]))
        less_product(rows[high:, width:], below, right)
        rows[:, :width] = v
        for row, s in zip(rows[:high], mine[:high], strict=True):
            row[s + 1 :] = u[s, s + 1 :]

    def product_right(self, vectors: Array) -> Array:
        """Return the product of the reflections on the right and vectors, one in each
        line, once; they are overwritten."""
        for start, stop in reversed(self.panels):
            u, scales = self.right.pop()
            if u is None:
                u = np.triu(self._raw(start, stop), 1)
            reflect(vectors[:, start:], u, compact(u, scales))
        return vectors

    def product_left(self, vectors: Array) -> Array:
        """Return the product of the reflections on the left and vectors, likewise."""
        for start, stop in reversed(self.panels):
            piece = self.rows[self.deal.first(start) :, start:stop]
            v = np.tril(self.deal.joined(self.line, piece, start, self.m)).T
            reflect(vectors[:, start:], v, compact(v, self.left.pop()))
        return self.deal.back(vectors)
