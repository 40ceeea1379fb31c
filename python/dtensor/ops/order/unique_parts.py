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
from dtensor.ops.order.exchange import MERGED, merged
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
    part = local(x).ravel()
    values, first, inverse, counts = _unique(part, flags, equal_nan)
    numbers = numbers_of(x.layout, range(x.ndim))
    first = numbers[first] if any(flags) and part.size else first
    lines = sorted_lines("unique", x, range(x.ndim), values[None])
    sizes, rows = ranges_of(lines), rows_of(lines)
    sent = [values, first, counts] if any(flags) else [values]
    came = exchanged("unique", rows, sent, sizes, lines.mine)
    if any(flags):
        found = _joined(came, equal_nan)
    else:
        found = [_apart(came[0], sizes[:, lines.mine], equal_nan)]
    more = []
    if wants_inverse:
        layout = counted(rows, 0, found[0].size)
        start = parts_of(layout, 0) or ()
        answer = found[3] + start[lines.mine][0]
        (back,) = exchanged("unique", rows, [answer], sizes.T, lines.mine)
        array = back[inverse].reshape(local(x).shape)
        more.append(make(array, x.layout.with_dtype(np.intp)))
    results = as_result("unique", rows, found[:3])
    if wants_index:
        more.insert(0, results[1])
    if wants_counts:
        more.append(results[2])
    return results[0], more


def _unique(part: Array, flags: Flags, equal_nan: bool) -> tuple[Array, ...]:
    """Return the unique elements of a part, and their indices, inverse and counts as
    far as they are needed."""
    none = np.empty(0, np.intp)
    if not any(flags):
        return np.unique(part, equal_nan=equal_nan), none, none, none
    function: Any = np.unique
    found = function(part, True, flags[1], True, equal_nan=equal_nan)
    return (*found[:2], found[2] if flags[1] else none, found[-1])


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


def _apart(came: Array, sizes: npt.NDArray[np.int64], equal_nan: bool) -> Array:
    """Return the unique elements of sorted runs."""
    if came.dtype.char not in MERGED:
        return np.asarray(np.unique(came, equal_nan=equal_nan))
    (values,) = merged(came[None], sizes[None])
    is_first = np.ones(values.size, bool)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    if equal_nan and values.dtype.kind == "f":
        nans = np.searchsorted(values, np.nan)
        is_first[nans + 1 :] = False
    return np.asarray(values[is_first])


def _joined(came: list[Array], equal_nan: bool) -> list[Array]:
    """Return the unique elements of what came, where they are found first, how often
    they are in all, and the numbers of what came among them."""
    order = np.argsort(came[1], kind="stable")  # the first of equal ones is found first
    values, first, counts = (each[order] for each in came)
    values, at, group = np.unique(
        values, return_index=True, return_inverse=True, equal_nan=equal_nan
    )
    total = np.zeros(values.size, np.intp)
    np.add.at(total, group, counts)
    numbers = np.empty_like(group)
    numbers[order] = group
    return [values, first[at], total, numbers]
