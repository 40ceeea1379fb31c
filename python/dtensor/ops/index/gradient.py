"""The gradient of x[index]: zeros, with the incoming gradient put back in place.

Nothing is sent if the gradient lies where the elements were taken: the result is cut as
`x` is. It is Partial where the gradient is Partial, or cut along picked dims.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import within
from dtensor.ops._make.created import made
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    Rule,
    call,
    letters,
    operator,
)
from dtensor.ops._make.parts import find, from_zero, inside, local, make, move, parts_of
from dtensor.ops._make.reduction import LINEAR
from dtensor.ops._make.step import one_step
from dtensor.ops._make.words import Answer, Shape, rule
from dtensor.ops.index.basic import Key, as_it_is, basic_step, entries, keys_of, whole
from dtensor.ops.index.fetched import (
    fetched_layout,
    fetches,
    rows_to_owners,
    spread_index,
    spreads,
)
from dtensor.ops.index.pick import (
    everywhere,
    in_words,
    is_rising,
    leading,
    owners,
    partial_rows,
    select,
    selection,
    with_mask,
    words_of,
)
from dtensor.ops.index.terms import At, Mask, New, Pick, Span, Term, lone_mask, parse
from dtensor.ops.index.written import write_view

__all__ = ["added", "along", "back", "put_back"]

Array = npt.NDArray[Any]
ALL = slice(None)


def along(dim: int) -> tuple[Any, ...]:
    """Return the keys of an index with one array, for a dim."""
    return (*(ALL,) * dim, "array")


# --- slices, integers, new dims -------------------------------------------------------


@operator(name="getitem_backward")
def put_back(
    x: Operand, keys: tuple[Key, ...], shape: Shape, like: _C.Layout | None
) -> Answer | Callable[..., Any]:
    """Return zeros of a shape, with `x` in the place that a basic index selects.

    Parameters
    ----------
    x : array
        Of the shape that the index gives.
    keys : tuple of Span, At or New
        The index: a Span or At for each dim of the result.
    shape : tuple of int
        Of the result.
    like : Layout, optional
        Of the indexed array: the result is cut in the same way if that moves nothing.
    """
    names, new = iter(letters(len(shape))), iter(letters(x.ndim, skip=len(shape)))
    before, after, touched = [], [], []
    for key in keys:
        name = next(new) if isinstance(key, New) else next(names)
        if isinstance(key, Span) and key == Span(key.dim, 0, shape[key.dim], 1):
            before.append(name)
            after.append(name)
            continue
        if not isinstance(key, At):
            before.append(str(key.size if isinstance(key, Span) else 1))
        if not isinstance(key, New):
            after.append(str(shape[key.dim]))
            touched.append(key.dim)
    places = {d: p for p, d in _dims(keys).items()}
    if any(
        (like is not None and like.is_cut(d))
        or (x.layout is not None and d in places and x.layout.is_cut(places[d]))
        for d in touched
    ):
        return _put_back_parts
    index = tuple(map(as_it_is, keys))
    kernel = call(_put_into_zeros, x, LOCAL_SHAPE, index)
    return rule([before], [after], "any"), kernel, x.dtype


def _put_into_zeros(x: Array, shape: Shape, index: tuple[Any, ...]) -> Array:
    result = np.zeros(shape, x.dtype)
    result[index] = x
    return result


def _dims(keys: Sequence[Key]) -> dict[int, int]:
    """Return the dims of an index's result -> dims of the indexed array."""
    kept = [key for key in keys if not isinstance(key, At)]
    return {p: key.dim for p, key in enumerate(kept) if isinstance(key, Span)}


@one_step(
    "getitem_backward",
    lambda grad, _out, _x, keys, _shape, _like: grad[tuple(map(as_it_is, keys))],
)
def _put_back_parts(
    x: _C.DTensor, keys: tuple[Key, ...], shape: Shape, like: _C.Layout | None
) -> _C.DTensor:
    """Put back, on each rank, its part along a cut dim."""
    to = _target(x.layout, _dims(keys), shape, like)
    result = made(to, lambda own: np.zeros(own.local_shape(), own.dtype))
    write_view(result, keys, x)
    return result


def _target(
    layout: _C.Layout,
    dims: Mapping[int, int],
    shape: Shape,
    like: _C.Layout | None,
    only: int | None = None,
) -> _C.Layout:
    """Return the layout of zeros into which an array is put without moving it.

    It is cut like that array and, where that is replicated, like `like`: all dims of
    it, or one.
    """
    if like is not None and like.mesh != layout.mesh:
        like = None
    own: list[int | None] = [None] * layout.mesh.ndim
    if like is not None:
        whole = {d for d in range(len(shape)) if like.is_strided(d)}
        whole |= set() if only is None else {*range(len(shape))} - {only}
        own = [None if p._cut_dim in whole else p._cut_dim for p in like.placements]
    placements: list[_C.Placement] = []
    for p, dim in zip(layout.placements, own, strict=True):
        if p._cut_dim is not None and p._cut_dim in dims:
            p = _C.Shard(dims[p._cut_dim])
        elif not p._is_pending:
            p = _C.Replicate() if dim is None else _C.Shard(dim)
        placements.append(p)
    every = dict(like.shard_order) if like is not None else {}
    order = {
        d: by
        for d, by in every.items()
        if {m for m, p in enumerate(placements) if p._cut_dim == d} == {*by}
    }
    known = like.cuts if like is not None and like.cuts else {}
    cuts = {d: cut for d, cut in known.items() if d in order}
    return _C.Layout(
        layout.mesh,
        placements,
        shape,
        layout.dtype,
        shard_order=order or None,
        cuts=cuts or None,
    )


put_back.vjp(lambda grad, _out, _x, keys, shape, like: grad[tuple(map(as_it_is, keys))])

# --- arrays of integers ---------------------------------------------------------------


@operator(name="getitem_backward")
def added(
    x: Operand, keys: tuple[Any, ...], arrays: list[Operand], shape: Shape
) -> Answer:
    """Return zeros of a shape, with `x` added where `select` takes it from.

    If dims of `x` that come from the arrays are cut, the result is Partial.
    """
    words = words_of(keys, len(shape), [a.shape for a in arrays])
    names = letters(len(shape))
    after = [str(n) if d in words.dims else names[d] for d, n in enumerate(shape)]
    text = ",".join([" ".join(words.result), *words.arrays]) + "->" + " ".join(after)
    waiting = iter(arrays)
    picks = [k for k in keys if k is not ... and k != ALL]
    index = [next(waiting) if key == "array" else 0 for key in picks]
    kernel = call(_add_into_zeros, x, index, tuple(words.dims), words.at, LOCAL_SHAPE)
    partial = partial_rows(len(arrays), LINEAR)
    return Rule(text, partial=partial), kernel, x.dtype


def _add_into_zeros(
    x: Array, index: Sequence[Any], dims: Sequence[int], at: int, shape: Shape
) -> Array:
    """Return zeros to which `x` is added: its dims from `at` on are those of the index,
    which selects elements along `dims`."""
    lengths = [shape[d] for d in dims]
    number: Any = 0
    for a, n in zip(index, lengths, strict=True):
        number = number * n + from_zero(np.asarray(a), n)
    new = np.ndim(number)
    x = np.moveaxis(x, range(at, at + new), range(new))
    number = np.broadcast_to(number, x.shape[:new]).ravel()
    rest = x.shape[new:]
    rows = np.reshape(x, (number.size, math.prod(rest)))
    total = _rows_added(rows, number, math.prod(lengths))
    return np.moveaxis(total.reshape(*lengths, *rest), range(len(dims)), dims)


def _rows_added(rows: Array, at: Array, count: int) -> Array:
    """Return `count` rows: row i is the sum of the `rows` whose index is i."""
    if rows.shape[1] > 1 and rows.dtype in DIRECT:
        added_up = _C.kernel("embedding_backward")
        return np.asarray(added_up(rows, at, [[0, count]], count, -1))
    result = np.zeros((count, rows.shape[1]), rows.dtype)
    if rows.shape[1] == 1:
        np.add.at(result[:, 0], at, rows[:, 0])
    elif rows.size:
        order = np.argsort(at, kind="stable")
        numbers = at[order]
        first = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
        if first.size == at.size:
            result[at] = rows
        else:
            result[numbers[first]] = np.add.reduceat(rows[order], first, axis=0)
    return result


added.vjp(lambda grad, _out, _x, keys, arrays, shape: select(grad, keys, arrays))


@one_step(
    "getitem_backward",
    lambda grad, _out, _x, dim, index, _shape, _like: grad[(*(ALL,) * dim, index)],
)
def _added_to_parts(
    x: _C.DTensor, dim: int, index: Any, shape: Shape, like: _C.Layout
) -> _C.DTensor:
    """Do what `added` does for one array whose values every rank has, if each rank has
    the part of `x` that is added to its part of `like`."""
    known = everywhere(index)
    assert known is not None
    known = from_zero(known, shape[dim])
    new = known.ndim - 1
    dims = {d: d for d in range(dim + 1)}
    dims |= {d + new: d for d in range(dim + 1, len(shape))}
    to = _target(x.layout, dims, shape, like, dim)
    if not inside(to):
        return make((), to)
    at, mine = find(to, dim, known)
    part = local(x)
    if not x.layout.is_cut(dim):
        part = part[(ALL,) * dim + (mine,)]
    return make(_add_into_zeros(part, [at[mine]], [dim], dim, to.local_shape()), to)


@one_step(
    "getitem_backward",
    lambda grad, _out, _x, dim, index, _like: grad[(*(ALL,) * dim, index)],
)
def _added_to_owners(
    x: _C.DTensor, dim: int, index: _C.DTensor, like: _C.Layout
) -> _C.DTensor:
    """Do what `added` does for one array, where ``[:, index]`` is fetched.

    Collective: sends each index and each row of `x` once.
    """
    to = like.with_dtype(x.dtype)
    x = move("getitem_backward", x, fetched_layout(to, dim, index))
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    with within("getitem_backward", x, dim, index):
        rows, at = rows_to_owners("getitem_backward", x, dim, index, to)
        rows = np.moveaxis(rows, 0, dim)
        return make(_add_into_zeros(rows, [at], [dim], dim, to.local_shape()), to)


def _unpicked(grad: Any, dim: int, index: Any, shape: Shape, like: Any) -> Any:
    """Return the gradient of ``x[:, index]``, where the index is for one dim."""
    known = everywhere(index)
    parts = None
    if known is not None and isinstance(grad, _C.DTensor) and like is not None:
        parts = owners(like, dim, known) if like.mesh == grad.device_mesh else None
    if parts is not None and _is_there(grad.layout, like, dim, *parts):
        return _added_to_parts(grad, dim, index, shape, like)
    if parts is not None and spreads(like, dim, parts[0]):
        index = spread_index(like, dim, parts[0])
        return _added_to_owners(grad, dim, index, like)
    if isinstance(grad, _C.DTensor) and fetches(like, dim, index):
        return _added_to_owners(grad, dim, index, like)
    return added(grad, along(dim), [index], shape)


def _is_there(
    layout: _C.Layout,
    like: _C.Layout,
    dim: int,
    index: Array,
    owner: Array,
    counts: Array,
) -> bool:
    """Return whether every rank has the elements picked from its part of `dim`: all
    picked elements, or exactly these."""
    by = like.cut_by(dim)
    if all(layout.placements[m]._is_whole for m in by):
        return True
    if not is_rising(index, owner) or dict(layout.shard_order).get(dim) != by:
        return False
    parts = parts_of(layout, dim)
    return parts is not None and [n for _, n in parts] == counts.tolist()


# --- masks ----------------------------------------------------------------------------


@one_step(
    "getitem_backward",
    lambda grad, _out, _x, dim, mask, _shape, _like: grad[(*(ALL,) * dim, mask)],
)
def _unmasked(
    x: _C.DTensor, dim: int, mask: Any, shape: Shape, like: _C.Layout | None
) -> _C.DTensor:
    """Return zeros of a shape, with `x` where a mask for the dims from `dim` is true:
    on each rank where its part of the mask is."""
    kept = {d: d for d in range(dim + 1)}
    kept |= {d: d - mask.ndim + 1 for d in range(dim + mask.ndim, len(shape))}
    to = _target(x.layout, {p: d for d, p in kept.items()}, shape, like)
    to = leading(to, dim, mask)
    zeros = made(to, lambda own: np.zeros(own.local_shape(), own.dtype))
    _, chosen = with_mask("getitem_backward", zeros, mask, dim, to)
    rows = selection(to, dim, mask, x.dtype, int(chosen.sum()))
    x = move("getitem_backward", x, rows)
    if inside(to):
        local(zeros)[(ALL,) * dim + (chosen,)] = local(x)
    return zeros


# --- all of them ----------------------------------------------------------------------


def back(grad: Any, _out: Any, _x: Any, index: Any) -> Any:
    """The gradient of `getitem`: first through its arrays, then through its slices."""
    shape, like = _x.shape, _x.layout
    if like is None:
        index = whole(index)
    terms = parse("getitem", shape, _x.dtype, index)
    picks = [t for t in terms if isinstance(t, Pick | Mask)]
    if not picks:
        keys = tuple(t for t in terms if isinstance(t, Span | At | New))
        return put_back(grad, keys, shape, like)
    keys = tuple(keys_of(_x, terms))
    if keys == tuple(Span(d, 0, n, 1) for d, n in enumerate(shape)):
        return _back_of_arrays(grad, terms, shape, like)
    between = tuple(k.size if isinstance(k, Span) else 1 for k in keys)
    return put_back(_back_of_arrays(grad, terms, between, None), keys, shape, like)


def _back_of_arrays(
    grad: Any, terms: Sequence[Term], shape: Shape, like: _C.Layout | None
) -> Any:
    """Return the gradient of the array that an index's arrays pick from."""
    alone = lone_mask(terms)
    if alone is not None and isinstance(grad, _C.DTensor):
        return _unmasked(grad, *alone, shape, like)
    arrays, keys, dim = in_words(list(entries(terms)))
    if dim is not None:
        return _unpicked(grad, dim, arrays[0], shape, like)
    return added(grad, keys, arrays, shape)


basic_step.vjp(lambda grad, _out, _x, keys: put_back(grad, keys, _x.shape, _x.layout))
select.vjp(lambda grad, _out, _x, keys, arrays: added(grad, keys, arrays, _x.shape))
