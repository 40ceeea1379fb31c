"""Sorting lines that are cut: parts in, parts out.

Each rank sorts its part. Where the chunks of the whole line begin in each part is found
exactly (`reduce.selection`), every element is sent to the rank whose chunk it is in,
and merged there with the others (after Shi and Schaeffer, "Parallel sorting by regular
sampling", 1992). Equal elements stay in their order.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.created import made
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import (
    inside,
    local,
    make,
    move,
    move_all,
    other_dim,
    parts_of,
    positions,
)
from dtensor.ops.order.exchange import (
    Permutation,
    as_lines,
    as_part,
    permuted,
    sent_lines,
)
from dtensor.ops.order.runs import merged, merged_numbers, stable_order
from dtensor.ops.reduce.selection import cut_points, sorted_lines

__all__ = [
    "argpartition",
    "argsort",
    "argsorted_parts",
    "cut_along",
    "is_in_parts",
    "lexsort",
    "partition",
    "permutation",
    "sort",
    "sorted_parts",
]

Array = npt.NDArray[Any]
INDEX = np.dtype(np.intp)


def is_in_parts(
    a: Operand | _C.DTensor, dim: int | None, numbered: bool = False
) -> bool:
    """Return whether a dim is to be sorted in parts: it is cut, the array is large, and
    no other dim can be cut instead.

    Parameters
    ----------
    a : Operand or DTensor
    dim : int or None
        None: the flattened array.
    numbered : bool, default False
        Whether the order matters in which parts have elements of the flattened array.
    """
    if a.layout is None:
        return False
    layout = a.layout.settled()
    dims = range(a.ndim) if dim is None else [dim]
    mesh_dims = {m for d in dims for m in layout.cut_by(d)}
    parts = math.prod(layout.mesh.shape[m] for m in mesh_dims)
    if parts == 1 or any(layout.is_strided(d) for d in range(a.ndim)):
        return False
    if a.size < routes.LEAST_SIZE or math.prod(a.shape[d] for d in dims) < parts:
        return False
    if dim is None:
        return not numbered or a.ndim == 1 or a.shape[0] >= parts
    return other_dim(layout, dim, range(a.ndim)) is None


def cut_along(layout: _C.Layout, dim: int) -> _C.Layout:
    """Return a layout in which all that cuts a tensor cuts one dim, in their order."""
    cutting = [m for d in range(layout.ndim) for m in layout.cut_by(d)]
    if layout.cut_by(dim) == tuple(sorted(cutting)):
        return layout
    placements = [
        _C.Shard(dim) if m in cutting else p for m, p in enumerate(layout.placements)
    ]
    return _C.Layout(layout.mesh, placements, layout.shape, layout.dtype)


def _result(layout: _C.Layout, dim: int | None) -> _C.Layout:
    """Return the layout of what is sorted: each rank has its chunk of the lines."""
    if dim is not None:
        shape, order = layout.shape, dim
    else:
        shape, order = (math.prod(layout.shape),), 0
    placements = [
        _C.Shard(order) if p._cut_dim is not None else p for p in layout.placements
    ]
    return _C.Layout(layout.mesh, placements, shape, layout.dtype)


class _Sorted(NamedTuple):
    """A tensor's parts, each of them sorted."""

    name: str
    dim: int | None
    x: _C.DTensor
    to: _C.Layout
    lines: Array  # of shape (lines, elements)
    order: Array  # in which order they were, if that is asked for

    def sizes(self) -> tuple[_C.Layout, int, Array]:
        """Return the layout of one row for each part, which one is this rank's, and how
        many elements each part sends to each. Collective."""
        at = 0 if self.dim is None else self.dim
        axes = range(self.x.ndim) if self.dim is None else [self.dim]
        lines = sorted_lines(self.name, self.x, axes, self.lines)
        starts = [start for start, _ in parts_of(self.to, at) or ()][1:]
        count = len(self.lines)
        wanted = [(line, start) for line in range(count) for start in starts]
        cuts = cut_points(lines, wanted).reshape(count, len(starts), len(starts) + 1)
        none = np.zeros_like(lines.counts[:, None])
        ends = np.concatenate([none, cuts, lines.counts[:, None]], axis=1)
        rows, sizes = lines.rows, np.swapaxes(np.diff(ends, axis=1), 1, 2)
        rows = _C.Layout(rows.mesh, rows.placements, rows.shape[:1], rows.dtype)
        return rows, lines.mine, sizes


def _parts(name: str, x: Any, dim: int | None, numbered: bool, kind: Any) -> Any:
    """Return the sorted parts of a tensor; of one without data the result."""
    x = settled(name, x)
    if dim is not None or numbered:
        x = move(name, x, cut_along(x.layout, dim or 0))
    to = _result(x.layout, dim)
    to = to.with_dtype(INDEX) if numbered else to
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    lines = as_lines(local(x), dim)
    if numbered:
        order = stable_order(lines)
        return _Sorted(name, dim, x, to, np.take_along_axis(lines, order, -1), order)
    lines = np.array(lines, order="C")
    lines.sort(axis=-1, kind=kind)
    return _Sorted(name, dim, x, to, lines, np.empty(0, INDEX))


def sorted_parts(name: str, x: Any, dim: int | None, stable: bool) -> Any:
    """Return a sorted copy of a tensor; each rank has its chunk.

    Sends one part, and some samples.
    """
    with within(name, x, dim):
        kind = "stable" if stable else None
        parts = _parts(name, x.detach(), dim, False, kind)
        if not isinstance(parts, _Sorted):
            return parts
        rows, mine, sizes = parts.sizes()
        (got,) = sent_lines(name, rows, [parts.lines], sizes, mine)
        to = parts.to
        del parts
        return make(as_part(merged(got, sizes[:, :, mine]), to, dim), to)


def argsorted_parts(name: str, x: Any, dim: int | None) -> Any:
    """Return the indices that sort a tensor stably; each rank has its chunk.

    Sends two parts, one of indices, and some samples.
    """
    with within(name, x, dim):
        parts = _parts(name, x.detach(), dim, True, None)
        if not isinstance(parts, _Sorted):
            return parts
        rows, mine, sizes = parts.sizes()
        first = _numbers(parts.x.layout, dim)
        lines, to = [parts.lines, first + parts.order], parts.to
        del parts
        values, numbers = sent_lines(name, rows, lines, sizes, mine)
        del lines
        order = merged_numbers(values, numbers, sizes[:, :, mine])
        return make(as_part(order, to, dim), to)


def _numbers(layout: _C.Layout, dim: int | None) -> int:
    """Return the number of this rank's first element in its line."""
    held = positions(layout, dim or 0)
    first = int(held[0]) if held.size else 0
    return first * math.prod(layout.shape[1:]) if dim is None else first


def permutation(name: str, x: Any, dim: int | None) -> Permutation:
    """Return where the elements of a tensor go when it is sorted stably."""
    with within(name, x, dim):
        parts = _parts(name, x.detach(), dim, True, None)
        none = np.empty((0, 0), np.int64)
        if not isinstance(parts, _Sorted):
            before = cut_along(x.layout.settled(), dim or 0)
            return Permutation(name, dim, before, parts.layout, None, 0, *[none] * 3)
        rows, mine, sizes = parts.sizes()
        (values,) = sent_lines(name, rows, [parts.lines], sizes, mine)
        places = np.broadcast_to(np.arange(values.shape[1]), values.shape)
        second = merged_numbers(values, places, sizes[:, :, mine])
        before = parts.x.layout
        return Permutation(
            name, dim, before, parts.to, rows, mine, sizes, parts.order, second
        )


def lexsort(keys: list[Any], dim: int, layout: _C.Layout) -> Any:
    """Return the indices that sort by several keys, the last one first.

    Each key is sorted stably, which permutes those after it and the indices.

    Parameters
    ----------
    keys : list of array_like
        All of one shape.
    dim : int
        Which is sorted.
    layout : Layout
        Of one of the keys; they are moved to it, with only `dim` cut.
    """
    to = cut_along(layout, dim)
    keys = [settled("lexsort", on_mesh(key, to.mesh)).detach() for key in keys]
    keys = move_all("lexsort", keys, [to.with_dtype(key.dtype) for key in keys])
    if any(map(is_meta, keys)):
        return _C.without_data(_result(to, dim).with_dtype(INDEX))
    index = made(to.with_dtype(INDEX), lambda own: _indices(own, dim))
    while keys:
        key, *keys = keys
        how = permutation("lexsort", key, dim)
        index, *keys = (permuted(each, how) for each in (index, *keys))
    return index


def _indices(layout: _C.Layout, dim: int) -> Array:
    """Return the index along a dim of each element of this rank's part."""
    held = positions(layout, dim)
    along = held.reshape([-1 if d == dim else 1 for d in range(layout.ndim)])
    return np.broadcast_to(along, layout.local_shape())


# --- what operators call --------------------------------------------------------------


def _dim_of(x: Any, axis: int | None) -> int | None:
    return None if axis is None else normalize_axis_index(axis, x.ndim)


def sort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Any:
    """Return a sorted copy, for `numpy.sort`."""
    dim = _dim_of(a, axis)
    if not (a.requires_grad and _C.is_grad_enabled()):
        keep = bool(stable) or kind in ("stable", "mergesort")
        return sorted_parts("sort", a, dim, keep)
    if is_in_parts(a, dim, True):
        return permuted(a, permutation("sort", a, dim))
    return np.sort(np.ravel(a))


def argsort(
    a: Any,
    axis: int | None = -1,
    kind: Any = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> Any:
    """Return the indices that sort, for `numpy.argsort`."""
    return argsorted_parts("argsort", a, _dim_of(a, axis))


def partition(a: Any, kth: Any, axis: int | None = -1, *_: Any, **__: Any) -> Any:
    """Return a copy in which elements are where sorting would put them: sorted."""
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1, *_: Any, **__: Any) -> Any:
    """Return the indices that partition an array: those that sort it."""
    return argsort(a, axis)
