"""Inserting and deleting elements: delete, insert, resize and trim_zeros.

Every rank knows which ones, so the other elements stay on the ranks that hold them."""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.axes import normalize_axis_index, normalize_axis_tuple
from dtensor.ops._make.copies import copy
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh
from dtensor.ops._make.numbers import as_python_int
from dtensor.ops._make.parts import (
    as_int64,
    from_zero,
    inside,
    local,
    make,
    parts_of,
    spans,
    values_of,
)
from dtensor.ops._make.step import one_step
from dtensor.ops.index.gradient import back
from dtensor.ops.index.read import getitem
from dtensor.ops.index.take import take
from dtensor.ops.index.values import converted
from dtensor.ops.index.write import setitem
from dtensor.ops.shape.borders import resized
from dtensor.ops.shape.join import concatenate
from dtensor.ops.shape.view import ravel, reshape

__all__ = ["delete", "insert", "resize", "trim_zeros"]

Array = npt.NDArray[Any]
ALL = slice(None)


def _along(name: str, arr: Any, obj: Any, axis: Any, like: Any) -> tuple[Any, Any, int]:
    """Return an array, an index of a dim that every rank knows, and the dim."""
    arr = on_mesh(arr, mesh_of((arr, obj, like)))
    obj = values_of(name, obj) if isinstance(obj, _C.Tensor) else obj
    if axis is None:
        return (arr if arr.ndim == 1 else ravel(arr)), obj, 0
    return arr, obj, normalize_axis_index(axis, arr.ndim)


def _in_ranges(layout: _C.Layout, dim: int) -> bool:
    """Return whether each rank has one range of a dim that is cut, or all of it."""
    if not layout.is_cut(dim):
        return layout.is_replicated
    return not any(layout.is_strided(d) for d in range(layout.ndim))


def _own_range(layout: _C.Layout, dim: int) -> tuple[int, int]:
    """Return the first row of this rank's part, and the one after its last."""
    start, count = (spans(layout, dim) or [(0, 0)])[0]
    return start, start + count


def _part_by_part(
    x: _C.DTensor,
    dim: int,
    within: Callable[[int, int], Any],
    sign: int,
    edit: Callable[[Array, Any, int], Array],
) -> _C.DTensor:
    """Return a tensor of which each part has been edited by its rank.

    Parameters
    ----------
    within : callable
        ``within(start, stop)``: the edits between these rows of the dim.
    sign : {-1, 1}
        Whether an edit takes a row from a part, or gives it one.
    edit : callable
        ``edit(part, edits, start)``: the new part, whose first row was `start`.
    """
    own = parts_of(x.layout, dim) or ()
    to = resized(x.layout, dim, [n + sign * len(within(a, a + n)) for a, n in own])
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    start, stop = _own_range(x.layout, dim)
    here = within(start, stop)
    return make(edit(local(x), here, start) if len(here) else local(x).copy(), to)


# --- deleting -------------------------------------------------------------------------

Rows = range | npt.NDArray[np.int64]  # rising, each once


def _rows_of(obj: Any, length: int) -> Rows | None:
    """Return which rows are to be deleted; None if NumPy's errors are to be found."""
    if isinstance(obj, slice):
        found = range(length)[obj]
        return found if found.step > 0 else found[::-1]
    if not isinstance(obj, np.ndarray):
        obj = np.asarray(obj, None if np.size(obj) else np.intp)
    if obj.dtype == bool and obj.shape == (length,):
        return np.flatnonzero(obj)
    return np.unique(from_zero(obj, length)) if _is_within(obj, length, 0) else None


def _is_within(index: Array, length: int, beyond: int) -> bool:
    """Return whether an array has indices of rows, or of so many after the last."""
    if index.dtype.kind not in "iu":
        return False
    least, most = (index.min(), index.max()) if index.size else (0, -1)
    return bool(-length <= least and most < length + beyond)


def _delete_back(grad: Any, out: Any, x: Any, gone: Rows, dim: int) -> Any:
    kept = np.delete(np.arange(x.shape[dim]), gone)
    return back(grad, out, x, (*(ALL,) * dim, kept))


@one_step("delete", _delete_back)
def _without(x: _C.DTensor, gone: Rows, dim: int) -> _C.DTensor:
    """Return a tensor without some rows of a dim: of each part what is left of it."""

    def within(start: int, stop: int) -> Rows:
        return gone[bisect_left(gone, start) : bisect_left(gone, stop)]

    def left(part: Array, here: Rows, start: int) -> Array:
        if isinstance(here, range):
            gone_here = slice(here.start - start, here.stop - start, here.step)
            return np.delete(part, gone_here, dim)
        return np.delete(part, here - start, dim)

    return _part_by_part(x, dim, within, -1, left)


@composed(np.delete)
def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """Return an array without some slices along a dim.

    Parameters
    ----------
    arr : array_like
        The source; where it is cut the result is, and nothing of it is moved.
    obj : int, slice, or array_like of int or bool
        The slices to delete.
    axis : int, optional
        The dim; default: `arr` as if it had one.
    """
    arr, obj, dim = _along("delete", arr, obj, axis, None)
    gone = _rows_of(obj, arr.shape[dim])
    if gone is not None and _in_ranges(arr.layout, dim):
        return _without(arr, gone, dim)
    numbers = np.arange(arr.shape[dim]).reshape((1,) * dim + (-1,))
    return take(arr, np.delete(numbers, obj, dim).ravel(), dim)


# --- inserting ------------------------------------------------------------------------


def _source(at: Array) -> Array:
    """Return the rows whose parts get new rows: those before the new ones."""
    before: Array = np.maximum(at - 1, 0)
    return before


def _spread_back(grad: Any, out: Any, x: Any, at: Array, dim: int) -> Any:
    numbers = np.insert(np.arange(x.shape[dim]), at, _source(at))
    return back(grad, out, x, (*(ALL,) * dim, numbers))


@one_step("insert", _spread_back)
def _spread(x: _C.DTensor, at: Array, dim: int) -> _C.DTensor:
    """Return a tensor with room for new rows before those with rising indices; where
    the new ones are, the gradient is that of the row before."""
    source = _source(at)

    def within(start: int, stop: int) -> Array:
        return at[bisect_left(source, start) : bisect_left(source, stop)]

    def wider(part: Array, here: Array, start: int) -> Array:
        return np.insert(part, here - start, 0, dim)

    return _part_by_part(x, dim, within, 1, wider)


@composed(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Return an array with values put between its slices along a dim.

    Parameters
    ----------
    arr : array_like
        The source; where it is cut the result is, and nothing of it is moved.
    obj : int, slice, or array_like of int or bool
        Before which slices.
    values : array_like
        What is put there, cast to the dtype of `arr`.
    axis : int, optional
        The dim; default: `arr` as if it had one.
    """
    arr, obj, dim = _along("insert", arr, obj, axis, values)
    length = arr.shape[dim]
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(length), dtype=np.intp)
    elif not isinstance(obj, np.ndarray):
        obj = np.asarray(obj, None if np.size(obj) else np.intp)
    obj = as_int64(obj) if obj.dtype.kind in "iu" else obj  # NumPy adds to it
    values = converted("x[rows]", arr.dtype, values)
    count = obj.sum() if obj.dtype == bool else obj.size
    alone = count == 1
    if alone:
        values = on_mesh(values, arr.device_mesh)
        values = getitem(values, (None,) * max(0, arr.ndim - values.ndim) + (...,))
        values = np.moveaxis(values, 0, dim) if obj.ndim == 0 else values
        count = values.shape[dim]
    known = length and obj.ndim < 2 and _is_within(obj, length, 1)
    if known and _in_ranges(arr.layout, dim):
        at = from_zero(obj.ravel(), length)
        at = np.broadcast_to(at, count) if alone else at
        order = np.argsort(at, kind="stable")
        result = _spread(arr, at[order], dim)
        places = np.empty(count, np.intp)
        places[order] = at[order] + np.arange(count)
    else:
        result, places = _spread_by_index(arr, obj, count, dim)
    key = slice(places[0], places[0] + count) if alone and count else places
    setitem(result, (ALL,) * dim + (key,), values)
    return result


def _spread_by_index(arr: Any, obj: Any, count: int, dim: int) -> tuple[Any, Array]:
    """Return an array with room for as many new rows, and where these are. The errors
    are NumPy's."""
    lead, length = (1,) * dim, arr.shape[dim]
    old = np.full((*lead, length), -1)
    numbers = np.arange(count).reshape((*lead, -1) if obj.ndim else (-1, *lead))
    new = np.insert(old, obj, numbers, dim).ravel()
    if length:
        result = take(arr, np.maximum(np.cumsum(new < 0) - 1, 0), dim)
    else:
        shape = (*arr.shape[:dim], count, *arr.shape[dim + 1 :])
        result = np.zeros_like(arr, shape=shape)
    (found,) = (new >= 0).nonzero()
    places = np.empty(count, np.intp)
    places[new[found]] = found
    return result, places


# --- others ---------------------------------------------------------------------------

_COPIES = 64  # at most that are joined, each rank getting its part; of more all get all


@composed(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return a copy of the elements in a new shape, repeated if there are too few.

    Parameters
    ----------
    a : DTensor
        The source.
    new_shape : int or tuple of int
    """
    shape = tuple(new_shape) if np.iterable(new_shape) else (new_shape,)
    shape = tuple(map(as_python_int, shape))
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = math.prod(shape)
    if a.size == 0:
        return np.zeros_like(a, shape=shape)
    flat = ravel(a)
    if size <= a.size:
        return copy(reshape(getitem(flat, slice(size)), shape))
    copies, rest = divmod(size, a.size)
    if copies <= _COPIES:
        return reshape(concatenate([flat] * copies + [flat[:rest]]), shape)
    return reshape(take(flat, np.resize(np.arange(a.size), size)), shape)


@composed(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """Return an array without the zeros at its ends. Collective.

    Parameters
    ----------
    filt : DTensor
        The source.
    trim : {"fb", "f", "b"}
        Whether to trim at the front, at the back or both.
    axis : int or sequence of int, optional
        Along which dims; default: all.
    """
    ends = trim.lower()
    if ends not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {ends!r}")
    every = range(filt.ndim)
    axes = every if axis is None else normalize_axis_tuple(axis, filt.ndim, "axis")
    if not axes:
        return filt
    index = [ALL] * filt.ndim
    for dim in axes:
        others = tuple(d for d in every if d != dim)
        (at,) = values_of("trim_zeros", np.any(filt, axis=others)).nonzero()
        if not at.size:
            index[dim] = slice(0)
            continue
        first, last = int(at[0]), int(at[-1]) + 1
        index[dim] = slice(first if "f" in ends else 0, last if "b" in ends else None)
    return getitem(filt, tuple(index))
