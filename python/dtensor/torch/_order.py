"""Sorting and what follows from it: medians, modes, the k-th value, distinct elements.

Functions that return a pair give the elements along `dim`, and their indices.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.ops._make.elementwise import is_floating
from dtensor.ops._make.step import one_step
from dtensor.torch._reduce import at, summed
from dtensor.torch._returned import TYPES, Picked
from dtensor.torch._rows import in_rows
from dtensor.torch._types import keeps, numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = [
    "argsort",
    "bincount",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "kthvalue",
    "log_softmax",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "softmax",
    "sort",
    "topk",
    "unique",
]


def argsort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> Any:
    """Return the indices that sort along a dim; equal elements keep their order."""
    input = input.detach()
    if not descending or not input.ndim:
        return ops.argsort(input, dim, stable=True) if input.ndim else _zero(input)
    backwards = ops.argsort(ops.flip(input, dim), dim, stable=True)
    return input.shape[dim] - 1 - ops.flip(backwards, dim)


def _zero(input: Any) -> Any:
    return ops.zeros_like(input, dtype=np.int64)


def sort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False
) -> Picked:
    """Return the elements sorted along a dim, and their indices."""
    if isinstance(dim, bool):
        return sort(input, -1, dim)
    found: Picked = at("sort", input, argsort(input, dim, descending), dim)
    return found


def msort(input: Any) -> Any:
    """Return the elements sorted along the first dim."""
    return sort(input, 0).values


def topk(
    input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Picked:
    """Return the `k` largest or smallest elements along a dim, and their indices."""
    found: Picked = TYPES["topk"](ops.topk(input, k, dim, largest, sorted))
    return found


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Picked:
    """Return the `k`-th smallest element along a dim, and its index.

    Raises
    ------
    RuntimeError
        If the dim has fewer elements.
    """
    if not 1 <= k <= input.shape[dim]:
        raise RuntimeError(
            "kthvalue(): selected number k out of range for dimension "
            f"{dim % input.ndim}"
        )
    order = argsort(input, dim)
    found: Picked = _picked("kthvalue", input, order, k - 1, dim, keepdim)
    return found


def _picked(
    name: str, input: Any, order: Any, place: int, dim: int, keepdim: bool
) -> Any:
    """Return what is at a place of a dim that is sorted by `order`."""
    index = [slice(None)] * input.ndim
    index[dim] = slice(place, place + 1)
    return at(name, input, in_rows(ops.getitem(order, tuple(index))), dim, keepdim)


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the middle element, the lower one of two; with `dim` also its index."""
    if dim is None:
        return _of_all(input, input.detach(), _middle)
    if not input.ndim:
        return at("median", input, _zero(input), 0)
    return _middle(input, dim, keepdim)


def middle_back(grad: Any, found: Any, values: Any) -> Any:
    """Return the gradient of the median of all: those equal to it share it."""
    same = ops.equal(values, found)
    if is_floating(np.dtype(values.dtype)):
        same = ops.logical_or(same, ops.logical_and(*map(ops.isnan, (values, found))))
    count = ops.astype(ops.count_nonzero(same), grad.dtype)
    return ops.where(same, ops.divide(grad, count), 0)


@one_step(
    "median",
    lambda grad, _out, _input, values, middle: middle_back(
        grad, _of_all(values, values, middle), values
    ),
)
def _of_all(input: Any, values: Any, middle: Callable[..., Any]) -> Any:
    """Return the median of all elements; of none NaN, the least integer, or True."""
    if input.size:
        return middle(ops.ravel(values), 0, False).values
    kind = np.dtype(input.dtype)
    nothing: Any = np.nan if is_floating(kind) else True
    if kind.kind in "iu":
        nothing = np.iinfo(kind).min
    return ops.add(ops.sum(values, dtype=kind), kind.type(nothing))


def _middle(input: Any, dim: int, keepdim: bool) -> Any:
    place = (input.shape[dim] - 1) // 2
    found = _picked("median", input, argsort(input, dim), place, dim, keepdim)
    if not is_floating(np.dtype(input.dtype)):
        return found
    odd = ops.isnan(input.detach())  # the median of what has a NaN is NaN
    first = ops.argmax(odd, axis=dim, keepdims=True)
    picked = at("median", input, first, dim, keepdim)
    some = ops.any(odd, axis=dim, keepdims=keepdim)
    pairs = zip(picked, found, strict=True)
    return type(found)([ops.where(some, *pair) for pair in pairs])


def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of the elements that are not NaN, as `median` does."""
    if dim is None:
        return _of_all(input, input.detach(), nanmedian)
    order = argsort(input, dim)
    count = ops.sum(~ops.isnan(input.detach()), axis=dim, keepdims=True)
    place = ops.maximum((count - 1) // 2, 0)
    places = ops.take_along_axis(order, place, dim)
    return at("nanmedian", input, places, dim, keepdim)


def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Picked:
    """Return the most frequent element along a dim, the smallest of several.

    The index is that of its last occurrence.
    """
    order = argsort(input, dim)
    ordered = ops.take_along_axis(input.detach(), order, dim)
    index: list[Any] = [slice(None)] * input.ndim
    index[dim] = slice(0, 1)
    first = ops.ones_like(ops.getitem(ordered, tuple(index)), dtype=bool)
    before, after = list(index), list(index)
    before[dim], after[dim] = slice(0, -1), slice(1, None)
    differs = ops.not_equal(
        ops.getitem(ordered, tuple(after)), ops.getitem(ordered, tuple(before))
    )
    begins = ops.concatenate([first, differs], dim)
    shape = [1] * input.ndim
    shape[dim] = input.shape[dim]
    place = np.arange(input.shape[dim]).reshape(shape)
    start = np.maximum.accumulate(ops.where(begins, place, 0), axis=dim)
    best = ops.argmax(place - start, axis=dim, keepdims=True)
    places = ops.take_along_axis(order, best, dim)
    found: Picked = at("mode", input, places, dim, keepdim)
    return found


# --- running extremes and sums --------------------------------------------------------


def _running(name: str, ufunc: np.ufunc, input: Any, dim: int) -> Picked:
    values = ufunc.accumulate(input.detach(), axis=dim)
    shape = [1] * input.ndim
    shape[dim] = input.shape[dim]
    place = np.arange(input.shape[dim]).reshape(shape)
    picked = ops.equal(input.detach(), values)
    if is_floating(np.dtype(input.dtype)):  # what follows a NaN is NaN
        picked = ops.logical_or(picked, ops.isnan(input.detach()))
    here = ops.where(picked, place, 0)
    index = in_rows(np.maximum.accumulate(here, axis=dim))
    found: Picked = at(name, input, index, dim)
    return found


def cummax(input: Any, dim: int) -> Picked:
    """Return the greatest elements so far along a dim, and their indices."""
    return _running("cummax", np.maximum, input, dim)


def cummin(input: Any, dim: int) -> Picked:
    """Return the smallest elements so far along a dim, and their indices."""
    return _running("cummin", np.minimum, input, dim)


def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return sums of the elements so far along a dim, of integers as int64."""
    return ops.cumsum(input, dim, dtype=summed(input, dtype))


def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return products of the elements so far along a dim, of integers as int64."""
    return ops.cumprod(input, dim, dtype=summed(input, dtype))


def softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Return ``exp(input)`` divided by its sum along a dim; see `log_softmax`."""
    return ops.softmax(_as(input, dtype), -1 if dim is None else dim)


def log_softmax(input: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """Return the logarithm of `softmax`; with `dtype` the input is cast first."""
    return ops.log_softmax(_as(input, dtype), -1 if dim is None else dim)


def _as(input: Any, dtype: Any) -> Any:
    return input if dtype is None else ops.astype(input, numpy_dtype(dtype))


# --- distinct ones, counts ------------------------------------------------------------


@keeps
def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, sorted; see `numpy.unique`. Each NaN is one."""
    return ops.unique(
        input,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=dim,
        equal_nan=False,
    )


@keeps
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Return how often each number occurs, or the sums of weights: of float32 in it,
    of others in float64."""
    if weights is None:
        return ops.bincount(input, None, minlength)
    narrow = np.dtype(weights.dtype) == np.float32
    found = ops.bincount(input, ops.astype(weights, np.float64), minlength)
    return ops.astype(found, np.float32) if narrow else found
