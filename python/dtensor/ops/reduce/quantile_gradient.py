"""Gradients of quantiles: they go to the one or two elements that define each."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import (
    Operand,
    Part,
    axes_of,
    letters,
    operator,
)
from dtensor.ops._make.reduction import Axis, kept
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.reduce.selection import numbers_of

__all__ = ["Places", "of_median", "of_quantile", "put_back"]

Array = npt.NDArray[Any]

# Which function gives the position among sorted elements, and whether NaN is ignored.
PLACES: dict[Any, tuple[Callable[..., Any], bool]] = {
    np.median: (np.quantile, False),
    np.quantile: (np.quantile, False),
    np.percentile: (np.percentile, False),
    np.nanmedian: (np.quantile, True),
    np.nanquantile: (np.quantile, True),
    np.nanpercentile: (np.percentile, True),
}


class _Lines(NamedTuple):
    """Of lines of elements: how they are sorted, and which ones each quantile is of."""

    order: Array  # shape (lines, n)
    low: Array  # shape (quantiles, lines): among the sorted ones
    high: Array
    way: Array  # from the low one to the high one


def _lines(x: Array, q: Array, function: Any, method: str) -> _Lines:
    """Return this for an array of shape (lines, n).

    NumPy itself says where a quantile is: it is that of the numbers from 0 on."""
    of_numbers, leaves_out = PLACES[function]
    missing = np.isnan(x)
    length = x.shape[-1]
    counts = length - missing.sum(-1) if leaves_out else np.full(len(x), length)
    places = np.zeros((q.size, len(x)))
    for count in np.unique(counts[counts > 0]):
        found = of_numbers(np.arange(count) * 1.0, q.ravel(), method=method)
        places[:, counts == count] = found[:, None]
    if not leaves_out:
        places[:, missing.any(-1)] = length - 1  # that NaN is the result
    low = np.floor(places).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    return _Lines(np.argsort(x, -1, kind="stable"), low, high, places - low)


def _rows(x: Array, axes: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """Return an array in the shape (lines, n), and its shape before that."""
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    count = math.prod(moved.shape[: x.ndim - len(axes)])
    size = math.prod(moved.shape[x.ndim - len(axes) :])
    return moved.reshape(count, size), moved.shape


def _terms(a: Operand, q: Operand, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the words of the array, of `q`, and of quantiles."""
    names = letters(a.ndim, whole=axes)
    first = letters(q.ndim, range(q.ndim), skip=a.ndim)
    return names, first, [*first, *kept(names, axes, keepdims)]


@operator(operands=3, name="quantile_backward")
def _scattered(
    g: Operand, a: Operand, q: Operand, axes: Any, keepdims: bool, *how: Any
) -> Answer:
    names, first, short = _terms(a, q, axes, keepdims)
    kernel = weak_call(_scatter, g, a, q, axes, *how)
    return rule([short, names, first], [names]), kernel, g.dtype


def _scatter(g: Array, a: Array, q: Array, axes: Any, *how: Any) -> Array:
    x, shape = _rows(a, axes)
    order, low, high, way = _lines(x, q, *how)
    g = g.reshape(low.shape)
    sorted_ones = np.zeros(x.shape, g.dtype)
    line = np.arange(len(x))
    for k in range(len(g)):
        sorted_ones[line, low[k]] += g[k] * (1 - way[k])
        sorted_ones[line, high[k]] += g[k] * way[k]
    result = np.empty_like(sorted_ones)
    np.put_along_axis(result, order, sorted_ones, -1)
    return np.moveaxis(result.reshape(shape), range(-len(axes), 0), axes)


@operator(operands=3, name="quantile_backward")
def _gathered(
    x: Operand, a: Operand, q: Operand, axes: Any, keepdims: bool, *how: Any
) -> Answer:
    names, first, short = _terms(a, q, axes, keepdims)
    kernel = weak_call(_gather, x, a, q, axes, keepdims, *how)
    return rule([names, names, first], [short]), kernel, x.dtype


def _gather(x: Array, a: Array, q: Array, axes: Any, keepdims: bool, *how: Any) -> Any:
    lines, shape = _rows(a, axes)
    order, low, high, way = _lines(lines, q, *how)
    sorted_ones = np.take_along_axis(_rows(x, axes)[0], order, -1)
    line = np.arange(len(lines))
    found = sorted_ones[line, low] * (1 - way) + sorted_ones[line, high] * way
    rest = [1 if dim in axes else n for dim, n in enumerate(a.shape)]
    if not keepdims:
        rest = list(shape[: a.ndim - len(axes)])
    return found.reshape([*q.shape, *rest]).astype(x.dtype, copy=False)


_scattered.vjp(lambda x, _out, _g, a, q, *args: _gathered(x, a, q, *args), None)
_gathered.vjp(lambda g, _out, _x, a, q, *args: _scattered(g, a, q, *args), None)


def of_quantile(function: Any) -> Callable[..., Any]:
    """Return the gradient of one of NumPy's quantiles."""

    def gradient(
        g: Any,
        _out: Any,
        a: Any,
        q: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: Any = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any:
        if weights is not None:
            raise NotImplementedError(f"{function.__name__}: no gradient with weights")
        q = q if hasattr(q, "dtype") else np.asarray(q)
        return _scattered(g, a, q, axes_of(axis, a.ndim), keepdims, function, method)

    return gradient


def of_median(function: Any) -> Callable[..., Any]:
    """Return the gradient of one of NumPy's medians."""

    def gradient(
        g: Any,
        _out: Any,
        a: Any,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Any:
        axes, half = axes_of(axis, a.ndim), np.asarray(0.5)
        return _scattered(g, a, half, axes, keepdims, function, "linear")

    return gradient


# --- of parts -------------------------------------------------------------------------


class Places(NamedTuple):
    """Of quantiles of lines: between which elements they are, numbered in the line."""

    low: Array  # of the shape of the quantiles
    high: Array
    way: Array  # from the low one to the high one


def put_back(grad: Any, x: Any, places: Places, axes: Any, keepdims: bool) -> Any:
    """Return the gradient of `x`, cut as it is; nothing is sent."""
    return _put(x, grad, *places, axes, keepdims)


def _words(a: Operand, short: Operand, axes: Any, keepdims: bool) -> Any:
    """Return the words of an array and of its quantiles."""
    names = letters(a.ndim)
    left = kept(names, axes, keepdims)
    count = short.ndim - len(left)
    return names, [*letters(count, range(count), skip=a.ndim), *left]


def _lines_of(axes: Any) -> Part:
    """Return where in their lines the elements of operand 0 are."""
    return Part(lambda operands, _results: numbers_of(operands[0], axes))


@operator(operands=5, name="quantile_backward")
def _put(
    a: Operand,
    g: Operand,
    low: Operand,
    high: Operand,
    way: Operand,
    axes: Any,
    keepdims: bool,
) -> Answer:
    names, short = _words(a, g, axes, keepdims)
    kernel = weak_call(_put_part, a, g, low, high, way, axes, _lines_of(axes))
    return rule([names, *[short] * 4], [names]), kernel, g.dtype


def _put_part(
    a: Array, g: Array, low: Array, high: Array, way: Array, axes: Any, numbers: Array
) -> Array:
    rows, shape = _rows(a, axes)
    result = np.zeros(rows.shape, g.dtype)
    for place, factor in ((low, 1 - way), (high, way)):
        level, line, at = _held(place, len(rows), numbers)
        value = (g * factor).reshape(-1, len(rows))
        np.add.at(result, (line, at), value[level, line])
    return np.moveaxis(result.reshape(shape), range(-len(axes), 0), axes)


def _held(place: Array, lines: int, numbers: Array) -> tuple[Array, Array, Array]:
    """Return which quantiles of which lines this rank has elements of, and where."""
    place = place.reshape(-1, lines) if lines else place.reshape(1, 0)
    order = np.argsort(numbers, kind="stable")
    at = np.searchsorted(numbers, place, sorter=order)
    held = at < len(numbers)
    held[held] = numbers[order[at[held]]] == place[held]
    level, line = np.nonzero(held)
    return level, line, order[at[held]]


@operator(operands=4, name="quantile_backward")
def _get(
    x: Operand, low: Operand, high: Operand, way: Operand, axes: Any, keepdims: bool
) -> Answer:
    names, short = _words(x, low, axes, keepdims)
    kernel = weak_call(_get_part, x, low, high, way, axes, _lines_of(axes))
    return rule([names, *[short] * 3], [short]), kernel, x.dtype


def _get_part(
    x: Array, low: Array, high: Array, way: Array, axes: Any, numbers: Array
) -> Array:
    rows, _ = _rows(x, axes)
    result = np.zeros(low.shape, x.dtype)
    for place, factor in ((low, 1 - way), (high, way)):
        level, line, at = _held(place, len(rows), numbers)
        found = np.zeros((place.size // max(len(rows), 1), len(rows)), x.dtype)
        found[level, line] = rows[line, at]
        result += (found.reshape(low.shape) * factor).astype(x.dtype, copy=False)
    return result


_put.vjp(None, lambda x, _out, _a, _g, *args: _get(x, *args))
_get.vjp(lambda g, _out, x, *args: _put(x, g, *args))
