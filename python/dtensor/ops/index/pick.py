"""Indexing with arrays: integers and masks."""

from collections.abc import Sequence
from operator import getitem as take_out
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator
from dtensor.ops._make.parts import (
    counted,
    from_zero,
    inside,
    key_of,
    local,
    make,
    move,
    move_all,
    parts_of,
)
from dtensor.ops._make.reduction import OPS
from dtensor.ops._make.routes import part_number
from dtensor.ops.index.fetched import fetched, fetches, spread, spreads
from dtensor.ops.index.ordered import taken

__all__ = [
    "Picked",
    "everywhere",
    "first_result_dim",
    "in_words",
    "leading",
    "mask_part",
    "masked",
    "owners",
    "partial_rows",
    "rows",
    "select",
    "selection",
    "with_mask",
    "words_of",
]

Array = npt.NDArray[Any]
ALL = slice(None)


# --- arrays of integers ---------------------------------------------------------------


def in_words(index: Sequence[Any]) -> tuple[list[Any], tuple[Any, ...], int | None]:
    """Return the arrays of an index, the index with words in their places, and the dim
    that is picked from, if it is only one."""
    kinds = np.ndarray | _C.DTensor
    arrays = [k for k in index if isinstance(k, kinds)]
    keys = tuple("array" if isinstance(k, kinds) else k for k in index)
    alone = len(arrays) == 1 and 0 not in keys
    dim = [k for k in keys if k is not ...].index("array") if alone else None
    return arrays, keys, dim


def rows(x: _C.DTensor, dim: int, index: Array | _C.DTensor) -> _C.DTensor:
    """Return ``x[:, index]``, where the index is for one dim.

    If the dim is cut, each rank takes the wanted rows that it holds. If the index names
    rows in the order of the parts, that is the result. Otherwise a large result is cut
    along the index; for a small one the rows are gathered and put in order, and if
    there are more of them than the dim is long, the dim is gathered instead. If the
    index is cut as the dim is, each rank asks for its rows.
    """
    before = (ALL,) * dim
    if isinstance(index, _C.DTensor) and fetches(x.layout, dim, index):
        return fetched(x, dim, index)
    known = everywhere(index)
    found_in = None if known is None else owners(x.layout, dim, known)
    if known is None or found_in is None:
        result: _C.DTensor = select(x, (*before, "array"), [index])
        return result
    known, owner, counts = found_in
    in_order = is_rising(known, owner)
    if in_order:
        return _found(x, dim, known, counts)
    if spreads(x.layout, dim, known):
        return spread("getitem", x, dim, known, owner)
    if known.size >= x.shape[dim]:
        result = select(x, (*before, "array"), [known])
        return result
    order = np.argsort(owner, kind="stable")
    found = _found(x, dim, known.ravel()[order], counts)
    back = np.empty(known.size, np.intp)
    back[order] = np.arange(known.size)
    result = select(found, (*before, "array"), [back.reshape(known.shape)])
    return result


def _found(x: _C.DTensor, dim: int, index: Array, counts: Array) -> _C.DTensor:
    """Return rows that an index names in the order of the parts, `counts` of each."""
    cuts = dict(x.layout.cuts or {})
    cuts[dim] = (0, *np.cumsum(counts).tolist())
    shape = (*x.shape[:dim], index.size, *x.shape[dim + 1 :])
    layout = _C.Layout(x.device_mesh, x.placements, shape, x.dtype, cuts=cuts)
    if not inside(layout):
        return make((), layout)
    if is_meta(x):
        return _C.without_data(layout)
    part = part_number(x.layout, dim)
    start, _ = (parts_of(x.layout, dim) or ())[part]
    own = index[slice(*cuts[dim][part : part + 2])] - start
    return make(taken(local(x), (ALL,) * dim + (own,), _C.is_torch(x)), layout)


def owners(
    layout: _C.Layout, dim: int, index: Array
) -> tuple[Array, Array, Array] | None:
    """Return an index without negative numbers, the part of the dim that each element
    is in, and how many are in each part; None without parts, or with strided ones.
    """
    parts = parts_of(layout, dim) if layout.is_cut(dim) else None
    if parts is None:
        return None
    index = from_zero(index, layout.shape[dim])
    starts = [start for start, _ in parts]
    few = np.min_scalar_type(len(parts))  # sorting small integers takes less time
    if is_rising(index, index):
        counts = np.diff(np.searchsorted(index, [*starts, layout.shape[dim]]))
        return index, np.repeat(np.arange(len(parts), dtype=few), counts), counts
    owner = np.searchsorted(starts, index.ravel(), "right") - 1
    return index, owner.astype(few), np.bincount(owner, None, len(parts))


def is_rising(index: Array, owner: Array) -> bool:
    """Return whether an index names rows in the order of the parts."""
    return index.ndim == 1 and bool(np.all(owner[:-1] <= owner[1:]))


def everywhere(index: Array | _C.DTensor) -> Array | None:
    """Return the values of an index if every rank has them, else None."""
    if not isinstance(index, _C.DTensor):
        return index
    if not index.layout.is_replicated:
        return None
    return local(index) if inside(index.layout) else np.zeros(index.shape, index.dtype)


class Picked(NamedTuple):
    """The words of an index with arrays."""

    source: list[str]  # of the dims of the array, "*" for those that are picked from
    arrays: list[str]
    result: list[str]
    dims: list[int]  # that are picked from
    at: int  # where the dims of the arrays are in the result


def words_of(
    keys: Sequence[Any], ndim: int, shapes: Sequence[tuple[int, ...]]
) -> Picked:
    """Return the words for an array of so many dims and arrays of these shapes.

    `keys`: a whole slice, 0, or "array" for each dim, and perhaps an Ellipsis.
    """
    names = letters(ndim)
    dims = [d for d, k in enumerate(k for k in keys if k is not ...) if k != ALL]
    shape = np.broadcast_shapes(*shapes)
    new = letters(len(shape), skip=ndim)
    rest = [name for d, name in enumerate(names) if d not in dims]
    at = first_result_dim(keys)
    words = []
    for own in shapes:
        first = len(shape) - len(own)
        pairs = zip(new[first:], own, shape[first:], strict=True)
        words.append(" ".join("*" if n != full else name for name, n, full in pairs))
    source = ["*" if d in dims else name for d, name in enumerate(names)]
    return Picked(source, words, [*rest[:at], *new, *rest[at:]], dims, at)


def partial_rows(arrays: int, ops: Sequence[str] = OPS) -> str:
    """Return the rows that let operand 0 alone be Partial."""
    return ";".join(f"{op}{',R' * arrays}->{op}" for op in ops)


@operator(name="getitem")
def select(x: Operand, keys: tuple[Any, ...], arrays: list[Operand]) -> Any:
    """Return ``x[keys]``, with the arrays in their places."""
    words = words_of(keys, x.ndim, [a.shape for a in arrays])
    waiting = iter(arrays)
    index = tuple(next(waiting) if key == "array" else key for key in keys)
    text = ",".join([" ".join(words.source), *words.arrays])
    text += "->" + " ".join(words.result)
    partial = partial_rows(len(arrays))
    return Rule(text, partial=partial, reduce=None), call(take_out, x, index), x.dtype


def first_result_dim(keys: Sequence[Any]) -> int:
    """Return where NumPy puts the dims of index arrays among the others.

    In the place of the arrays (integers count as arrays) if these are adjacent, else in
    front.
    """
    which = [
        k for k, key in enumerate(keys) if not isinstance(key, slice) and key is not ...
    ]
    if which[-1] - which[0] >= len(which):
        return 0
    return sum(isinstance(key, slice) for key in keys[: which[0]])


# --- masks ----------------------------------------------------------------------------


def masked(x: _C.DTensor, mask: Array | _C.DTensor, dim: int) -> _C.DTensor:
    """Return ``x[..., mask]``, where the mask is for the dims from `dim` on.

    Collective: the ranks count the elements together.
    """
    layout = leading(x.layout, dim, mask)
    x, chosen = with_mask("getitem", x, mask, dim, layout)
    if not inside(layout):
        return make((), selection(layout, dim, mask, x.dtype, 0))
    part = taken(local(x), (ALL,) * dim + (chosen,), _C.is_torch(x))
    return make(part, selection(layout, dim, mask, x.dtype, part.shape[dim]))


def selection(
    layout: _C.Layout, dim: int, mask: Array | _C.DTensor, dtype: Any, count: int
) -> _C.Layout:
    """Return the layout of what a mask selects from the dims from `dim` on of an array
    in a leading layout; `count`: how many elements of the mask are true on this rank.

    Collective: the ranks count the elements together.
    """
    kept = {d: d for d in range(dim + 1)}
    kept |= {d: d - mask.ndim + 1 for d in range(dim + mask.ndim, layout.ndim)}
    shape = [layout.shape[d] for d in kept]
    return counted(layout.like(shape, kept, dtype, partial=True), dim, count)


def with_mask(
    name: str, x: _C.DTensor, mask: Array | _C.DTensor, dim: int, layout: _C.Layout
) -> tuple[_C.DTensor, Array]:
    """Return a tensor in a layout, and the matching part of its mask."""
    if isinstance(mask, _C.DTensor):
        alike = _alike(mask, dim, layout)
        x, mask = move_all(name, [x, mask], [layout, alike])
        return x, local(mask)
    (x,) = move_all(name, [x], [layout])
    return x, mask_part(name, mask, dim, layout)


def mask_part(
    name: str, mask: Array | _C.DTensor, dim: int, layout: _C.Layout
) -> Array:
    """Return the part of a mask for the dims from `dim` on of this rank's part."""
    alike = _alike(mask, dim, layout)
    if isinstance(mask, _C.DTensor):
        return local(move(name, mask, alike))
    return mask[key_of(alike)] if inside(layout) else mask


def _alike(mask: Array | _C.DTensor, dim: int, layout: _C.Layout) -> _C.Layout:
    return layout.like(mask.shape, {dim + d: d for d in range(mask.ndim)}, bool)


def leading(
    layout: _C.Layout, dim: int, mask: Array | _C.DTensor, spread: bool = True
) -> _C.Layout:
    """Return a layout in which the elements that a mask selects are in part order.

    Only the first dim of the mask, `dim`, may be cut, and only by ranges in the order
    of the mesh dims. Where the mask is cut and the tensor is whole, the
    tensor is cut too, which moves nothing, unless it is not to be `spread`.
    """
    first = _C.Shard(dim)
    inner = range(dim + 1, dim + mask.ndim)
    placements: list[_C.Placement] = []
    for m, p in enumerate(layout.placements):
        cut = p._cut_dim == dim or p._cut_dim in inner
        if spread and p._is_whole and isinstance(mask, _C.DTensor):
            cut = mask.placements[m]._cut_dim is not None
        placements.append(first if cut else p)
    if tuple(placements) == layout.placements:
        return layout
    cuts = {d: c for d, c in (layout.cuts or {}).items() if d != dim and d not in inner}
    return _C.Layout(
        layout.mesh, placements, layout.shape, layout.dtype, cuts=cuts or None
    )
