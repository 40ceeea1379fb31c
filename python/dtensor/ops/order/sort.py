"""Sorting, partitioning, and searching sorted arrays.

The dim that is sorted is made whole on every rank; the others stay cut."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.fallback import composed
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    Rule,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.reduction import LINEAR
from dtensor.ops._make.words import hollow
from dtensor.ops.elementwise.functions import copy
from dtensor.ops.index.pick import partial_rows
from dtensor.ops.index.write import setitem

__all__ = [
    "argpartition",
    "argsort",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
    "sort_complex",
    "topk",
]

Array = npt.NDArray[Any]
INDEX = np.dtype(np.intp)


def _along(a: Operand, axis: int | None, kernel: call, dtype: Any) -> Any:
    """Return the answer of a function that orders one dim; None: all elements."""
    if axis is None:
        return Rule(f"{'* ' * a.ndim}->{a.size}", reduce=None), kernel, dtype
    names = " ".join(letters(a.ndim, whole=[normalize_axis_index(axis, a.ndim)]))
    return Rule(f"{names}->{names}"), kernel, dtype


# --- sorting --------------------------------------------------------------------------


@implements(np.sort)
@operator
def sort(
    a: Operand,
    axis: int | None = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Any:
    """Return a sorted copy.

    Parameters
    ----------
    a : array_like
        The source.
    axis : int or None, default -1
        The dim that is sorted, which is made whole; None: the flattened array.
    kind, order, stable
        As NumPy's.
    """
    kernel = call(np.sort, a, axis=axis, kind=kind, order=order, stable=stable)
    return _along(a, axis, kernel, a.dtype)


def _put_at(grad: Any, order: Any, axis: int | None, shape: tuple[int, ...]) -> Any:
    """Return zeros of a shape, with a gradient where the elements came from."""
    found = put_along(grad, order, -1 if axis is None else axis, _length(shape, axis))
    return np.reshape(found, shape) if axis is None else found


def _length(shape: tuple[int, ...], axis: int | None) -> int:
    return math.prod(shape) if axis is None else shape[axis]


@operator(name="sort_backward", operands=2)
def put_along(x: Operand, order: Operand, axis: int, length: int) -> Any:
    """Return zeros, with `x` where `order`, which names no element twice, says."""
    dim = normalize_axis_index(axis, x.ndim)
    names = letters(x.ndim, whole=[dim])
    before = " ".join(names)
    after = " ".join([*names[:dim], str(length), *names[dim + 1 :]])
    partial = partial_rows(1, LINEAR)
    kernel = call(_put_along, x, order, dim, LOCAL_SHAPE)
    return Rule(f"{before},{before}->{after}", partial=partial), kernel, x.dtype


def _put_along(x: Array, order: Array, dim: int, shape: tuple[int, ...]) -> Array:
    result = np.zeros(shape, x.dtype)
    np.put_along_axis(result, order, x, dim)
    return result


put_along.vjp(
    lambda grad, _out, _x, order, axis, _length: np.take_along_axis(grad, order, axis)
)


@method
@implements(np.argsort)
@operator
def argsort(
    a: Operand,
    axis: int | None = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Any:
    """Return the indices that sort an array; parameters as of `sort`."""
    kernel = call(np.argsort, a, axis=axis, kind=kind, order=order, stable=stable)
    return _along(a, axis, kernel, INDEX)


sort.vjp(
    lambda grad, _out, a, axis=-1, *_, **__: _put_at(
        grad, argsort(a, axis, stable=True), axis, a.shape
    )
)


@implements(np.partition)
@operator
def partition(
    a: Operand,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: Any = "introselect",
    order: None = None,
) -> Any:
    """Return a copy in which element `kth` is where sorting would put it.

    Parameters
    ----------
    a : array_like
        The source.
    kth : int or sequence of int
        Smaller elements come before it, the others after.
    axis : int or None, default -1
        The dim, which is made whole; None: the flattened array.
    kind, order
        As NumPy's.
    """
    _check_kth(a, kth, axis)
    return _along(a, axis, call(np.partition, a, kth, axis, kind, order), a.dtype)


def _unordered(grad: Any, out: Any, a: Any, axis: int | None = -1) -> Any:
    """Go back through what orders elements in a way of its own: by sorting both."""
    dim = -1 if axis is None else axis
    grad = np.take_along_axis(grad, argsort(out, dim, stable=True), dim)
    return _put_at(grad, argsort(a, axis, stable=True), axis, a.shape)


partition.vjp(
    lambda grad, out, a, _kth, axis=-1, *_, **__: _unordered(grad, out, a, axis)
)


@method
@implements(np.argpartition)
@operator
def argpartition(
    a: Operand,
    kth: int | Sequence[int],
    axis: int | None = -1,
    kind: Any = "introselect",
    order: None = None,
) -> Any:
    """Return the indices that partition an array; parameters as of `partition`."""
    _check_kth(a, kth, axis)
    return _along(a, axis, call(np.argpartition, a, kth, axis, kind, order), INDEX)


def _check_kth(a: Operand, kth: Any, axis: int | None) -> None:
    """Raise NumPy's error for a `kth` that is out of range."""
    length = a.size if axis is None else a.shape[normalize_axis_index(axis, a.ndim)]
    np.partition(np.empty(length, bool), kth)


@method(name="sort")
def _sort_in_place(
    x: Any,
    axis: int = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> None:
    """Sort in place; the tensor keeps its layout. Parameters as of `sort`."""
    setitem(x, ..., sort(_own(x), axis, kind, order, stable=stable))


@method(name="partition")
def _partition_in_place(
    x: Any, kth: Any, axis: int = -1, kind: Any = "introselect", order: None = None
) -> None:
    """Partition in place; the tensor keeps its layout. Parameters as of `partition`."""
    setitem(x, ..., partition(_own(x), kth, axis, kind, order))


def _own(x: Any) -> Any:
    """Return what backward may keep though the tensor is changed."""
    return copy(x) if x.requires_grad else x


@composed(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return the indices that sort by several keys, the last one first.

    Parameters
    ----------
    keys : array_like, or sequence of array_like
        The keys, all of one shape; of an array its first dim counts them.
    axis : int, default -1
        The dim that is sorted, which is made whole.
    """
    if isinstance(keys, list | tuple):
        keys = [x if isinstance(x, _C.DTensor) else np.asarray(x) for x in keys]
    return _lexsort(keys, axis)


@operator(name="lexsort", operands=0)
def _lexsort(keys: Any, axis: int) -> Any:
    if isinstance(keys, list):
        dim = normalize_axis_index(axis, keys[0].ndim)
        names = " ".join(letters(keys[0].ndim, whole=[dim]))
        text = f"{','.join([names] * len(keys))}->{names}"
    else:
        dim = normalize_axis_index(axis, keys.ndim - 1)
        names = " ".join(letters(keys.ndim - 1, whole=[dim]))
        text = f"* {names}->{names}"
    return Rule(text), call(np.lexsort, keys, axis), INDEX


@implements(np.sort_complex)
@operator
def sort_complex(a: Operand) -> Any:
    """Return a copy sorted along the last dim, real parts first, as complex numbers."""
    names = " ".join(letters(a.ndim, whole=[a.ndim - 1]))
    return Rule(f"{names}->{names}"), call(np.sort_complex, a)


sort_complex.vjp(lambda grad, out, a: _unordered(grad, out, a))


class TopK(NamedTuple):
    """The largest or smallest elements along a dim."""

    values: Any
    """The elements."""
    indices: Any
    """Where they were, as int64."""


@method
@operator
def topk(
    x: Operand, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """Return the `k` largest elements along a dim, and where they are.

    Parameters
    ----------
    x : array_like
        The source.
    k : int
        How many, at most the length of the dim.
    axis : int, default -1
        The dim, which is made whole; also called ``dim``.
    largest : bool, default True
        Whether the largest or the smallest. NaN is larger than every number.
    sorted : bool, default True
        Without effect: they are always sorted, equal ones in their original order.

    Returns
    -------
    TopK
        ``values`` and ``indices``.

    Raises
    ------
    RuntimeError
        If the dim is shorter than `k`.
    """
    at = normalize_axis_index(axis, x.ndim)
    if not 0 <= k <= x.shape[at]:
        raise RuntimeError(
            f"selected index k out of range: k={k}, the dim has {x.shape[at]} elements"
        )
    names = letters(x.ndim, whole=[at])
    after = " ".join([*names[:at], str(k), *names[at + 1 :]])
    kernel = call(_topk, x, k, at, largest)
    return Rule(f"{' '.join(names)}->{after},{after}"), kernel, (x.dtype, INDEX)


topk.vjp(
    lambda grad, out, _x, _k, axis=-1, *_, **__: put_along(
        grad[0], out[1].detach(), axis, _x.shape[axis]
    )
)


def _topk(x: Array, k: int, dim: int, largest: bool) -> TopK:
    if largest:  # of equal elements the first one first, from the end
        order = np.argsort(np.flip(x, dim), dim, stable=True)
        order = x.shape[dim] - 1 - np.flip(order, dim)
    else:
        order = np.argsort(x, dim, stable=True)
    first = order[(slice(None),) * dim + (slice(k),)]
    return TopK(np.take_along_axis(x, first, dim), np.ascontiguousarray(first))


# --- searching ------------------------------------------------------------------------


@implements(np.searchsorted)
@operator(operands=2)
def searchsorted(
    a: Operand, v: Operand, side: Any = "left", sorter: Operand | None = None
) -> Any:
    """Return where elements are to be inserted to keep an array in order.

    Parameters
    ----------
    a : array_like, shape (n,)
        In ascending order. It may be cut: every rank then counts in its part, and the
        result is a Partial(sum).
    v : array_like
        The values to insert; may be cut.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : array_like, shape (n,), optional
        Indices that sort `a`, which is whole then.
    """
    if a.ndim != 1 or side not in ("left", "right"):
        np.searchsorted(hollow(a.shape), hollow(v.shape), side)  # raises
    names = " ".join(letters(v.ndim, skip=1))
    if sorter is None:
        text = f"a,{names}->{names}"
        return Rule(text), call(np.searchsorted, a, v, side), INDEX
    text = f"*,{names},*->{names}"
    return Rule(text), call(np.searchsorted, a, v, side, sorter), INDEX


@method(name="searchsorted")
def _searchsorted_method(x: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Return where `v` would be inserted to keep `x` sorted: see `searchsorted`."""
    return searchsorted(x, v, side, sorter)


@implements(np.digitize)
@operator(operands=2)
def digitize(x: Operand, bins: Operand, right: bool = False) -> Any:
    """Return the numbers of the bins that elements belong to.

    Parameters
    ----------
    x : array_like
        The elements; may be cut.
    bins : array_like, shape (n,)
        The edges, ascending or descending; whole on every rank.
    right : bool, default False
        Whether a bin contains its right edge instead of its left one.
    """
    if x.dtype is not None and x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    names = " ".join(letters(x.ndim))
    return Rule(f"{names},*->{names}"), call(np.digitize, x, bins, right), INDEX
