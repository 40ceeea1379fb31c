"""Repeating each slice of a cut dim as often as is said for it: nothing is sent.

Each rank repeats the slices that it has; the parts of the result have other lengths.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.parts import (
    counted,
    inside,
    local,
    make,
    move,
    parts_of,
    positions,
)
from dtensor.ops._make.routes import reachable
from dtensor.ops.shape.borders import resized

__all__ = ["is_copied", "repeated"]

Array = npt.NDArray[Any]

_MOST = 2.0**63  # copies of all slices together


def is_copied(layout: _C.Layout | None, dim: int) -> bool:
    """Return whether slices of a dim are repeated in parts: it is cut, into ranges."""
    return layout is not None and reachable(layout.settled(), dim)


class _Copies(NamedTuple):
    """How often each slice of a dim is repeated."""

    dim: int
    before: _C.Layout
    after: _C.Layout
    counts: Array  # of this rank's slices


def repeated(x: _C.DTensor, counts: Array | _C.DTensor, dim: int) -> _C.DTensor:
    """Return a tensor with each slice of a cut dim repeated.

    Collective if the counts are a DTensor that is cut: the ranks tell each other how
    many slices they get.

    Parameters
    ----------
    x : DTensor
        `is_copied` along `dim`.
    counts : array of int, shape (n,)
        For each slice.
    dim : int

    Raises
    ------
    ValueError
        If a count is negative, on all ranks.
    """
    x = settled("repeat", x)
    if isinstance(counts, _C.DTensor):
        line = x.layout.like((x.shape[dim],), {dim: 0}, counts.dtype)
        own = local(move("repeat", counts.detach(), line))
        most = _MOST / len(parts_of(line, 0) or [()])
        error = _refusal(own, most) if inside(line) else None
        world.current().agree(b"", "repeat", error, x.device_mesh)
        if error is not None:
            raise error
        with within("repeat", x, counts, dim):
            model = counted(line, 0, int(own.sum()))
        sizes = [count for _, count in parts_of(model, 0) or ()]
    else:
        error = _refusal(counts, _MOST)
        if error is not None:
            raise error
        ends = np.concatenate([[0], np.cumsum(counts)])
        parts = parts_of(x.layout, dim) or ()
        sizes = [int(ends[start + count] - ends[start]) for start, count in parts]
        own = counts[positions(x.layout, dim)] if inside(x.layout) else counts[:0]
    how = _Copies(dim, x.layout, resized(x.layout, dim, sizes), own)
    result: _C.DTensor = _copied(x, how)
    return result


def _refusal(counts: Array, most: float) -> Exception | None:
    """Return NumPy's error if counts cannot be; of too many copies it would write some
    out of bounds."""
    if counts.size and counts.min() < 0:
        return ValueError("repeats may not contain negative values.")
    total = counts.sum(dtype=np.float64)
    if total >= most:
        return ValueError(f"repeat: {total:g} times is more than an array has room for")
    return None


def _copied(x: Any, how: _Copies, back: bool = False) -> Any:
    """Return the copies of slices, or of copies the sums; each is the gradient of the
    other."""
    with within("repeat", x, how.dim, back):
        here, there = (how.after, how.before) if back else (how.before, how.after)
        there = there.with_dtype(x.dtype)
        y = move("repeat", x.detach(), here.with_dtype(x.dtype))
        if is_meta(y):
            result = _C.without_data(there)
        else:
            result = make(_part(y, how, there, back), there)
    _C.record_function("repeat", lambda g: _copied(g, how, not back), (x,), (result,))
    return result


def _part(y: _C.DTensor, how: _Copies, to: _C.Layout, back: bool) -> Array | tuple[()]:
    """Return this rank's part; one rank's counts may ask for too much memory."""
    error: Exception | None = None
    part: Array | tuple[()] = ()
    try:
        if inside(to) and back:
            part = _sums(local(y), how, to)
        elif inside(to):
            part = np.repeat(local(y), how.counts, how.dim)
    except MemoryError as raised:
        error = raised
    world.current().agree(b"", "repeat", error, to.mesh)
    if error is not None:
        raise error
    return part


def _sums(copies: Array, how: _Copies, to: _C.Layout) -> Array:
    found = np.zeros(to.local_shape(), copies.dtype)
    (some,) = how.counts.nonzero()
    if some.size and copies.size:
        starts = (np.cumsum(how.counts) - how.counts)[some]
        key = (slice(None),) * how.dim + (some,)
        found[key] = np.add.reduceat(copies, starts, how.dim)
    return found
