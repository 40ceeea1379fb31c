"""The secular equation: eigenvalues of a diagonal matrix plus one of rank 1.

The roots of ``1 + sum(weights / (poles - x))``, each as its distance from the nearest
pole, so that all distances are known to rounding (Li, "Solving secular equations stably
and efficiently", LAPACK working note 89, 1993). Vectors are computed from weights for
which these are the exact roots, hence they are orthogonal (Gu, Eisenstat, "A stable and
efficient algorithm for the rank-one modification of the symmetric eigenproblem", 1994).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Poles", "blocks"]

Array = npt.NDArray[Any]

EPS = float(np.finfo(np.float64).eps)
MOST_STEPS = 120
# Distances from poles that are in memory at once.
MOST_ELEMENTS = 1 << 15


def blocks(count: int, width: int) -> Iterator[slice]:
    """Return ranges of as many rows as are in memory at once, of some width."""
    step = max(1, MOST_ELEMENTS // max(1, width))
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


class Poles:
    """Where the secular equation is infinite.

    Parameters
    ----------
    d : array
        Ascending and distinct.
    is_squared : bool
        Whether the poles are the squares of these numbers, which are not negative.
    """

    def __init__(self, d: Array, is_squared: bool = False) -> None:
        self.d, self.is_squared = np.asarray(d, np.float64), is_squared

    def away(self, rows: Any, columns: Any = slice(None)) -> Array:
        """Return the distance of poles (columns) from some of them (rows)."""
        here, there = self.d[rows, None], self.d[None, columns]
        found = there - here
        if self.is_squared:
            found *= there + here
        return np.asarray(found)

    def values(self, nearest: Array, far: Array) -> Array:
        """Return numbers that are some distance from poles, or their roots."""
        if self.is_squared:
            return np.asarray(np.sqrt(np.maximum(self.d[nearest] ** 2 + far, 0)))
        return np.asarray(self.d[nearest] + far)

    def roots(self, weights: Array, which: Array) -> tuple[Array, Array]:
        """Return the nearest poles of some roots, and how far the roots are from them.

        Parameters
        ----------
        weights : array
            Positive.
        which : array of int
            Root `i` is above pole `i`.
        """
        nearest = np.empty(len(which), np.int64)
        far = np.empty(len(which))
        for some in blocks(len(which), len(self.d)):
            nearest[some], far[some] = _Roots(self, weights, which[some]).found()
        return nearest, far

    def weights(self, nearest: Array, far: Array) -> Array:
        """Return the weights for which numbers are the exact roots."""
        count = len(self.d)
        found = np.empty(count)
        for some in blocks(count, count):
            rows = np.arange(count)[some]
            above = self.away(rows, nearest) + far
            below = self.away(rows)
            below[np.arange(len(rows)), rows] = 1
            with np.errstate(all="ignore"):  # of what is not finite
                above /= below
                found[some] = np.abs(np.multiply.reduce(above, axis=1))
        return found


class _Roots:
    """Some roots while they are found: rational functions with two poles are fitted,
    intervals are halved where that does not help."""

    def __init__(self, poles: Poles, weights: Array, which: Array) -> None:
        self.count, self.which, self.weights = len(poles.d), which, weights
        last = self.count - 1
        self.is_last = which == last
        after = np.minimum(which + 1, last)
        gap = poles.away(which)[np.arange(len(which)), after]
        gap = np.where(self.is_last, np.sum(weights), gap)
        with np.errstate(all="ignore"):
            middle = weights / (poles.away(which) - gap[:, None] / 2)
        is_left = (1 + middle.sum(1) >= 0) | self.is_last
        self.nearest = np.where(is_left, which, after)
        self.poles = poles.away(self.nearest)
        low, high = np.zeros(len(which)), gap / 2
        high = np.where(self.is_last, gap, high)
        self.low = np.where(is_left, low, -high)
        self.high = np.where(is_left, high, low)
        self.far = (self.low + self.high) / 2

    def found(self) -> tuple[Array, Array]:
        """Return the nearest poles and the distances."""
        todo = np.arange(len(self.which))
        before = np.full(len(self.which), np.inf)
        for _ in range(MOST_STEPS):
            if not len(todo):
                break
            todo = todo[self._step(todo, before)]
        return self.nearest, self.far

    def _step(self, rows: Array, before: Array) -> Array:
        """Bring some roots nearer; return which of them are not found yet."""
        far, which = self.far[rows], self.which[rows]
        poles = self.poles[rows]
        away = poles - far[:, None]
        with np.errstate(all="ignore"):
            terms = self.weights / away
            slopes = terms / away
            value = 1 + terms.sum(1)
            slope = slopes.sum(1)
            lower = np.where(np.arange(self.count) <= which[:, None], slopes, 0).sum(1)
            size = 1 + np.abs(terms).sum(1)
        low = np.where(value < 0, far, self.low[rows])
        high = np.where(value > 0, far, self.high[rows])
        self.low[rows], self.high[rows] = low, high
        on = np.arange(len(rows))
        left = away[on, which]
        right = away[on, np.minimum(which + 1, self.count - 1)]
        step = _fitted(value, slope, lower, left, right, self.is_last[rows])
        new = far + step
        is_slow = np.abs(value) > before[rows] / 2
        before[rows] = np.abs(value)
        is_wrong = ~((new > low) & (new < high)) | is_slow
        new = np.where(is_wrong, _middle(low, high), new)
        is_done = np.abs(value) <= 4 * EPS * size
        is_done |= np.abs(high - low) <= 2 * EPS * np.maximum(np.abs(low), np.abs(high))
        is_done |= (new == far) | ~np.isfinite(value)
        self.far[rows] = np.where(is_done, far, new)
        return np.asarray(~is_done)


def _fitted(
    value: Array, slope: Array, lower: Array, left: Array, right: Array, is_last: Array
) -> Array:
    """Return the step to the root of a function with the poles beside it, which has
    the value and the slopes of the parts below and above; for the last root with one
    pole."""
    with np.errstate(all="ignore"):
        a = (left + right) * value - left * right * slope
        b = left * right * value
        c = value - left * lower - right * (slope - lower)
        root = np.sqrt(np.maximum(a * a - 4 * b * c, 0))
        step = np.where(a <= 0, (a - root) / (2 * c), 2 * b / (a + root))
        rest = value - slope * left
        alone = left + slope * left * left / rest
    return np.asarray(np.where(is_last, alone, step))


def _middle(low: Array, high: Array) -> Array:
    """Return what is between two numbers: the geometric mean where one is far nearer to
    0."""
    near = np.minimum(np.abs(low), np.abs(high))
    far = np.where(np.abs(low) < np.abs(high), high, low)
    near = np.maximum(near, np.abs(far) * 1e-6)
    mean = np.copysign(np.sqrt(near) * np.sqrt(np.abs(far)), far)
    return np.where(np.abs(far) > 4 * near, mean, low + (high - low) / 2)
