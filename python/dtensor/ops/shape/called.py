"""Functions of the user's, called on lines and on chosen elements."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import as_dtype, settled, within
from dtensor.ops._make.fallback import composed, fallback, mesh_of, on_mesh
from dtensor.ops._make.parts import inside, local, make, move, other_dim, values_of
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.index.gradient import back
from dtensor.ops.index.read import getitem
from dtensor.ops.index.terms import parse
from dtensor.ops.index.values import converted
from dtensor.ops.index.write import setitem

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise"]

# --- lines ----------------------------------------------------------------------------


@composed(np.apply_along_axis, gradient=False)
def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> Any:
    """Call a function on each line of an array: see `numpy.apply_along_axis`.

    Collective. Lines that are cut become whole by an all_to_all with another dim; if no
    dim is long enough, each rank gets them all. Each rank calls the function on its
    lines, and one more time on the first line of all.

    Parameters
    ----------
    func1d : callable
        Of an array of one dim. It is to give the same on all ranks for the same line.
    axis : int
        Along which the lines are.
    arr : DTensor
    *args, **kwargs
        Further arguments of the function.

    Returns
    -------
    DTensor
        Dims that are no lines are cut as they were.
    """
    if not isinstance(arr, _C.DTensor):
        return fallback(np.apply_along_axis)((func1d, axis, arr, *args), kwargs)
    axis = normalize_axis_index(axis, arr.ndim)
    if 0 in (*arr.shape[:axis], *arr.shape[axis + 1 :]):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    x = _with_whole(settled("apply_along_axis", arr), axis)
    key = tuple(slice(None) if d == axis else 0 for d in range(x.ndim))
    first = values_of("apply_along_axis", getitem(x, key))
    part: Any = ()
    error, made = None, np.zeros(0)
    try:
        made = np.asanyarray(func1d(first, *args, **kwargs))
        if inside(x.layout) and local(x).size:
            own = local(x)
            part = np.apply_along_axis(func1d, axis, own, *args, **kwargs)
    except Exception as raised:
        error = raised
    world.current().agree(b"", "apply_along_axis", error, x.device_mesh)
    if error is not None:
        raise error
    shape = (*x.shape[:axis], *made.shape, *x.shape[axis + 1 :])
    places = {d: d for d in range(axis)}
    places |= {d: d - 1 + made.ndim for d in range(axis + 1, x.ndim)}
    to = x.layout.like(shape, places, made.dtype)
    if inside(to) and not local(x).size:
        part = np.empty(to.local_shape())
    with within("apply_along_axis", arr, axis):
        return make(np.asarray(part, to.dtype), to)


def _with_whole(x: _C.DTensor, axis: int) -> _C.DTensor:
    """Return a tensor whose lines are whole; what cuts them cuts another dim."""
    if not x.layout.is_cut(axis):
        return x
    other = other_dim(x.layout, axis, (d for d in range(x.ndim) if d != axis))
    to = x.layout.whole(axis)
    if other is not None and not any(map(x.layout.is_strided, range(x.ndim))):
        by = {*x.layout.cut_by(axis)}
        placements = [
            _C.Shard(other) if m in by else p for m, p in enumerate(x.placements)
        ]
        to = to.with_placements(placements)
    return move("apply_along_axis", x, to)


@composed(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Call a function of an array and an axis for one axis after the other: see
    `numpy.apply_over_axes`. What is sent is what the function sends."""
    for axis in np.atleast_1d(np.asarray(axes)).tolist():
        found = func(a, axis % a.ndim if axis < 0 else axis)
        if found.ndim != a.ndim:
            found = np.expand_dims(found, axis)
        if found.ndim != a.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        a = found
    return a


# --- chosen elements ------------------------------------------------------------------


@composed(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Call functions on the elements for which conditions are true.

    Nothing is sent if the conditions are cut as `x` is, but by the functions.

    Parameters
    ----------
    x : array_like
    condlist : list of array_like of bool, or one
        Of the shape of `x`, or of its first dims. The rows of one array of several dims
        are conditions.
    funclist : list of callable or number
        What is called on the elements for which a condition is true, or their value;
        one more is for all others. The last condition that is true counts. A function
        gets a DTensor of one dim.
    *args, **kw
        Further arguments of the functions.

    Returns
    -------
    DTensor
        Of the shape and dtype of `x`, cut as it is.
    """
    mesh = mesh_of((x, condlist))
    x = on_mesh(x, mesh)
    # As NumPy: the rows of an array of several dims are conditions.
    several = x.ndim == 0 and np.ndim(condlist) > 0
    if isinstance(condlist, list | tuple):
        several |= isinstance(condlist[0], list | np.ndarray | _C.Tensor)
    else:
        several |= np.ndim(condlist) > 1
    given = [condlist[k] for k in range(len(condlist))] if several else [condlist]
    masks = [as_dtype(on_mesh(c, mesh), np.dtype(bool)) for c in given]
    count = len(funclist)
    if len(masks) == count - 1:
        rest = masks[0]
        for mask in masks[1:]:
            rest = rest | mask
        masks.append(~rest)
    elif len(masks) != count:
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or "
            f"{len(masks) + 1} functions are expected"
        )
    for mask in masks:
        if mask.shape != x.shape[: mask.ndim]:
            parse("piecewise", x.shape, x.dtype, mask)  # raises
    result = np.zeros_like(x)
    for mask, function in zip(masks, funclist, strict=True):
        value, chosen = function, None
        if callable(function):
            chosen = getitem(x, mask)
            if not chosen.size:
                continue
            try:
                value = function(chosen, *args, **kw)
            except Exception:
                _C.call_failed("piecewise", (x,), {})
                raise
        value = as_dtype(converted("x[rows]", x.dtype, value), x.dtype)
        if chosen is not None and value.shape == chosen.shape:
            value = back(value, None, x, mask)
        elif value.ndim:
            setitem(result, mask, value)
            continue
        spread = getitem(mask, (..., *(None,) * (x.ndim - mask.ndim)))
        result = where_(spread, value, result)
    return result
