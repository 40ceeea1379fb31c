"""Inserting and deleting elements: delete, insert, resize and trim_zeros.

Every rank knows which ones, so the other elements stay on the ranks that hold them."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index, normalize_axis_tuple
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh
from dtensor.ops._make.parts import values_of
from dtensor.ops.index.read import getitem
from dtensor.ops.index.take import take
from dtensor.ops.index.write import setitem
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
    numbers = np.arange(arr.shape[dim]).reshape((1,) * dim + (-1,))
    return take(arr, np.delete(numbers, obj, dim).ravel(), dim)


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
    count = obj.sum() if obj.dtype == bool else obj.size
    alone = count == 1
    if alone:
        values = on_mesh(values, arr.device_mesh)
        values = getitem(values, (None,) * max(0, arr.ndim - values.ndim) + (...,))
        values = np.moveaxis(values, 0, dim) if obj.ndim == 0 else values
        count = values.shape[dim]
    lead = (1,) * dim
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
    key = slice(places[0], places[0] + count) if alone and count else places
    setitem(result, (ALL,) * dim + (key,), values)
    return result


_COPIES = 64  # at most that are joined, each rank getting its part; of more all get all


@composed(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """Return the elements in a new shape, repeated if there are too few.

    Parameters
    ----------
    a : DTensor
        The source.
    new_shape : int or tuple of int
    """
    shape = tuple(new_shape) if np.iterable(new_shape) else (new_shape,)
    if any(n < 0 for n in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    size = math.prod(shape)
    if 0 in (a.size, size):
        return np.zeros_like(a, shape=shape)
    flat = ravel(a)
    if size <= a.size:
        return reshape(getitem(flat, slice(size)), shape)
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
