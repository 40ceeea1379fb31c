"""In-place writing of arrays that lie as the target does: copyto, put_along_axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import array_of, composite
from dtensor.ops._make.known import ndim
from dtensor.ops._make.operator import implements, method
from dtensor.ops._make.parts import alone, find, from_zero, inside, local
from dtensor.ops._make.words import hollow
from dtensor.ops.index.take import check_along, flat_index
from dtensor.ops.index.terms import checked_index
from dtensor.ops.index.values import converted, known, known_all
from dtensor.ops.index.write import setitem, writing
from dtensor.ops.index.written import PICK, brought, shown

__all__ = ["copyto", "fill", "put_along_axis"]


def _recorded(
    name: str, a: Any, values: Any, write: Callable[[], None], back: Callable[..., Any]
) -> None:
    """Write into a tensor, and record how the gradients of its old elements and of the
    values follow from the gradient of the new elements."""
    inputs = (a, values)
    wanted = [isinstance(x, _C.Tensor) and x.requires_grad for x in inputs]
    if not (_C.is_grad_enabled() and any(wanted)):
        with writing(a):
            write()
        _C.written(a, name, values, back)
        return
    _C.check_write(name, a, inputs)
    with writing(a):
        before = _C.set_recording(False)
        try:
            write()
        finally:
            _C.set_recording(before)
        _C.record_write(name, back, inputs, back)


@implements(np.copyto)
@composite
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
    if not isinstance(dst, _C.Tensor):
        src, where = known_all("copyto", src, where)
        np.copyto(dst, src, casting, where)
        return
    if dst.device == "meta" and where is not True:
        return
    if isinstance(src, bool | int | float | complex):
        number = np.empty((), dst.dtype)
        np.copyto(number, src, casting)
        src = number
    else:  # lists get a dtype of their own, in which numbers may be rounded
        src = src if isinstance(src, _C.Tensor) else np.asarray(src)
        np.copyto(np.empty(0, dst.dtype), np.empty(0, src.dtype), casting)
    if where is True:
        setitem(dst, ..., src)
        return
    where = array_of(where)

    def back(grad: Any) -> tuple[Any, Any]:
        return np.where(where, 0, grad), np.where(where, grad, 0)

    def write() -> None:
        if isinstance(dst, _C.DTensor):
            _copy_where(dst, src, where)
        else:
            array = np.asarray(dst.detach())
            value, mask = known_all("copyto", src, where)
            np.copyto(array, value, casting, mask)

    _recorded("copyto", dst, src, write, back)


def _copy_where(dst: _C.DTensor, src: Any, where: Any) -> None:
    """Copy, on each rank, the elements that it holds and where `where` is true."""
    settled = dst.layout.like(dst.shape, {d: d for d in range(dst.ndim)}, bool)
    parts = []
    for value, layout in ((src, dst.layout), (where, settled)):
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


@implements(np.put_along_axis)
@composite
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Set one element along a dim for each element of `indices`.

    Parameters
    ----------
    arr : DTensor
        What is written into.
    indices : array_like of int
        With as many dims as `arr`; broadcast against it except along `axis`.
    values : array_like
        Broadcast to the shape of `indices`.
    axis : int or None
        The dim; None: the flattened `arr`, with `indices` of one dim.
    """
    if not isinstance(arr, _C.Tensor):
        indices, values = known_all("put_along_axis", indices, values)
        np.put_along_axis(arr, indices, values, axis)
        return
    if axis is None:
        if ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        at = known("put_along_axis", indices, arr)
        at = flat_index(at, int(arr.size), "raise")
        setitem(arr, np.unravel_index(at, arr.shape), values)
        return
    if not (isinstance(arr, _C.DTensor) and isinstance(indices, _C.DTensor)):
        indices = known("put_along_axis", indices, arr)
    values = converted("x[rows]", arr.dtype, values)
    check_along(arr.shape, indices, axis)
    dim = normalize_axis_index(axis, arr.ndim)
    indices = checked_index("put_along_axis", indices, arr.shape, dim)
    rest = (*arr.shape[:dim], 1, *arr.shape[dim + 1 :])
    result = np.broadcast_shapes(indices.shape, rest)
    if values.ndim <= arr.ndim and not _spreads(values.shape, result):
        raise ValueError(PICK.format(shown(values.shape), shown(result)))

    def back(grad: Any) -> tuple[Any, Any]:
        rest = np.copy(grad)
        put_along_axis(rest, indices, 0, dim)
        return rest, np.take_along_axis(grad, indices, dim)

    def write() -> None:
        if isinstance(arr, _C.DTensor):
            _put_along(arr, indices, values, dim)
        else:
            given = known("put_along_axis", values, arr)
            np.put_along_axis(np.asarray(arr.detach()), indices, given, dim)

    _recorded("put_along_axis", arr, values, write, back)


def _spreads(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether a shape can be broadcast to another one."""
    ends = zip(shape[::-1], to[::-1], strict=False)
    return all(n in (1, full) for n, full in ends)


def _put_along(arr: _C.DTensor, indices: Any, values: Any, dim: int) -> None:
    """Write, on each rank, its elements; the other dims of all arrays are cut alike."""
    layout = arr.layout
    dims = {d: d for d in range(arr.ndim) if d != dim}
    settled = layout.like(arr.shape, {d: d for d in range(arr.ndim)}, bool)
    index = brought(indices, settled, dims, indices.dtype)
    first = arr.ndim - values.ndim
    dims = {d: d - first for d in dims if d >= first}
    value = brought(values, layout, dims, arr.dtype)
    if not inside(layout):
        return
    if not layout.is_cut(dim) or alone(layout):
        np.put_along_axis(local(arr), index, value, dim)
        return
    at, mine = find(layout, dim, from_zero(index, arr.shape[dim]))
    here = local(arr)
    grid = list(np.ogrid[tuple(slice(n) for n in here.shape)])
    grid[dim] = at
    *grid, mine, value = np.broadcast_arrays(*grid, mine, value)
    here[tuple(g[mine] for g in grid)] = value[mine]
