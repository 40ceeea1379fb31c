"""Sorted lines: runs that become one, the stable order, and what is new in it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["firsts", "merged", "merged_numbers", "stable_order"]

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]

MERGED = frozenset("?bhilqBHILQfd")  # types of numbers whose runs a kernel merges
INDEX_BITS = 31  # twice as many are a number


def merged(values: Array, sizes: Integers) -> Array:
    """Return lines that are sorted runs, sorted; `sizes` is of shape (lines, runs)."""
    if values.dtype.char not in MERGED:
        return np.asarray(np.sort(values, axis=-1, kind="stable"))
    return _C.merged(np.ascontiguousarray(values), np.ascontiguousarray(sizes))


def merged_numbers(values: Array, numbers: Integers, sizes: Integers) -> Integers:
    """Return the numbers that go with the elements of such lines, one with each, as
    these are sorted stably."""
    if values.dtype.char not in MERGED:
        order = np.argsort(values, axis=-1, kind="stable")
        return np.take_along_axis(numbers, order, -1)
    values, numbers, sizes = map(np.ascontiguousarray, (values, numbers, sizes))
    return _C.merged(values, sizes, numbers)[1]


def stable_order(lines: Array) -> Integers:
    """Return the indices that sort lines stably: those of NumPy's fastest way, where
    equal elements are put in their order."""
    is_fast = lines.dtype.kind in "iuf" and lines.dtype.itemsize in (4, 8)
    if not is_fast or lines.shape[-1] >> INDEX_BITS:
        return np.argsort(lines, -1, kind="stable")
    order = np.argsort(lines, -1)
    for line, own in zip(lines, order, strict=True):
        values = line[own]
        # After NaN there is nothing else.
        equal = (values[1:] == values[:-1]) | (values[:-1] != values[:-1])
        at = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        if at.size:
            group = np.append(0, np.cumsum(~equal))[at]
            keys = np.sort(group << INDEX_BITS | own[at])
            own[at] = keys & (1 << INDEX_BITS) - 1
    return order


def firsts(values: Array, equal_nan: bool) -> npt.NDArray[np.bool]:
    """Return which elements of a sorted line are not equal to those before them."""
    found = np.ones(values.size, bool)
    np.not_equal(values[1:], values[:-1], out=found[1:])
    if equal_nan and values.dtype.kind in "fc":
        nans = int(np.count_nonzero(values != values))  # the last ones
        found[values.size - nans + 1 :] = False
    return found
