"""Two solved blocks of an upper bidiagonal matrix, which become one.

A block that another one follows has no last row: a row of zeros is in its place, and
one value is 0, with the last unit vector on the left. By that row blocks are coupled
(Gu, Eisenstat, "A divide-and-conquer algorithm for the bidiagonal SVD", 1995).
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.merge import LEAST, NOTHING, Merge, kept
from dtensor.ops.linalg.secular import Poles

__all__ = ["Bidiagonal"]

Array = npt.NDArray[Any]


class _Row(Merge):
    """Of blocks on the diagonal, below a row that couples them."""

    def __init__(
        self, d: Array, z: Array, half: int, is_open: bool, largest: float, eps: float
    ) -> None:
        n = len(d)
        self.is_open = is_open
        end = n - is_open  # the last value of an open block stays 0
        others = np.delete(np.arange(end), half - 1)
        others = others[np.argsort(d[others], kind="stable")]
        self.order = np.array([half - 1, *others, *range(end, n)])
        d, z = d[self.order], z[self.order]
        empty, size = [], float(z[0])
        if is_open and z[-1] != 0:
            size = math.hypot(z[0], z[-1])
            empty = [(0, n - 1, float(z[0]) / size, float(z[-1]) / size)]
        tolerance = max(NOTHING * eps * max(largest, float(np.max(d))), LEAST)
        z[0] = size if abs(size) > tolerance else tolerance
        d[0] = 0
        keep, drop, turns, d, z = kept(d[:end], z[:end], 1, tolerance, 1)
        self.turns = [empty + turns, turns]
        self.keep = np.array(keep, int)
        self.drop = np.array([*drop, *range(end, n)], int)
        self.dropped = np.append(d[drop], [0.0] * is_open)
        d = d[self.keep]
        d[1:2] = np.maximum(d[1:2], tolerance / 2)
        self.z = z[self.keep]
        self.poles, self.size = Poles(d, True), self.z**2

    def finish(self, nearest: Array, far: Array) -> Array:
        values = super().finish(nearest, far)
        return np.asarray(np.where(values <= 2 * LEAST, 0, values))

    def coefficients(self, some: Array, side: int) -> Array:
        found = super().coefficients(some, side)
        if side:
            found *= self.poles.d
            found[:, 0] = -1
        return found


class Bidiagonal:
    """An upper bidiagonal matrix that is divided. Its vectors are those on the right,
    then those on the left.

    Parameters
    ----------
    d, e : array
        The diagonal and what is above it; real.
    dtype : dtype
        Of vectors.
    """

    sides = 2

    def __init__(self, d: Array, e: Array, dtype: Any) -> None:
        self.d, self.e = d.astype(np.float64), e.astype(np.float64)
        self.dtype = np.dtype(dtype)

    def leaf(self, start: int, stop: int) -> tuple[Array, list[Array]]:
        """Return the values and the vectors of a block, one in each line."""
        n, is_open = stop - start, stop < len(self.d)
        full = np.diag(self.d[start:stop]) + np.diag(self.e[start : stop - 1], 1)
        left, values = np.eye(n), np.zeros(n)
        end = n - is_open
        try:
            u, s, vt = np.linalg.svd(full[:end])
        except np.linalg.LinAlgError:
            u, s, vt = left[:end, :end], np.full(end, np.nan), full
        values[:end], left[:end, :end] = s[::-1], u.T[::-1]
        right = vt.copy()
        right[:end] = vt[:end][::-1]
        return values, [each.astype(self.dtype, order="C") for each in (right, left)]

    def merge(
        self, middle: int, stop: int, values: Array, last: Array, first: Array
    ) -> Merge:
        """Return two blocks, which become one.

        Parameters
        ----------
        middle, stop : int
            Where the second one begins and ends.
        values : array
            Of both.
        last, first : array
            The last row of the vectors on the right of the first one, the first of the
            second's.
        """
        alpha, beta = float(self.d[middle - 1]), float(self.e[middle - 1])
        z = np.concatenate([alpha * last, beta * first]).astype(np.float64)
        return _Row(
            values,
            z,
            len(last),
            stop < len(self.d),
            max(abs(alpha), abs(beta)),
            float(np.finfo(self.dtype).eps),
        )
