"""Indexing several dims with arrays, some of them cut: each rank gives what it has.

If the arrays name elements in the order of the parts, the result is cut, and nothing is
sent. Otherwise every rank has an addend of the result: the elements that it holds, and
-0.0 for the others, which added to any number is that number.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import settled
from dtensor.ops._make.parts import (
    find,
    from_zero,
    inside,
    local,
    make,
    move,
    values_of,
)
from dtensor.ops.index.ordered import taken
from dtensor.ops.index.pick import (
    Picked,
    everywhere,
    in_words,
    is_rising,
    owners,
    rows,
    select,
    words_of,
)
from dtensor.ops.index.terms import refuse

__all__ = ["picked"]

Array = npt.NDArray[Any]


def picked(x: _C.DTensor, index: Sequence[Any]) -> _C.DTensor:
    """Return ``x[index]`` for an index with arrays of integers.

    Parameters
    ----------
    x : DTensor
        The array.
    index : sequence
        A whole slice, 0, or an array of integers (an ndarray or DTensor, in range) for
        each dim; also an Ellipsis that separates arrays with no dim between them.
    """
    arrays, keys, dim = in_words(index)
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        refuse(x.shape, x.dtype, index)
    if dim is not None:
        return rows(x, dim, arrays[0])
    return _pairs(x, keys, arrays)


def _pairs(x: _C.DTensor, keys: tuple[Any, ...], arrays: Sequence[Any]) -> _C.DTensor:
    """Return ``x[keys]``, where "array" in the keys stands for the next array.

    `x` is not gathered, unless the result is larger or it has strided parts. Arrays
    that are DTensors are made whole, but where the result is cut as they are.
    """
    words = words_of(keys, x.ndim, [a.shape for a in arrays])
    cut = [dim for dim in words.dims if x.layout.is_cut(dim)]
    shape = _shape(x, words, arrays)
    is_larger = math.prod(shape) >= x.numel()
    if not cut or is_larger or any(map(x.layout.is_strided, cut)):
        result: _C.DTensor = select(x, keys, list(arrays))
        return result
    ops = {p.reduce_op for p in x.placements if isinstance(p, _C.Partial)}
    if ops - {"sum"}:
        x = settled("getitem", x)
    counts = _rising(x, words, keys, arrays, cut, shape)
    if counts is not None:
        return _in_order(x, words, keys, arrays, shape, counts)
    return _in_addends(x, words, keys, arrays, shape)


def _rising(
    x: _C.DTensor,
    words: Picked,
    keys: tuple[Any, ...],
    arrays: Sequence[Any],
    cut: Sequence[int],
    shape: Sequence[int],
) -> Array | None:
    """Return how many elements are picked from each part of the dim that is cut, if the
    arrays name them in the order of the parts; else None."""
    kinds = [k for k in keys if k is not ...]
    if len(cut) > 1 or kinds[cut[0]] != "array" or any(a.ndim != 1 for a in arrays):
        return None
    length = shape[words.at]
    if any(isinstance(a, _C.DTensor) and a.shape[0] != length for a in arrays):
        return None
    known = everywhere(arrays[kinds[: cut[0]].count("array")])
    if known is None or known.size != length:
        return None
    found = owners(x.layout, cut[0], known)
    if found is None or not is_rising(*found[:2]):
        return None
    return found[2]


def _shape(x: _C.DTensor, words: Picked, arrays: Sequence[Any]) -> list[int]:
    """Return the shape of the result."""
    rest = [n for dim, n in enumerate(x.shape) if dim not in words.dims]
    picked = np.broadcast_shapes(*(a.shape for a in arrays))
    return [*rest[: words.at], *picked, *rest[words.at :]]


def _layout(
    x: _C.DTensor,
    words: Picked,
    shape: Sequence[int],
    cut: dict[int, _C.Placement],
    points: dict[int, Any],
    order: dict[int, Any],
) -> _C.Layout:
    """Return the layout of a result: dims that are not picked from stay cut, and what
    cuts the others has the placement given for them, by cut points and in an order."""
    rest = [dim for dim in range(x.ndim) if dim not in words.dims]
    new = len(shape) - len(rest)
    places = {dim: k + new * (k >= words.at) for k, dim in enumerate(rest)}
    alike = x.layout.like(shape, places, partial=True)
    placements = [
        q
        if p._cut_dim is None or p._cut_dim in places
        else cut.get(p._cut_dim, _C.Replicate())
        for p, q in zip(x.placements, alike.placements, strict=True)
    ]
    return _C.Layout(
        x.device_mesh,
        placements,
        shape,
        x.dtype,
        shard_order=(dict(alike.shard_order) | order) or None,
        cuts=((alike.cuts or {}) | points) or None,
    )


# --- in the order of the parts --------------------------------------------------------


def _in_order(
    x: _C.DTensor,
    words: Picked,
    keys: tuple[Any, ...],
    arrays: Sequence[Any],
    shape: Sequence[int],
    counts: Array,
) -> _C.DTensor:
    (dim,) = (d for d in words.dims if x.layout.is_cut(d))
    points = {words.at: (0, *np.cumsum(counts).tolist())}
    orders = dict(x.layout.shard_order)
    order = {words.at: orders[dim]} if dim in orders else {}
    layout = _layout(x, words, shape, {dim: _C.Shard(words.at)}, points, order)
    # The arrays are cut as the result is.
    line = layout.like((shape[words.at],), {words.at: 0}, np.intp)
    held = [
        move("getitem", a, line.with_dtype(a.dtype)) if isinstance(a, _C.DTensor) else a
        for a in arrays
    ]
    if is_meta(x):
        return _C.without_data(layout)
    if not inside(layout):
        return make((), layout)
    ((start,), (count,)) = line.boxes()[0]
    short = [a.shape[0] < layout.shape[words.at] for a in held]  # of one element
    mine = [
        local(a)
        if isinstance(a, _C.DTensor)
        else a
        if one
        else a[start : start + count]
        for a, one in zip(held, short, strict=True)
    ]
    waiting = iter(mine)
    index = [next(waiting) if key == "array" else key for key in keys]
    place = [k for k, key in enumerate(index) if key is not ...][dim]
    wanted = from_zero(index[place], x.shape[dim])
    index[place] = find(x.layout, dim, wanted)[0]
    return make(taken(local(x), tuple(index), _C.is_torch(x)), layout)


# --- in any order ---------------------------------------------------------------------


def _in_addends(
    x: _C.DTensor,
    words: Picked,
    keys: tuple[Any, ...],
    arrays: Sequence[Any],
    shape: Sequence[int],
) -> _C.DTensor:
    every = [values_of("getitem", a) for a in arrays]
    cut: dict[int, _C.Placement] = dict.fromkeys(words.dims, _C.Partial("sum"))
    layout = _layout(x, words, shape, cut, {}, {})
    if x.dtype == bool:
        layout = layout.with_dtype(np.uint8)
    if is_meta(x):
        return _C.without_data(layout.with_dtype(x.dtype))
    addend: Any = np.empty(0, layout.dtype)
    if inside(layout):
        addend = _addend(x, words, keys, every, layout)
    result = make(addend, layout)
    if x.dtype != bool:
        return result
    result = settled("getitem", result)
    return make(local(result).view(bool), result.layout.with_dtype(bool))


def _addend(
    x: _C.DTensor,
    words: Picked,
    keys: tuple[Any, ...],
    arrays: Sequence[Array],
    layout: _C.Layout,
) -> Array:
    """Return the elements that this rank holds, -0.0 in the places of the others."""
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    here = np.ones(shape, bool)
    waiting, dims = iter(arrays), iter(range(x.ndim))
    index: list[Any] = []
    for key in keys:
        dim = -1 if key is ... else next(dims)
        if isinstance(key, str):
            wanted = from_zero(next(waiting), x.shape[dim])
            where, held = find(x.layout, dim, wanted)
            here &= held
            index.append(np.broadcast_to(where, shape))
        elif key == 0 and dim in words.dims:
            where, held = find(x.layout, dim, np.zeros(shape, np.int64))
            here &= held
            index.append(where)
        else:
            index.append(key)
    found = [k[here] if isinstance(k, np.ndarray) else k for k in index]
    kind = x.dtype.kind
    neutral = complex(-0.0, -0.0) if kind == "c" else -0.0 if kind in "fV" else 0
    result = np.full(layout.local_shape(), neutral, layout.dtype)
    at = words.at
    rest = result.shape[at + len(shape) :]
    lines = result.reshape(*result.shape[:at], math.prod(shape), *rest)
    lines[(slice(None),) * at + (np.flatnonzero(here),)] = local(x)[tuple(found)]
    return result
