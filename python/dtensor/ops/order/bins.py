"""How many bins a histogram gets by the rules of NumPy's, which ask for statistics."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._make.parts import values_of
from dtensor.ops.reduce.quantile import percentile
from dtensor.ops.reduce.statistics import mean, std

__all__ = ["RULES", "count_of"]


def _number(x: Any) -> Any:
    return values_of("histogram_bin_edges", x)[()]


# Functions of the elements and of their greatest less their least one.


def _square_root(x: Any, extent: Any) -> Any:
    return extent / np.sqrt(x.size)


def _sturges(x: Any, extent: Any) -> Any:
    return extent / (np.log2(x.size) + 1.0)


def _rice(x: Any, extent: Any) -> Any:
    return extent / (2.0 * x.size ** (1.0 / 3))


def _scott(x: Any, _extent: Any) -> Any:
    return (24.0 * np.pi**0.5 / x.size) ** (1.0 / 3.0) * _number(std(x))


def _doane(x: Any, extent: Any) -> Any:
    sigma = _number(std(x)) if x.size > 2 else 0.0
    if not sigma > 0.0:
        return 0.0
    error = np.sqrt(6.0 * (x.size - 2) / ((x.size + 1.0) * (x.size + 3)))
    skew = _number(mean(((x - _number(mean(x))) / sigma) ** 3))
    return extent / (1.0 + np.log2(x.size) + np.log2(1.0 + np.absolute(skew) / error))


def _freedman_diaconis(x: Any, _extent: Any) -> Any:
    upper, lower = _number(percentile(x, [75, 25]))
    return 2.0 * (upper - lower) * x.size ** (-1.0 / 3.0)


def _auto(x: Any, extent: Any) -> Any:
    least = max(_freedman_diaconis(x, extent), _square_root(x, extent) / 2)
    return min(least, _sturges(x, extent))


# NumPy's names of rules -> the width of the bins. Its rule "stone" tries histograms.
RULES: dict[str, Callable[[Any, Any], Any]] = {
    "auto": _auto,
    "doane": _doane,
    "fd": _freedman_diaconis,
    "rice": _rice,
    "scott": _scott,
    "sqrt": _square_root,
    "sturges": _sturges,
}


def count_of(rule: str, x: Any, ends: Any, extremes: Callable[[Any], Any]) -> int:
    """Return how many bins NumPy makes of an array, by statistics of its parts.

    Parameters
    ----------
    rule : str
        One of `RULES`.
    x : DTensor
        Of real numbers.
    ends : (float, float) or None
        Between which elements count, if not all do.
    extremes : callable
        Returns the least and the largest element of a DTensor.
    """
    if x.dtype == bool:
        x = x.astype(np.uint8)
    known = extremes(x)
    if ends is None and not known.size:
        return 1
    first, last = known if ends is None else ends
    if first == last:
        first, last = first - 0.5, last + 0.5
    if known.size and not (known[0] >= first and known[1] <= last):  # or NaN
        x = np.ravel(x)
        x = x[(x >= first) & (x <= last)]
        known = extremes(x)
    if not x.size:
        return 1
    width = RULES[rule](x, _less(known[1], known[0]))
    if not width:
        return 1
    if x.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil(_less(last, first) / width))


def _less(a: Any, b: Any) -> Any:
    """Return a difference, of integers without overflow."""
    exact = all(isinstance(n, int | np.integer) for n in (a, b))
    return int(a) - int(b) if exact else a - b
