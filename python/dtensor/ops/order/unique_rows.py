"""Unique slices of large arrays that are cut: each rank gets those of a range.

Slices are compared as rows. The ranks tell each other some of their rows, evenly spaced
in order, which split all rows into ranges; each rank sends its unique rows to where
their range is (after Shi and Schaeffer, see `sort_parts`).
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make import routes
from dtensor.ops._make.composite import settled
from dtensor.ops._make.parts import counted, local, make, move, parts_of, positions
from dtensor.ops._make.routes import exchanged
from dtensor.ops.order.sort_parts import cut_along
from dtensor.ops.order.unique_parts import (
    Flags,
    as_result,
    is_large,
    line_of,
    rows_of,
)
from dtensor.ops.reduce.selection import Lines, sorted_lines, told

__all__ = ["are_many", "unique_rows"]

Array = npt.NDArray[Any]

# How many rows a rank tells the others of.
SAMPLES = 32


def are_many(x: _C.DTensor, axis: int) -> bool:
    """Return whether the unique slices of a tensor are to be found in parts: there are
    many more of them than samples."""
    if x.dtype.kind not in "biufc" or not is_large(x) or not x.size:
        return False
    cutting = {m for dim in range(x.ndim) for m in x.layout.cut_by(dim)}
    samples = SAMPLES * math.prod(x.device_mesh.shape[m] for m in cutting)
    return x.shape[axis] >= min(16 * samples, routes.LEAST_SIZE)


def unique_rows(x: _C.DTensor, axis: int, flags: Flags) -> tuple[Any, ...]:
    """Return the sorted unique slices along a dim, and what else is asked for.

    Collective. What cuts other dims cuts this one instead, by one all_to_all; then the
    unique rows of each part are sent, with an index and a count.

    Parameters
    ----------
    x : DTensor
        See `are_many`.
    axis : int
    flags : (bool, bool, bool)
        Whether to return the index of each first occurrence, the inverse, the counts.
    """
    x = settled("unique", x)
    x = move("unique", x, cut_along(x.layout, axis))
    rows = np.moveaxis(local(x), axis, 0)
    shape, width = rows.shape[1:], math.prod(rows.shape[1:])
    rows, first, inverse, counts = _unique(rows.reshape(len(rows), width))
    first = positions(x.layout, axis)[first]
    lines = sorted_lines("unique", line_of(x, first), [0], first[None])
    sizes, line = _sizes(lines, rows), rows_of(lines)
    (came,) = exchanged("unique", line, [rows.ravel()], sizes * width, lines.mine)
    places, many = exchanged("unique", line, [first, counts], sizes, lines.mine)
    order = np.argsort(places, kind="stable")  # the first of equal ones is found first
    found, at, group, _ = _unique(came.reshape(-1, width)[order])
    total = np.zeros(len(found), np.intp)
    np.add.at(total, group, many[order])
    values = found.reshape(-1, *shape)
    results = as_result("unique", line, [values, places[order][at], total])
    slices: Any = results[0]
    more = [np.moveaxis(slices, 0, axis)]
    if flags[0]:
        more.append(results[1])
    if flags[1]:
        start = (parts_of(counted(line, 0, len(found)), 0) or ())[lines.mine][0]
        answer = np.empty_like(group)
        answer[order] = group + start
        (back,) = exchanged("unique", line, [answer], sizes.T, lines.mine)
        to = x.layout.like((x.shape[axis],), {axis: 0}, np.intp)
        more.append(make(back[inverse], to))
    if flags[2]:
        more.append(results[2])
    return tuple(more)


def _unique(rows: Array) -> tuple[Array, Array, Array, Array]:
    """Return NumPy's unique rows, with index, inverse and counts."""
    function: Any = np.unique
    found, first, inverse, counts = function(rows, True, True, True, axis=0)
    return found, first, inverse.ravel(), counts


def _fields(rows: Array) -> Array:
    """Return rows as one array of structures, which compare as NumPy compares rows."""
    fields = [(f"f{k}", rows.dtype) for k in range(rows.shape[1])]
    return np.ascontiguousarray(rows).view(fields).reshape(len(rows))


def _sizes(lines: Lines, rows: Array) -> npt.NDArray[np.int64]:
    """Return how many rows each part sends to each, about as many to all. Equal rows
    go to the same part. Collective."""
    have, parts, width = lines.counts[0], lines.counts.shape[1], rows.shape[1]
    own = np.zeros((SAMPLES, width), rows.dtype)
    if len(rows):
        own = rows[np.arange(SAMPLES) * len(rows) // SAMPLES]
    samples = _fields(told(lines, own.reshape(1, -1)).reshape(-1, width))
    order = np.argsort(samples, kind="stable")
    stands_for = np.repeat(have, SAMPLES)[order].cumsum()  # times SAMPLES
    wanted = np.arange(1, parts) * stands_for[-1] // parts
    splitters = samples[order][np.searchsorted(stands_for, wanted, "right")]
    ends = np.searchsorted(_fields(rows), splitters, "left").tolist()
    row = np.diff([0, *ends, len(rows)])
    return told(lines, row[None].astype(np.int64))[:, 0]
