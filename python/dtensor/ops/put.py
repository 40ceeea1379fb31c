"""Writing by number, by mask and along dims: put and its kin. All are in place."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from dtensor import _C
from dtensor.ops._index import checked_index
from dtensor.ops._operator import method
from dtensor.ops._parts import aligned, find, inside, local, values_of
from dtensor.ops._words import hollow
from dtensor.ops.fallback import composed
from dtensor.ops.index_write import brought, setitem
from dtensor.ops.known import ndim, shape, size
from dtensor.ops.take import check_along, flat_index

__all__ = [
    "copyto",
    "fill",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
]

Array = npt.NDArray[Any]


def _numbered(a: _C.DTensor, at: Array, values: Array) -> None:
    """Write to the elements that have these numbers, the values in turn."""
    if at.size and values.size:
        values = np.resize(values, at.shape)
        setitem(a, np.unravel_index(at, a.shape), values)


def _whole(name: str, a: Any, *others: Any) -> tuple[bool, tuple[Any, ...]]:
    """Return whether `a` is a DTensor; if it is not, the others as whole arrays."""
    if isinstance(a, _C.DTensor):
        return True, others
    return False, tuple(
        values_of(name, x) if isinstance(x, _C.DTensor) else x for x in others
    )


@method
@composed(np.put)
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Set elements by their numbers in the flattened array.

    Parameters
    ----------
    a : DTensor
        What is written into; each rank writes what it holds.
    ind : array_like of int
        Which elements.
    v : array_like
        The values, taken in turn and again from the start.
    mode : {"raise", "wrap", "clip"}
        What to do with numbers that are out of range.
    """
    spread, (ind, v) = _whole("put", a, ind, v)
    if not spread:
        np.put(np.asarray(a), ind, v, mode)
        return
    known = values_of("put", ind).ravel().astype(np.intp)
    _numbered(a, flat_index(known, a.size, mode), values_of("put", v).ravel())


@composed(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements for which a mask holds to values, which are taken in turn.

    Parameters
    ----------
    arr : DTensor
        What is written into.
    mask : array_like
        As many booleans as `arr` has elements.
    vals : array_like
        The values; again from the start if there are too few.
    """
    spread, (mask, vals) = _whole("place", arr, mask, vals)
    if not spread:
        np.place(np.asarray(arr), mask, vals)
        return
    if size(mask) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    chosen = np.flatnonzero(values_of("place", mask))
    values = values_of("place", vals).ravel()
    if chosen.size and not values.size:
        raise ValueError("Cannot insert from an empty array!")
    _numbered(arr, chosen, values)


@composed(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set the elements for which a mask holds to those of `values` in the same place.

    Parameters
    ----------
    a : DTensor
        What is written into.
    mask : array_like
        As many booleans as `a` has elements.
    values : array_like
        Of the shape of `a`, or repeated to its size.
    """
    spread, (mask, values) = _whole("putmask", a, mask, values)
    if not spread:
        np.putmask(np.asarray(a), mask, values)
        return
    if size(mask) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if shape(mask) == a.shape and shape(values) in (a.shape, ()):
        _copy_where(a, values, mask)
        return
    chosen = np.flatnonzero(values_of("putmask", mask))
    given = values_of("putmask", values).ravel()
    if given.size:
        _numbered(a, chosen, given[chosen % given.size])


@composed(np.copyto)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Copy the elements of one array into another, which may have another layout.

    Parameters
    ----------
    dst : DTensor or array
        What is written into.
    src : array_like
        Broadcast to the shape of `dst`.
    casting : str
        Which casts are allowed.
    where : array_like of bool, default True
        Which elements are written.
    """
    spread, (src, where) = _whole("copyto", dst, src, where)
    if not spread:
        np.copyto(np.asarray(dst), src, casting, where)
        return
    if isinstance(src, bool | int | float | complex):
        np.copyto(np.empty((), dst.dtype), src, casting)
    else:
        dtype = src.dtype if hasattr(src, "dtype") else np.asarray(src).dtype
        np.copyto(np.empty(0, dst.dtype), np.empty(0, dtype), casting)
    if where is True:
        setitem(dst, ..., src)
    else:
        _copy_where(dst, src, where)


def _copy_where(dst: _C.DTensor, src: Any, where: Any) -> None:
    """Copy on each rank the elements that it holds and `where` is true for."""
    settled = aligned(dst.layout, dst.shape, {d: d for d in range(dst.ndim)}, bool)
    parts = []
    for value, layout in ((src, dst.layout), (where, settled)):
        if not isinstance(value, _C.DTensor):
            value = np.asarray(value)
        while value.ndim > dst.ndim and value.shape[0] == 1:
            value = value[0]
        if np.broadcast_shapes(value.shape, dst.shape) != dst.shape:
            np.copyto(np.empty(dst.shape, bool), hollow(value.shape))  # raises
        first = dst.ndim - value.ndim
        dims = {d: d - first for d in range(first, dst.ndim)}
        parts.append(brought(value, layout, dims, dst.dtype))
    if inside(dst.layout):
        source, chosen = parts
        np.copyto(local(dst), source, "unsafe", where=chosen.astype(bool))


@method
def fill(x: Any, value: Any) -> None:
    """Set all elements to one number.

    Parameters
    ----------
    x : DTensor or Tensor
        What is written into.
    value : number
        Cast to the dtype of `x`.
    """
    one = np.empty((), x.dtype)
    one.fill(value.item() if isinstance(value, _C.Tensor) else value)
    setitem(x, ..., one)


@composed(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the elements whose indices are all equal.

    Parameters
    ----------
    a : DTensor
        What is written into: of two dims, or of more that are equally long.
    val : array_like
        The values, taken in turn.
    wrap : bool, default False
        Whether the diagonal of a tall matrix starts again below.
    """
    spread, (val,) = _whole("fill_diagonal", a, val)
    if not spread:
        np.fill_diagonal(np.asarray(a), val, wrap)
        return
    if a.ndim < 2 or a.ndim > 2 and len(set(a.shape)) > 1:
        np.fill_diagonal(np.empty(a.shape[:1] + (0,) * (a.ndim - 1)), 0)  # raises
    if a.ndim == 2:
        step = a.shape[1] + 1
    else:
        step = 1 + int(np.cumprod(a.shape[:-1]).sum())
    end = a.size if wrap or a.ndim > 2 else min(a.size, a.shape[1] ** 2)
    _numbered(a, np.arange(0, end, step), values_of("fill_diagonal", val).ravel())


@composed(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Set one element along a dim for each element of `indices`.

    Parameters
    ----------
    arr : DTensor
        What is written into.
    indices : array_like of int
        Of as many dims, broadcast against `arr` but along `axis`.
    values : array_like
        Broadcast to the shape of `indices`.
    axis : int or None
        The dim; None: of the flattened `arr`, by `indices` of one dim.
    """
    spread, (indices, values) = _whole("put_along_axis", arr, indices, values)
    if not spread:
        np.put_along_axis(np.asarray(arr), indices, values, axis)
        return
    if axis is None:
        if ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        known = flat_index(values_of("put_along_axis", indices), arr.size, "raise")
        given = values_of("put_along_axis", values)
        setitem(arr, np.unravel_index(known, arr.shape), given)
        return
    indices = indices if isinstance(indices, _C.DTensor) else np.asarray(indices)
    values = values if isinstance(values, _C.DTensor) else np.asarray(values)
    check_along(arr.shape, indices, axis)
    dim = normalize_axis_index(axis, arr.ndim)
    indices = checked_index("put_along_axis", indices, arr.shape, dim)
    _put_along(arr, indices, values, dim)


def _put_along(arr: _C.DTensor, indices: Any, values: Any, dim: int) -> None:
    """Write on each rank what it holds, with the other dims of all cut alike."""
    layout = arr.layout
    dims = {d: d for d in range(arr.ndim) if d != dim}
    settled = aligned(layout, arr.shape, {d: d for d in range(arr.ndim)}, bool)
    index = brought(indices, settled, dims, indices.dtype)
    first = arr.ndim - values.ndim
    dims = {d: d - first for d in dims if d >= first}
    value = brought(values, layout, dims, arr.dtype)
    if not inside(layout):
        return
    index = np.where(index < 0, index + arr.shape[dim], index).astype(np.intp)
    at, mine = find(layout, dim, index)
    here = local(arr)
    grid = list(np.ogrid[tuple(slice(n) for n in here.shape)])
    grid[dim] = at
    *grid, mine, value = np.broadcast_arrays(*grid, mine, value)
    here[tuple(g[mine] for g in grid)] = value[mine]
