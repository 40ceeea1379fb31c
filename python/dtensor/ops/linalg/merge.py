"""Two solved blocks of a tridiagonal matrix, which become one.

Values that the coupling does not change are left out, "deflated" (Cuppen, "A divide and
conquer method for the symmetric tridiagonal eigenproblem", 1981; Dongarra, Sorensen, "A
fully parallel algorithm for the symmetric eigenvalue problem", 1987).
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.secular import Poles, blocks

__all__ = ["LEAST", "NOTHING", "Merge", "Symmetric", "kept"]

Array = npt.NDArray[Any]
Turn = tuple[int, int, float, float]

# In units of rounding: what is nothing beside the largest value.
NOTHING = 2
# Differences below are nothing, for a matrix whose elements are about 1.
LEAST = 1e-100


def kept(
    d: Array, z: Array, scale: float, tolerance: float, first: int = 0
) -> tuple[list[int], list[int], list[Turn], Array, Array]:
    """Return which values change, which do not, and the rotations by which equal ones
    are told apart, with the values and coupling after these.

    Parameters
    ----------
    d : array
        Ascending.
    z : array
        The coupling.
    scale : float
        What it is multiplied by.
    tolerance : float
        What is nothing.
    first : int, default 0
        As many values are kept as they are.
    """
    values, weights = d.tolist(), z.tolist()
    keep: list[int] = []
    drop: list[int] = []
    turns: list[Turn] = []
    last = -1
    for j in range(first, len(values)):
        if scale * abs(weights[j]) <= tolerance:
            drop.append(j)
            continue
        if last >= 0:
            size = math.hypot(weights[last], weights[j])
            c, s = weights[j] / size, -weights[last] / size
            low, high = values[last], values[j]
            if abs((high - low) * c * s) <= tolerance:
                weights[last], weights[j] = 0.0, size
                values[last] = low * c * c + high * s * s
                values[j] = low * s * s + high * c * c
                turns.append((last, j, c, s))
                drop.append(last)
            else:
                keep.append(last)
        last = j
    if last >= 0:
        keep.append(last)
    keep = [*range(first), *keep]
    return keep, drop, turns, np.array(values), np.array(weights)


def turned(lines: Array, filled: Array, order: Array, turns: list[Turn]) -> None:
    """Rotate pairs of lines, whose numbers are in an order."""
    for a, b, c, s in turns:
        i, j = order[a], order[b]
        if filled[i] or filled[j]:
            one = c * lines[i] + s * lines[j]
            lines[j] = c * lines[j] - s * lines[i]
            lines[i] = one
            filled[i] = filled[j] = True


class Merge:
    """Values and vectors of two blocks with a coupling of rank 1.

    Attributes
    ----------
    count : int
        How many values are to be found.
    """

    # Set by each kind: the order of the values of the blocks; of these `keep` change,
    # `drop`, which are `dropped`, do not; the rotations of each side's vectors.
    order: Array
    keep: Array
    drop: Array
    dropped: Array
    turns: list[list[Turn]]
    poles: Poles
    z: Array
    size: Array  # of the poles' weights
    is_open: bool = False  # the last of all stays the last

    @property
    def count(self) -> int:
        return len(self.keep)

    def roots(self, start: int, stop: int) -> tuple[Array, Array]:
        """Return some values: the nearest pole of each, and its distance."""
        return self.poles.roots(self.size, np.arange(start, stop))

    def finish(self, nearest: Array, far: Array) -> Array:
        """Take all values; return those of the whole, ascending."""
        self.nearest, self.far = nearest, far
        self.z = np.copysign(np.sqrt(self.poles.weights(nearest, far)), self.z)
        found = np.concatenate([self.poles.values(nearest, far), self.dropped])
        end = len(found) - self.is_open
        order = np.argsort(found[:end], kind="stable")
        self.sorted = np.concatenate([order, np.arange(end, len(found))])
        return np.asarray(found[self.sorted])

    def coefficients(self, some: Array, side: int) -> Array:
        """Return what new vectors are made of, one in each line."""
        found = self.poles.away(self.nearest[some]) - self.far[some, None]
        return np.asarray(np.divide(self.z, found, out=found))

    def rows(
        self, lines: Array, at: int, start: int, stop: int, side: int = 0
    ) -> Array:
        """Return rows of the new vectors, one vector in each line.

        Parameters
        ----------
        lines : array
            Rows of the vectors of the blocks, one vector in each line. Others are zeros
            in these rows.
        at : int
            Which vector is the first of these.
        start, stop : int
            Which vectors are wanted.
        side : int
            Which vectors these are, if there are several kinds.
        """
        n, columns = len(self.order), lines.shape[1]
        full, filled = np.zeros((n, columns), lines.dtype), np.zeros(n, bool)
        some = slice(at, at + len(lines))
        full[some], filled[some] = lines, True
        turned(full, filled, self.order, self.turns[side])
        wanted = self.sorted[start:stop]
        is_old = wanted >= self.count
        old = full[self.order[self.drop[wanted[is_old] - self.count]]]
        here = np.flatnonzero(filled[self.order[self.keep]])
        known = full[self.order[self.keep[here]]]
        del full
        found = np.empty((len(wanted), columns), lines.dtype)
        found[is_old] = old
        del old
        new = np.flatnonzero(~is_old)
        for block in blocks(len(new), self.count):
            part = self.coefficients(wanted[new[block]], side)
            part /= np.sqrt(np.einsum("ij,ij->i", part, part))[:, None]
            found[new[block]] = part[:, here].astype(lines.dtype) @ known
        return found


class _Sum(Merge):
    """Of blocks on the diagonal plus ``scale * outer(z, z)``."""

    def __init__(self, d: Array, z: Array, scale: float, eps: float) -> None:
        self.order = np.argsort(d, kind="stable")
        z, scale = z / np.sqrt(2), 2 * scale
        size = max(np.max(np.abs(d)), scale * np.max(np.abs(z)))
        tolerance = max(NOTHING * eps * size, LEAST)
        keep, drop, turns, d, z = kept(d[self.order], z[self.order], scale, tolerance)
        self.keep, self.drop, self.turns = (
            np.array(keep, int),
            np.array(drop, int),
            [turns],
        )
        self.dropped, self.z = d[self.drop], z[self.keep]
        self.poles, self.size = Poles(d[self.keep]), scale * self.z**2


class Symmetric:
    """A tridiagonal matrix that is divided.

    Parameters
    ----------
    d, e : array
        The diagonal and what is beside it; real.
    dtype : dtype
        Of vectors.
    """

    sides = 1

    def __init__(self, d: Array, e: Array, dtype: Any) -> None:
        self.d, self.e = d.astype(np.float64), e.astype(np.float64)
        self.dtype = np.dtype(dtype)

    def leaf(self, start: int, stop: int) -> tuple[Array, list[Array]]:
        """Return the values and the vectors of a block, one in each line."""
        d = self.d[start:stop].copy()
        if start:
            d[0] -= abs(self.e[start - 1])
        if stop < len(self.d):
            d[-1] -= abs(self.e[stop - 1])
        full = np.diag(d) + np.diag(self.e[start : stop - 1], -1)
        try:
            values, vectors = np.linalg.eigh(full)
        except np.linalg.LinAlgError:
            values, vectors = np.full(len(d), np.nan), full
        return values, [vectors.T.astype(self.dtype, order="C")]

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
            The last row of the vectors of the first one, the first of the second's.
        """
        e = float(self.e[middle - 1])
        z = np.concatenate([last, first * np.sign(e)]).astype(np.float64)
        return _Sum(values, z, abs(e), float(np.finfo(self.dtype).eps))
