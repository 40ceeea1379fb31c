"""This rank's part of a tensor, in global indices; and tensors made from parts."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.strict import on_implicit

__all__ = [
    "alone",
    "counted",
    "find",
    "from_zero",
    "in_whole",
    "inside",
    "key_of",
    "local",
    "make",
    "move",
    "move_all",
    "ordered",
    "number_of",
    "other_dim",
    "parts_of",
    "place",
    "plain",
    "positions",
    "spans",
    "values_of",
    "as_int64",
]

Array = npt.NDArray[Any]
Span = tuple[int, int]  # start, count

# --- where a part lies ----------------------------------------------------------------


def inside(layout: _C.Layout) -> bool:
    """Return whether the caller's rank holds a part at all."""
    return layout.mesh.get_coordinate() is not None


def alone(layout: _C.Layout) -> bool:
    """Return whether the caller's rank is all of the mesh, and holds the whole."""
    return math.prod(layout.mesh.shape) == 1 and inside(layout)


@lru_cache(256)
def parts_of(layout: _C.Layout, dim: int) -> tuple[Span, ...] | None:
    """Return the ranges of all parts of a dim, in their order; None if strided."""
    if layout.is_strided(dim):
        return None
    return tuple(_ranges(layout, dim, at)[0] for at in _coordinates(layout, dim))


def _coordinates(layout: _C.Layout, dim: int) -> list[tuple[int, ...]]:
    """Return a coordinate for each part of a dim, in their order."""
    order = layout.cut_by(dim)
    found = []
    for at in product(*(range(layout.mesh.shape[m]) for m in order)):
        where = [0] * layout.mesh.ndim
        for m, coordinate in zip(order, at, strict=True):
            where[m] = coordinate
        found.append(tuple(where))
    return found


def _ranges(layout: _C.Layout, dim: int, at: Sequence[int]) -> list[Span]:
    found = ((start[dim], count[dim]) for start, count in layout.boxes(at))
    return list(dict.fromkeys(found))


def spans(layout: _C.Layout, dim: int) -> list[Span]:
    """Return the ranges of a dim that this rank holds, in the order of its array.

    Usually one range; several for strided shards. Empty ones are left out.
    """
    found = ((start[dim], count[dim]) for start, count in layout.boxes())
    return [span for span in dict.fromkeys(found) if span[1]]


def positions(layout: _C.Layout, dim: int) -> npt.NDArray[np.int64]:
    """Return the indices of a dim that this rank holds, in the order of its array."""
    ranges = [np.arange(s, s + n) for s, n in spans(layout, dim)]
    return np.concatenate([np.empty(0, np.int64), *ranges])


def in_whole(layout: _C.Layout, dim: int, at: Any) -> Any:
    """Return the indices of a dim that are at these positions of this rank's array."""
    ranges = spans(layout, dim)
    if len(ranges) == 1:
        return at + ranges[0][0]
    return positions(layout, dim)[at]


def as_int64(index: Any) -> Any:
    """Return integers, an ndarray or DTensor, as int64, in which positions are counted:
    int8 has no 200, though it names rows of a dim of that length. What NumPy does with
    uint64, too."""
    return index if index.dtype == np.int64 else index.astype(np.int64)


def from_zero(index: npt.NDArray[Any], length: int) -> npt.NDArray[np.int64]:
    """Return indices of a dim without negative numbers; perhaps the array itself."""
    index = index.astype(np.int64, copy=False)
    if index.size and index.min() < 0:
        index = index.copy()
        np.add(index, length, out=index, where=index < 0)
    return index


def find(
    layout: _C.Layout, dim: int, index: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool]]:
    """Return local positions of indices of a dim, and which of them this rank holds;
    the positions of the others mean nothing."""
    index = index.astype(np.int64, copy=False)
    ranges = spans(layout, dim)
    if len(ranges) == 1:
        start, count = ranges[0]
        where = np.asarray(index - start)
        return where, np.asarray(where.view(np.uint64) < count)
    where = np.zeros(index.shape, np.int64)
    held = np.zeros(index.shape, bool)
    before = 0
    for start, count in ranges:
        here = (index >= start) & (index < start + count)
        where = np.where(here, index - (start - before), where)
        held |= here
        before += count
    return where, held


def other_dim(layout: _C.Layout, dim: int, dims: Iterable[int]) -> int | None:
    """Return the first of some dims that is long enough to be cut instead, or None."""
    cutting = layout.cut_by(dim)
    for other in dims:
        both = {*cutting, *layout.cut_by(other)}
        parts = math.prod(layout.mesh.shape[m] for m in both)
        if other != dim and layout.shape[other] >= parts:
            return other
    return None


def key_of(layout: _C.Layout) -> tuple[Any, ...]:
    """Return the index that selects this rank's part of the whole array."""
    ranges = [spans(layout, dim) for dim in range(layout.ndim)]
    if all(len(one) <= 1 for one in ranges):
        found = [one[0] if one else (0, 0) for one in ranges]
        return tuple(slice(start, start + count) for start, count in found)
    return np.ix_(*(positions(layout, dim) for dim in range(layout.ndim)))


# --- tensors and their arrays ---------------------------------------------------------


def local(x: _C.DTensor) -> Array:
    """Return this rank's array itself, to be read or written."""
    return np.asarray(x.to_local().detach())


def ordered(part: Array, *of: Any) -> Array:
    """Return a new array in C order if it is made of a tensor in PyTorch's dialect."""
    return np.asarray(part, order="C") if any(map(_C.is_torch, of)) else part


def make(array: npt.ArrayLike, layout: _C.Layout) -> _C.DTensor:
    """Return a DTensor of this rank's part; nothing is sent or checked."""
    if not inside(layout):
        array = np.empty((0,), layout.dtype)
    return _C.of_part(array, layout)


def place(array: Array, layout: _C.Layout) -> _C.DTensor:
    """Return an array that every rank holds whole in a layout; nothing is sent."""
    whole = make(array, layout.with_placements(None).with_dtype(array.dtype))
    if not _C.lineage(whole):
        _C.made_of(whole, f"an array of {layout.shape}", array)
    to = layout.with_dtype(array.dtype)
    return _C._redistribute_any(whole, placements=to)


def move(name: str, x: _C.DTensor, to: _C.Layout, later: bool = False) -> _C.DTensor:
    """Return a tensor in another layout of the same shape and mesh.

    Unlike `redistribute` it is an implicit move, which `strict` may forbid. The target
    may be Partial. With `later` it is only started: who uses the result waits.
    """
    return move_all(name, [x], [to], later)[0]


def move_all(
    name: str,
    tensors: Sequence[_C.DTensor],
    to: Sequence[_C.Layout],
    later: bool = False,
) -> list[_C.DTensor]:
    """Return tensors in other layouts, moved together."""
    moves = [k for k, x in enumerate(tensors) if x.layout != to[k]]
    if moves:
        on_implicit(name, [tensors[k].layout for k in moves], [to[k] for k in moves])
    result = list(tensors)
    if moves:
        moved = _C._redistribute_any(
            [tensors[k] for k in moves],
            placements=[to[k] for k in moves],
            async_op=later,
        )
        for k, x in zip(moves, moved, strict=True):
            result[k] = x
    return result


def values_of(name: str, x: Any) -> Array:
    """Return an array whole on every rank; that of a DTensor is gathered."""
    if not isinstance(x, _C.DTensor):
        return plain(name, x)
    whole = move(name, x, x.layout.with_placements(None))
    return np.asarray(whole) if inside(x.layout) else np.zeros(x.shape, x.dtype)


def number_of(name: str, x: Any, otherwise: int) -> int:
    """Return an integer that is an array without dims; where nobody knows it, another
    one: of a tensor without data, and outside its mesh."""
    if not isinstance(x, _C.DTensor):
        return int(x)
    if is_meta(x):
        return otherwise
    known = local(move(name, x.detach(), x.layout.with_placements(None)))
    return int(known) if inside(x.layout) else otherwise


def plain(name: str, x: Any) -> Array:
    """Return a value that is not a DTensor as an array; refuse a Tensor of one rank."""
    is_mixed = isinstance(x, _C.Tensor) and x.numel() != 1
    if is_mixed and not _C.is_implicit_replication():
        raise RuntimeError(
            f"{name}: got mixed Tensor and DTensor, need to convert all Tensor to "
            "DTensor before calling distributed operators! (what all ranks have may be "
            "an array: tensor.numpy())"
        )
    return np.asarray(x)


# --- parts of other lengths -----------------------------------------------------------


def counted(layout: _C.Layout, dim: int, count: int) -> _C.Layout:
    """Return a layout whose parts along one dim have other lengths.

    Collective: the ranks tell each other how many elements each of them has.

    Parameters
    ----------
    layout : Layout
        The template; `dim` is not strided and cut in the order of the mesh dims.
    dim : int
        The dim whose parts get new lengths.
    count : int
        How many elements this rank has; equal on ranks that hold the same part.
    """
    shape = list(layout.shape)
    cuts = dict(layout.cuts or {})
    cuts.pop(dim, None)
    if not layout.is_cut(dim) or not inside(layout):
        shape[dim] = count
    else:
        alone = layout.like((layout.shape[dim],), {dim: 0}).placements
        sizes = _C.DTensor.from_local(np.empty(count, bool), layout.mesh, alone)
        shape[dim] = sizes.shape[0]
        if sizes.layout.cuts:
            cuts[dim] = sizes.layout.cuts[0]
    return _C.Layout(
        layout.mesh, layout.placements, shape, layout.dtype, cuts=cuts or None
    )
