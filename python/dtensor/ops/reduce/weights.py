"""Weights of elements; and which elements reach parts of the sum of all weights."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.composite import array_of
from dtensor.ops._make.reduction import Axis
from dtensor.ops.reduce.selection import Integers, Lines, cut_points, told

__all__ = ["reaching", "weights_beside"]

Array = npt.NDArray[Any]

# How many elements of a line are tried at once, in each of a few rounds.
TRIED = 8


def weights_beside(weights: Any, a: Any, axis: Axis) -> Any:
    """Return the weights in dims that are broadcast against those of `a`."""
    weights = array_of(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    dims = normalize_axis_tuple(axis, a.ndim)
    if weights.shape != tuple(a.shape[dim] for dim in dims):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    weights = np.transpose(weights, tuple(np.argsort(dims).tolist()))
    return np.reshape(
        weights, [n if dim in dims else 1 for dim, n in enumerate(a.shape)]
    )


def reaching(lines: Lines, sums: Array, levels: Array) -> Integers:
    """Return which elements of lines reach parts of the sum of their weights.

    Collective. In each round the weights of all elements before some are added up.

    Parameters
    ----------
    lines : Lines
        Sorted, in parts.
    sums : array of float64, shape (this rank's lines, elements + 1)
        Of the weights of the first elements of its part.
    levels : array of float, shape (n,)
        From 0 to 1.

    Returns
    -------
    array of int, shape (lines, n)
        Counted from 0 on in the whole line; the last one at most.

    Raises
    ------
    ValueError
        If the sum of a line is 0 or not finite.
    """
    every, parts = lines.counts.shape

    def before(where: Integers) -> Array:
        """Return the weights of parts up to some places; of shape (lines, places)."""
        own = np.zeros((len(sums), where.shape[2]))
        for row, line in enumerate(lines.held.tolist()):
            own[row] = sums[row, where[line, lines.mine]]
        return np.asarray(told(lines, own).sum(0))

    totals = before(lines.counts[:, :, None])
    with np.errstate(all="ignore"):
        if not np.all(np.isfinite(totals / totals)[lines.counts.sum(1) > 0]):
            raise ValueError("Weights included NaN, inf or were all zero.")
    low = np.zeros((every, len(levels)), np.int64)
    high = np.maximum(lines.counts.sum(1) - 1, 0)[:, None] + low
    number = max(TRIED // max(len(levels), 1), 2)
    while (low < high).any():
        apart = (high - low)[:, :, None] * np.arange(1, number + 1) // (number + 1)
        tried = (low[:, :, None] + apart).reshape(every, -1)
        wanted = [(k, int(n) + 1) for k, line in enumerate(tried) for n in line]
        ends = cut_points(
            lines, [(k, min(n, int(lines.counts[k].sum()))) for k, n in wanted]
        )
        places = np.swapaxes(ends.reshape(every, -1, parts), 1, 2)
        with np.errstate(all="ignore"):
            reached = before(places) / totals
        if levels.dtype.kind == "f":  # as NumPy compares them
            reached = reached.astype(levels.dtype, copy=False)
        reached = reached.reshape(apart.shape)
        reached[reached == 0] = -1  # elements of no weight
        places_tried = tried.reshape(apart.shape)
        is_enough = reached >= levels[:, None]
        high = np.minimum(
            high, np.min(np.where(is_enough, places_tried, high[:, :, None]), -1)
        )
        low = np.maximum(
            low, np.max(np.where(is_enough, low[:, :, None], places_tried + 1), -1)
        )
        low = np.minimum(low, high)
    return low
