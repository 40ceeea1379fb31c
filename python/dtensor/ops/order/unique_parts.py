"""Unique elements of large arrays that are cut: each rank gets those of a range.

Each rank finds those of its part and sends them to where their range is, all equal ones
to the same rank; there they become one.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.parts import (
    counted,
    inside,
    local,
    make,
    move_all,
    parts_of,
)
from dtensor.ops._make.routes import exchanged
from dtensor.ops.order.runs import firsts, merged, merged_numbers, stable_order
from dtensor.ops.reduce.selection import (
    Lines,
    cut_points,
    numbers_of,
    sorted_lines,
    told,
    values_at,
)

__all__ = [
    "Flags",
    "as_result",
    "is_large",
    "line_of",
    "ranges_of",
    "rows_of",
    "unique_of_parts",
]

Array = npt.NDArray[Any]
Flags = tuple[bool, bool, bool]


def is_large(x: _C.DTensor) -> bool:
    """Return whether the unique elements of a tensor are to be found in parts."""
    if is_meta(x) or not inside(x.layout) or x.size < max(routes.LEAST_SIZE, 1):
        return False
    cutting = {m for dim in range(x.ndim) for m in x.layout.cut_by(dim)}
    return any(x.device_mesh.shape[m] > 1 for m in cutting)


def unique_of_parts(
    x: _C.DTensor, flags: Flags, equal_nan: bool
) -> tuple[_C.DTensor, list[_C.DTensor]]:
    """Return the sorted unique elements, and what else is asked for.

    Collective. Of each part its unique elements are sent, with indices and counts as
    far as they are asked for.

    Parameters
    ----------
    x : DTensor
        Not Partial; see `is_large`.
    flags : (bool, bool, bool)
        Whether to return the index of each first occurrence, the inverse, the counts.
    equal_nan : bool
        Whether all NaN count as equal.

    Returns
    -------
    DTensor
        The elements; replicated if they are fewer than 2^14, else cut where `x` is.
    list of DTensor
        Index and counts in the same layout, the inverse in that of `x`.
    """
    wants_index, wants_inverse, wants_counts = flags
    values, first, inverse, counts = _unique(local(x).ravel(), flags, equal_nan)
    lines = sorted_lines("unique", x, range(x.ndim), values[None])
    sizes, rows, number = ranges_of(lines), rows_of(lines), lines.mine
    sent = [values]
    if wants_index:
        sent.append(numbers_of(x.layout, range(x.ndim))[first])
    if wants_counts:
        sent.append(counts)
    del values, first, counts, lines  # other ranks get them
    came = exchanged("unique", rows, sent, sizes, number)
    del sent
    found, places, *own = _joined(came, sizes[:, number], flags, equal_nan)
    result, *more = as_result("unique", rows, [found, *own])
    if wants_inverse:
        start = parts_of(counted(rows, 0, found.size), 0) or ()
        answer = places + start[number][0]
        (back,) = exchanged("unique", rows, [answer], sizes.T, number)
        array = back[inverse].reshape(local(x).shape)
        more.insert(int(wants_index), make(array, x.layout.with_dtype(np.intp)))
    return result, more


def _unique(part: Array, flags: Flags, equal_nan: bool) -> tuple[Array, ...]:
    """Return the sorted unique elements of a part, and where each is found first, the
    inverse and the counts, as far as they are needed."""
    none = np.empty(0, np.intp)
    if flags[0] or flags[1]:
        (order,) = stable_order(part[None])
        line = part[order]
    else:
        order, line = none, np.sort(part)
    is_first = firsts(line, equal_nan)
    values = line[is_first]
    if not any(flags):
        return values, none, none, none
    at = np.flatnonzero(is_first)
    counts, inverse = np.diff(at, append=line.size), none
    if flags[1]:
        inverse = np.empty_like(order)
        inverse[order] = np.repeat(np.arange(at.size), counts)
    return values, order[at] if flags[0] else none, inverse, counts


def rows_of(lines: Lines) -> _C.Layout:
    """Return the layout of one row for each part."""
    rows = lines.rows
    return _C.Layout(rows.mesh, rows.placements, rows.shape, rows.dtype)


def line_of(x: _C.DTensor, values: Array) -> _C.DTensor:
    """Return a tensor of values that each rank has, cut by what cuts another one.

    Collective. Ranks that hold the same part of `x` have the same values."""
    lines = [
        _C.Replicate() if p._cut_dim is None else _C.Shard(0) for p in x.placements
    ]
    return _C.DTensor.from_local(values, x.device_mesh, lines)


def as_result(name: str, rows: _C.Layout, arrays: list[Array]) -> list[_C.DTensor]:
    """Return what each part has as tensors that are cut as the parts are; replicated
    if they are short. Collective."""
    line = counted(rows, 0, arrays[0].shape[0])
    results = []
    for each in arrays:
        shape = (*line.shape, *each.shape[1:])
        to = _C.Layout(line.mesh, line.placements, shape, each.dtype, cuts=line.cuts)
        results.append(make(each, to))
    if results[0].size >= routes.LEAST_SIZE:
        return results
    return move_all(name, results, [x.layout.with_placements(None) for x in results])


def ranges_of(lines: Lines) -> npt.NDArray[np.int64]:
    """Return how many elements each part sends to each, about as many to all. Equal
    ones go to the same part. Collective."""
    parts = lines.counts.shape[1]
    total = int(lines.counts.sum())
    chunk = math.ceil(total / parts)
    starts = [min(k * chunk, total) for k in range(1, parts)]
    cuts = cut_points(lines, [(0, start) for start in starts])
    heads = values_at(lines, [0] * len(starts), [cut[:, None] for cut in cuts])
    own = lines.part[0]
    ends = []
    for cut, head in zip(cuts, heads, strict=True):
        left = np.sort(head[cut < lines.counts[0], 0])
        if not left.size:
            ends.append(own.size)
        elif left[0] == left[0]:
            ends.append(int(np.searchsorted(own, left[0], "left")))
        else:  # all NaN, whatever else a complex one is made of
            ends.append(own.size - int((own != own).sum()))
    row = np.diff([0, *ends, own.size])
    return told(lines, row[None].astype(np.int64))[:, 0]


def _joined(
    came: list[Array], sizes: npt.NDArray[np.int64], flags: Flags, equal_nan: bool
) -> list[Array]:
    """Return the unique elements of sorted runs, the number that each element of these
    has among them, then, as far as they came, where each is found first, how often."""
    values, *more = came
    if not any(flags):
        (line,) = merged(values[None], sizes[None])
        return [line[firsts(line, equal_nan)], np.empty(0, np.intp)]
    numbers = np.arange(values.size)
    (order,) = merged_numbers(values[None], numbers[None], sizes[None])
    line = values[order]
    at = np.flatnonzero(firsts(line, equal_nan))
    counts = np.diff(at, append=line.size)
    places = np.empty_like(order)
    places[order] = np.repeat(np.arange(at.size), counts)
    found = []
    if flags[0]:
        first = more[0][order]
        least = np.minimum.reduceat(first, at) if at.size else first
        at = np.flatnonzero(first == np.repeat(least, counts))  # 0.0 may be -0.0
        found.append(least)
    if flags[2]:
        bounds = np.cumsum(counts) - counts
        total = more[-1][order]
        found.append(np.add.reduceat(total, bounds) if bounds.size else total)
    return [line[at], places, *found]
