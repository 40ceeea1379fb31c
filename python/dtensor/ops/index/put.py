"""In-place writing by index, by mask and along dims: put, place, copyto, ..."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor._core.nested import mapped
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import array_of, composite
from dtensor.ops._make.known import ndim, shape, size
from dtensor.ops._make.operator import implements, method
from dtensor.ops._make.parts import alone, find, from_zero, inside, local, values_of
from dtensor.ops._make.words import hollow
from dtensor.ops.index.take import check_along, flat_index
from dtensor.ops.index.terms import checked_index
from dtensor.ops.index.write import setitem, writing
from dtensor.ops.index.written import brought

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
F = TypeVar("F", bound=Callable[..., Any])


def _at_once(function: Callable[..., None]) -> Callable[[F], F]:
    """Let NumPy's function write into an array that one rank has, if there is nothing
    to record."""

    def register(answer: F) -> F:
        @functools.wraps(answer)
        def either(a: Any, *args: Any, **options: Any) -> None:
            others = [x for x in (*args, *options.values()) if isinstance(x, _C.Tensor)]
            if not all(map(_is_alone, [a, *others])) or not local(a).flags.writeable:
                answer(a, *args, **options)
                return
            bare, named = mapped((args, options), _C.DTensor, local)
            function(local(a), *bare, **named)
            _C.written(a, function.__name__, *args)

        return cast(F, either)

    return register


def _is_alone(x: Any) -> bool:
    """Return whether this rank has all of a tensor without a gradient."""
    if not isinstance(x, _C.DTensor) or (x.requires_grad and _C.is_grad_enabled()):
        return False
    return alone(x.layout) and not x.layout.is_partial and not is_meta(x)


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


def _numbered(name: str, a: Any, at: Array, values: Any) -> None:
    """Write the values, in turn, to the elements with these flat indices."""
    if not at.size or not size(values):
        return
    recorded = isinstance(values, _C.Tensor) and values.requires_grad
    values = values if recorded else _known(name, values, a)
    if size(values) == 1:
        values = np.reshape(values, ())
    elif recorded:
        flat = np.ravel(values)
        values = flat[np.arange(at.size) % len(flat)]
    else:
        values = _in_turn(values, at.size)
    setitem(a, at if a.ndim == 1 else np.unravel_index(at, a.shape), values)


def _in_turn(values: Array, count: int) -> Array:
    """Return so many elements of an array, from its begin again after its end."""
    return np.tile(values.ravel(), -(-count // values.size))[:count]


def _is_plain_write(a: Any, index: Any, values: Any) -> bool:
    """Return whether ``a[index] = values`` writes the same: `index` may stay cut."""
    return (
        isinstance(index, _C.DTensor)
        and isinstance(a, _C.DTensor)
        and index.dtype.kind in "iu"
        and a.ndim == 1
        and shape(values) in ((), tuple(index.shape))
    )


def _known(name: str, x: Any, a: Any) -> Array:
    """Return the values of another array argument, gathered."""
    spread = isinstance(a, _C.DTensor) or isinstance(x, _C.DTensor)
    x = x.detach() if isinstance(x, _C.Tensor) else x
    return values_of(name, x) if spread else np.asarray(x)


def _whole(name: str, *others: Any) -> tuple[Any, ...]:
    """Return the arguments for writing into a plain array: tensors as arrays."""
    return tuple(_known(name, x, x) if isinstance(x, _C.Tensor) else x for x in others)


@method
@implements(np.put)
@_at_once(np.put)
@composite
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Set elements by their indices in the flattened array.

    Parameters
    ----------
    a : DTensor
        The array to write to; each rank writes the elements that it holds.
    ind : array_like of int
        Indices of the elements.
    v : array_like
        The values, used in turn and repeated if there are too few.
    mode : {"raise", "wrap", "clip"}
        How to treat indices out of range.
    """
    if not isinstance(a, _C.Tensor):
        ind, v = _whole("put", ind, v)
        np.put(a, ind, v, mode)
        return
    if mode == "raise" and _is_plain_write(a, ind, v):
        setitem(a, ind, v)
        return
    known, length = _known("put", ind, a).ravel().astype(np.intp), int(a.size)
    if mode == "raise" and length:
        at = from_zero(checked_index("put", known, (length,), 0), length)
    else:
        at = flat_index(known, length, mode)
    _numbered("put", a, at, v)


@implements(np.place)
@_at_once(np.place)
@composite
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements for which a mask is true to values, which are used in turn.

    Parameters
    ----------
    arr : DTensor
        What is written into.
    mask : array_like
        As many booleans as `arr` has elements.
    vals : array_like
        The values; repeated if there are too few.
    """
    if not isinstance(arr, _C.Tensor):
        np.place(arr, *_whole("place", mask, vals))
        return
    if size(mask) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if size(vals) == 1:
        putmask(arr, mask, vals)
        return
    chosen = np.flatnonzero(_known("place", mask, arr))
    if chosen.size and not size(vals):
        raise ValueError("Cannot insert from an empty array!")
    _numbered("place", arr, chosen, vals)


@implements(np.putmask)
@_at_once(np.putmask)
@composite
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set the elements for which a mask is true to those of `values` at the same place.

    Parameters
    ----------
    a : DTensor
        What is written into.
    mask : array_like
        As many booleans as `a` has elements.
    values : array_like
        Of the shape of `a`, or repeated to its size.
    """
    if not isinstance(a, _C.Tensor):
        np.putmask(a, *_whole("putmask", mask, values))
        return
    if size(mask) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    if size(values) == 1:
        values = np.reshape(values, ())
    elif size(values) and not isinstance(values, _C.Tensor):
        values = _in_turn(np.asarray(values), a.size).reshape(a.shape)
    if shape(mask) == a.shape and shape(values) in (a.shape, ()):
        copyto(a, values, "unsafe", array_of(mask) != 0)
        return
    chosen = np.flatnonzero(_known("putmask", mask, a))
    if chosen.size and size(values):
        given = np.ravel(values)
        _numbered("putmask", a, chosen, given[chosen % len(given)])


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
        src, where = _whole("copyto", src, where)
        np.copyto(dst, src, casting, where)
        return
    if dst.device == "meta":
        return
    if isinstance(src, bool | int | float | complex):
        np.copyto(np.empty((), dst.dtype), src, casting)
    else:
        np.copyto(np.empty(0, dst.dtype), np.empty(0, array_of(src).dtype), casting)
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
            value, mask = _whole("copyto", src, where)
            np.copyto(array, value, casting, mask)

    _recorded("copyto", dst, src, write, back)


def _copy_where(dst: _C.DTensor, src: Any, where: Any) -> None:
    """Copy, on each rank, the elements that it holds and where `where` is true."""
    settled = dst.layout.like(dst.shape, {d: d for d in range(dst.ndim)}, bool)
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


@implements(np.fill_diagonal)
@_at_once(np.fill_diagonal)
@composite
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the elements whose indices are all equal.

    Parameters
    ----------
    a : DTensor
        The array to write to, with two dims, or more of equal length.
    val : array_like
        The values, used in turn.
    wrap : bool, default False
        Whether the diagonal of a tall matrix starts again below its end.
    """
    if not isinstance(a, _C.Tensor):
        (val,) = _whole("fill_diagonal", val)
        np.fill_diagonal(a, val, wrap)
        return
    if a.ndim < 2 or a.ndim > 2 and len(set(a.shape)) > 1:
        np.fill_diagonal(np.empty(a.shape[:1] + (0,) * (a.ndim - 1)), 0)  # raises
    step = 1 + int(np.cumprod(a.shape[1:]).sum())
    end = a.size if wrap or a.ndim > 2 else min(a.size, a.shape[1] ** 2)
    _numbered("fill_diagonal", a, np.arange(0, end, step), val)


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
        indices, values = _whole("put_along_axis", indices, values)
        np.put_along_axis(arr, indices, values, axis)
        return
    if axis is None:
        if ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        at = _known("put_along_axis", indices, arr)
        known = flat_index(at, int(arr.size), "raise")
        setitem(arr, np.unravel_index(known, arr.shape), values)
        return
    if not (isinstance(arr, _C.DTensor) and isinstance(indices, _C.DTensor)):
        indices = _known("put_along_axis", indices, arr)
    values = values if isinstance(values, _C.Tensor) else np.asarray(values)
    check_along(arr.shape, indices, axis)
    dim = normalize_axis_index(axis, arr.ndim)
    indices = checked_index("put_along_axis", indices, arr.shape, dim)

    def back(grad: Any) -> tuple[Any, Any]:
        rest = np.copy(grad)
        put_along_axis(rest, indices, 0, dim)
        return rest, np.take_along_axis(grad, indices, dim)

    def write() -> None:
        if isinstance(arr, _C.DTensor):
            _put_along(arr, indices, values, dim)
        else:
            given = _known("put_along_axis", values, arr)
            np.put_along_axis(np.asarray(arr.detach()), indices, given, dim)

    _recorded("put_along_axis", arr, values, write, back)


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
