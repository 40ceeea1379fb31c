"""Sorting and partitioning.

The dim that is sorted is made whole, while another one is cut instead; if there is none
and the array is large, each rank gets its chunk (`sort_parts`)."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make import routes
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.copies import astype
from dtensor.ops._make.fallback import composed
from dtensor.ops._make.halves import weak_call
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
from dtensor.ops._make.parts import values_of
from dtensor.ops._make.reduction import LINEAR
from dtensor.ops.elementwise.functions import copy
from dtensor.ops.index.pick import partial_rows
from dtensor.ops.index.write import setitem
from dtensor.ops.order import sort_parts

__all__ = [
    "argpartition",
    "argsort",
    "lexsort",
    "partition",
    "sort",
    "sort_complex",
]

Array = npt.NDArray[Any]
INDEX = np.dtype(np.intp)


def _along(
    a: Operand, axis: int | None, kernel: call, dtype: Any, in_parts: Any = None
) -> Any:
    """Return the answer of a function that orders one dim; None: all elements.

    `in_parts` is called instead if the dim is to be sorted in parts."""
    dim = None if axis is None else normalize_axis_index(axis, a.ndim)
    numbered = in_parts in (sort_parts.argsort, sort_parts.argpartition)
    if in_parts and sort_parts.is_in_parts(a, dim, numbered):
        return in_parts
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
        The dim that is sorted; None: the flattened array. It is made whole, while
        another dim is cut instead. If no other can be cut and the array is large (2^14
        elements), each rank ends with its chunk; one part and some samples are sent.
    kind, order, stable
        As NumPy's.
    """
    kernel = weak_call(np.sort, a, axis=axis, kind=kind, order=order, stable=stable)
    in_parts = _checked(sort_parts.sort, kind, order, stable)
    return _along(a, axis, kernel, a.dtype, in_parts)


def _checked(in_parts: Any, kind: Any, order: Any, stable: Any) -> Any:
    """Return what sorts in parts, None with an `order`; raise NumPy's errors."""
    if order is not None:
        return None
    np.sort(np.empty(0), kind=kind, stable=stable)
    return in_parts


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
    if x.dtype.itemsize <= 16:
        return _C.put_along(shape, order, x, dim, 0)
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
    """Return the indices that sort an array; parameters as of `sort`.

    In parts it sends two parts, one of indices."""
    kernel = weak_call(np.argsort, a, axis=axis, kind=kind, order=order, stable=stable)
    in_parts = _checked(sort_parts.argsort, kind, order, stable)
    return _along(a, axis, kernel, INDEX, in_parts)


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
        The dim, which is made whole; None: the flattened array. In parts, as `sort`
        does it, all elements are sorted.
    kind, order
        As NumPy's.
    """
    if isinstance(kth, Operand):
        return _partition_by_array
    _check_kth(a, kth, axis)
    kernel = weak_call(np.partition, a, kth, axis, kind, order)
    in_parts = sort_parts.partition if order is None else None
    return _along(a, axis, kernel, a.dtype, in_parts)


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
    if isinstance(kth, Operand):
        return _argpartition_by_array
    _check_kth(a, kth, axis)
    kernel = weak_call(np.argpartition, a, kth, axis, kind, order)
    in_parts = sort_parts.argpartition if order is None else None
    return _along(a, axis, kernel, INDEX, in_parts)


def _by_array(name: str, function: Any) -> Callable[..., Any]:
    """Return a function whose `kth` is an array, of which all ranks need the values."""

    def run(a: Any, kth: Any, *args: Any, **options: Any) -> Any:
        return function(a, values_of(name, kth).tolist(), *args, **options)

    return run


_partition_by_array = _by_array("partition", partition)
_argpartition_by_array = _by_array("argpartition", argpartition)


def _check_kth(a: Operand, kth: Any, axis: int | None) -> None:
    """Raise NumPy's error for a `kth` that is out of range."""
    length = a.size if axis is None else a.shape[normalize_axis_index(axis, a.ndim)]
    wanted = np.asarray(kth)
    if (
        wanted.dtype.kind not in "iu"
        or (wanted < -length).any()
        or (wanted >= length).any()
    ):
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


@composed(np.lexsort, orders=True)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """Return the indices that sort by several keys, the last one first.

    Parameters
    ----------
    keys : array_like, or sequence of array_like
        The keys, all of one shape; of an array its first dim counts them.
    axis : int, default -1
        The dim that is sorted, which is made whole, or sorted in parts as by `sort`:
        each key then sends those after it, and indices.
    """
    if isinstance(keys, _C.DTensor) and keys.ndim > 1 and keys.shape[0] > 0:
        dim = normalize_axis_index(axis, keys.ndim - 1)
        is_large = keys.size >= routes.LEAST_SIZE * keys.shape[0]
        if is_large and keys.layout.is_cut(dim + 1):
            keys = np.unstack(keys)
    if isinstance(keys, list | tuple):
        keys = [x if isinstance(x, _C.DTensor) else np.asarray(x) for x in keys]
        cut = [x for x in keys if isinstance(x, _C.DTensor)]
        same = all(x.shape == cut[0].shape for x in keys)
        dim = normalize_axis_index(axis, cut[0].ndim)
        for x in cut if same else []:
            if sort_parts.is_in_parts(x, dim):
                return sort_parts.lexsort(keys, dim, x.layout.settled())
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
    if sort_parts.is_in_parts(a, a.ndim - 1):
        dtype = np.sort_complex(np.empty(0, a.dtype)).dtype
        return sort_parts.sort if dtype == a.dtype else _sort_as_complex
    names = " ".join(letters(a.ndim, whole=[a.ndim - 1]))
    return Rule(f"{names}->{names}"), call(np.sort_complex, a)


def _sort_as_complex(a: Any) -> Any:
    return astype(sort_parts.sort(a), np.sort_complex(np.empty(0, a.dtype)).dtype)


sort_complex.vjp(lambda grad, out, a: _unordered(grad, out, a))
