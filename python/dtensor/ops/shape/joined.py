"""Joining arrays along a cut dim: only elements whose rank changes are sent.

The result is cut in chunks by the same mesh dims. Each operand is moved to the layout
whose cut points are those of the result, relative to where the operand begins in it.
Then every rank has all elements of its part, and joins them.

    x of 4, y of 2 on two ranks     x: 0 1 | 2 3    y: 4 | 5
    result                          0 1 2 | 3 4 5
    so they are moved to            x: 0 1 2 | 3    y:   | 4 5
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.parts import (
    inside,
    key_of,
    local,
    make,
    move_all,
    ordered,
    parts_of,
    plain,
)
from dtensor.ops._make.words import Shape

__all__ = ["chunked", "joinable", "joined", "joined_layout", "rows_only"]


@lru_cache(256)
def joinable(layout: _C.Layout | None, dim: int) -> bool:
    """Return whether a dim exists and is cut in a way that this module supports."""
    if layout is None or dim >= layout.ndim:
        return False
    return layout.is_cut(dim) and _is_simple(layout)


@lru_cache(256)
def rows_only(layout: _C.Layout) -> bool:
    """Return whether no dim but the first is cut, so that parts are flat ranges."""
    return _is_simple(layout) and not any(
        layout.is_cut(dim) for dim in range(1, layout.ndim)
    )


def _is_simple(layout: _C.Layout) -> bool:
    strided = any(layout.is_strided(dim) for dim in range(layout.ndim))
    return not (strided or layout.is_partial)


@lru_cache(256)
def joined_layout(
    operands: tuple[_C.Layout | Shape, ...], dim: int, dtype: npt.DTypeLike
) -> _C.Layout | None:
    """Return the layout of the joined operands; None if it is not cut along `dim`.

    `dim` is cut as in the largest operand that is cut along it. All else is as in the
    largest operand, which comes first if they conflict.

    Parameters
    ----------
    operands : tuple of Layout or tuple of int
        The shape, for an operand that is not a DTensor.
    dim : int
        Along which they are joined.
    dtype : dtype_like
        Of the result.
    """
    layouts = [x for x in operands if isinstance(x, _C.Layout)]
    along = [x for x in layouts if x.is_cut(dim)]
    if not along or not all(map(_is_simple, layouts)):
        return None
    if any(x.mesh != along[0].mesh for x in layouts):
        return None
    shapes = [x.shape if isinstance(x, _C.Layout) else x for x in operands]
    if len({(*s[:dim], *s[dim + 1 :]) for s in shapes}) > 1:
        return None
    lead = max(along, key=lambda x: x.nbytes)
    others = [x for x in layouts if any(x.is_cut(d) for d in range(x.ndim))]
    model = max(others, key=lambda x: (x.nbytes, not x.is_cut(dim)))
    pairs = zip(model.placements, lead.placements, strict=True)
    placements = [_placement(p, q, dim) for p, q in pairs]
    orders = {d: order for d, order in model.shard_order if d != dim}
    order = [m for m in lead.cut_by(dim) if placements[m]._cut_dim == dim]
    cuts = {d: cut for d, cut in (model.cuts or {}).items() if d != dim}
    shape = list(model.shape)
    shape[dim] = sum(s[dim] for s in shapes)
    result = _C.Layout(
        model.mesh,
        placements,
        shape,
        dtype,
        shard_order={**orders, dim: order} if order else orders,
        cuts=cuts or None,
    )
    return result if result.is_cut(dim) else None


def _placement(model: _C.Placement, lead: _C.Placement, dim: int) -> _C.Placement:
    """Return the placement of the result on one mesh dim."""
    other = model._cut_dim
    if other not in (None, dim):
        return _C.Shard(other)
    cut = lead._cut_dim == dim
    return _C.Shard(dim) if cut else _C.Replicate()


def chunked(
    layout: _C.Layout, dim: int, length: int, cuts: Sequence[int] | None = None
) -> _C.Layout:
    """Return a layout in which one dim has another length and cut points.

    Parameters
    ----------
    layout : Layout
        The model, not strided.
    dim : int
        The dim.
    length : int
        How many elements it has.
    cuts : sequence of int, optional
        Where parts begin and end; default: chunks.
    """
    shape = list(layout.shape)
    shape[dim] = length
    every = {d: cut for d, cut in (layout.cuts or {}).items() if d != dim}
    if cuts is not None:
        every[dim] = tuple(cuts)
    return _C.Layout(
        layout.mesh,
        [p if p._cut_dim is None else _C.Shard(p._cut_dim) for p in layout.placements],
        shape,
        layout.dtype,
        shard_order=dict(layout.shard_order),
        cuts=every or None,
    )


@lru_cache(256)
def _windows(
    result: _C.Layout, dim: int, lengths: tuple[int, ...]
) -> tuple[_C.Layout, ...]:
    """Return the layouts to which operands move, so that nothing else is sent."""
    parts = parts_of(result, dim)
    assert parts is not None
    bounds = np.cumsum([0, *(count for _, count in parts)])
    begins = accumulate(lengths, initial=0)
    return tuple(
        chunked(result, dim, length, np.clip(bounds - begin, 0, length).tolist())
        for begin, length in zip(begins, lengths, strict=False)
    )


def joined(name: str, arrays: Sequence[Any], dim: int, to: _C.Layout) -> _C.DTensor:
    """Return arrays joined along a dim, as ``np.concatenate`` does.

    Parameters
    ----------
    name : str
        Of the operator.
    arrays : sequence of arrays
        DTensors on one mesh, none of them Partial or strided, and replicated arrays.
    dim : int
        The dim.
    to : Layout
        Of the result; not Partial or strided.
    """
    if to.mesh.world == 0:
        return _C.without_data(to)
    lengths = tuple(x.shape[dim] for x in arrays)
    windows = _windows(to, dim, lengths)
    spread = [
        (x, window.with_dtype(x.dtype))
        for x, window in zip(arrays, windows, strict=True)
        if isinstance(x, _C.DTensor)
    ]
    moved = iter(move_all(name, [x for x, _ in spread], [y for _, y in spread]))
    wholes = [
        next(moved) if isinstance(x, _C.DTensor) else plain(name, x) for x in arrays
    ]
    if any(is_meta(x) for x in wholes if isinstance(x, _C.DTensor)):
        return _C.without_data(to)
    if not inside(to):
        return make(np.empty(0, to.dtype), to)
    parts = [
        local(x) if isinstance(x, _C.DTensor) else x[key_of(window)]
        for x, window in zip(wholes, windows, strict=True)
    ]
    part = np.concatenate(parts, dim, dtype=to.dtype, casting="unsafe")
    return make(ordered(part, *arrays), to)
