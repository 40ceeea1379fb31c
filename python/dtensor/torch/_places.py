"""Rows of `_direct`: elements along a dim, picked and put by an index, or in order.

Those with an index are for tensors of this rank; others take the functions themselves,
which agree on what is wrong with an index.
"""

from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.direct import Maybe, is_cut
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator
from dtensor.ops._make.reduction import kept
from dtensor.ops._make.words import Answer, Shape, method_of, rule
from dtensor.ops.order.sort import put_along
from dtensor.ops.reduce.gradient import restored
from dtensor.torch._direct import row
from dtensor.torch._order import middle_back
from dtensor.torch._passed import direct
from dtensor.torch._returned import TYPES, Picked
from dtensor.torch._scatter import cofactors

__all__ = ["direct"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
INDEX = np.dtype(np.int64)
LONGEST = 16  # bytes of an element
PUTS, ADDS = 0, 1  # how values come to where they go
REDUCES = {"sum": ADDS, "amax": 2, "amin": 3, "prod": 4}


def _dim(x: Any, dim: Any) -> int | None:
    """Return a dim of an operand from 0 on; None if it has none of that number."""
    fits = isinstance(x, Operand) and type(dim) is int and -x.ndim <= dim < x.ndim
    return dim % x.ndim if fits else None


def _are_plain(index: Any, *arrays: Any) -> bool:
    """Return whether these are tensors of this rank, of one dtype, and an index."""
    given = (index, *arrays)
    if not all(isinstance(x, Operand) and x.dtype is not None for x in given):
        return False
    fits = index.dtype.kind in "iu" and len({x.dtype for x in arrays}) == 1
    plain = all(x.layout is None and x.ndim for x in given)
    return bool(fits and plain and arrays[0].dtype.itemsize <= LONGEST)


def _adds(x: Operand) -> bool:
    """Return whether there is a kernel that adds."""
    return x.dtype.kind in "iu" or x.dtype.char in "fdFD"


def _fixed(*shapes: Shape) -> Rule:
    """Return the rule of operands and a result of these shapes, all of them whole."""
    *before, after = [list(map(str, shape)) for shape in shapes]
    return rule(before, [after])


# --- by an index ----------------------------------------------------------------------


@operator(name="scatter_add", operands=2)
def _put_at(x: Operand, index: Operand, dim: int, shape: Shape, how: int) -> Answer:
    """Return zeros of a shape, with elements put or added where an index says."""
    kernel = call(_C.put_along, shape, index, x, dim, how)
    return _fixed(x.shape, index.shape, shape), kernel, x.dtype


@operator(name="gather", operands=1)
def _gathered(x: Operand, dim: int, index: Operand) -> Answer:
    """Return elements of a tensor of this rank by their indices along a dim."""
    at = dim % x.ndim
    kernel = call(_C.picked_along, x, index, at)
    return _fixed(x.shape, index.shape, index.shape), kernel, x.dtype


_put_at.vjp(
    lambda g, _out, _x, index, dim, _shape, _how: _gathered(g, dim, index), None
)
_gathered.vjp(
    lambda g, _out, _x, dim, index: _put_at(g, index, dim % _x.ndim, _x.shape, ADDS),
    None,
)


def _fits(x: Operand, dim: int, index: Operand) -> bool:
    beside = [d for d in range(x.ndim) if d != dim]
    return (
        index.ndim == x.ndim
        and 0 not in index.shape
        and all(index.shape[d] <= x.shape[d] for d in beside)
    )


@row(
    "gather",
    None,
    lambda g, _out, _input, dim, index: _put_at(
        g, index, dim % _input.ndim, _input.shape, ADDS
    ),
    None,
)
def _gather(input: Any, dim: Any, index: Any) -> Maybe:
    at = _dim(input, dim)
    if at is None or not _are_plain(index, input) or not _fits(input, at, index):
        return None
    if not _adds(input) and input.dtype.kind != "b":
        return None
    kernel = call(_C.picked_along, input, index, at, True)
    return _fixed(input.shape, index.shape, index.shape), kernel, input.dtype


@row(
    "take_along_dim",
    None,
    lambda g, _out, _input, indices, dim: _put_at(
        g, indices, dim % _input.ndim, _input.shape, ADDS
    ),
    None,
)
def _take_along_dim(input: Any, indices: Any, dim: Any = None) -> Maybe:
    at = _dim(input, dim)
    plain = at is not None and _are_plain(indices, input) and _adds(input)
    if not plain or indices.ndim != input.ndim or 0 in indices.shape:
        return None
    beside = zip(input.shape, indices.shape, strict=True)
    if any(n != k for d, (n, k) in enumerate(beside) if d != at):
        return None
    kernel = call(_C.picked_along, input, indices, at)
    return _fixed(input.shape, indices.shape, indices.shape), kernel, input.dtype


def _scattered(input: Any, dim: Any, index: Any, src: Any, how: int) -> Maybe:
    at, number = _dim(input, dim), type(src) in (int, float)
    arrays = (input,) if number else (input, src)
    if at is None or not _are_plain(index, *arrays) or not _fits(input, at, index):
        return None
    if not number and src.shape != index.shape:
        return None
    if (number and (how != PUTS or input.dtype.kind != "f")) or not _adds(input):
        return None
    operands = [input.shape, index.shape, *([] if number else [src.shape])]
    kernel = call(_C.put_along, input, index, src, at, how, True)
    return _fixed(*operands, input.shape), kernel, input.dtype


@row(
    "scatter_add",
    None,
    lambda g, _out, _input, _dim, _index, _src: g,
    None,
    lambda g, _out, _input, dim, index, _src: _gathered(g, dim, index),
)
def _scatter_add(input: Any, dim: Any, index: Any, src: Any) -> Maybe:
    return _scattered(input, dim, index, src, ADDS)


def _without(g: Any, dim: int, index: Any) -> Any:
    """Return a gradient with zeros where an index says."""
    there = _put_at(ops.ones_like(index, dtype=g.dtype), index, dim, g.shape, PUTS)
    return ops.where(ops.equal(there, 0), g, 0)


@row(
    "scatter",
    None,
    lambda g, _out, _input, dim, index, _src: _without(g, dim % _input.ndim, index),
    None,
    lambda g, _out, _input, dim, index, _src: _gathered(g, dim, index),
)
def _scatter(input: Any, dim: Any, index: Any, src: Any = None) -> Maybe:
    return _scattered(input, dim, index, src, PUTS)


def _taken(g: Any, out: Any, x: Any, dim: int, index: Any, src: Any, how: str) -> Any:
    """Return what elements of both count, and by what gradient that is multiplied."""
    if how == "prod":
        return *cofactors(out, x, dim, index, src, True), g
    own = ops.astype(ops.equal(x, out), g.dtype)
    given = ops.astype(ops.equal(src, _gathered(out, dim, index)), g.dtype)
    more = _put_at(given, index, dim % x.ndim, tuple(x.shape), ADDS)
    return own, given, g / (own + more)


def _of_input(
    g: Any, out: Any, input: Any, dim: int, index: Any, src: Any, reduce: str
) -> Any:
    if reduce == "sum":
        return g
    own, _, share = _taken(g, out, input, dim, index, src, reduce)
    return share * own


def _of_src(
    g: Any, out: Any, input: Any, dim: int, index: Any, src: Any, reduce: str
) -> Any:
    if reduce == "sum":
        return _gathered(g, dim, index)
    _, given, share = _taken(g, out, input, dim, index, src, reduce)
    return _gathered(share, dim, index) * given


@row("scatter_reduce", None, _of_input, None, _of_src)
def _scatter_reduce(input: Any, dim: Any, index: Any, src: Any, reduce: Any) -> Maybe:
    how = REDUCES.get(reduce) if isinstance(reduce, str) else None
    known = isinstance(input, Operand) and input.dtype is not None
    if how is None or not known or not isinstance(src, Operand):
        return None
    if how > ADDS and input.dtype.char not in "fdil":
        return None
    return _scattered(input, dim, index, src, how)


# --- slices by an index ---------------------------------------------------------------


@operator(name="index_add", operands=2)
def _added(x: Operand, index: Operand, dim: int, shape: Shape) -> Answer:
    """Return zeros of a shape, with slices added by an index of one dim."""
    kernel = call(_C.rows_added, shape, index, x, dim)
    return _fixed(x.shape, index.shape, shape), kernel, x.dtype


@operator(name="index_select")
def _selected(x: Operand, dim: int, index: Operand) -> Answer:
    """Return slices of a tensor of this rank along a dim, by an index of one dim."""
    shape = (*x.shape[:dim], index.size, *x.shape[dim + 1 :])
    kernel = call(method_of("take", x), x, index, dim)
    return _fixed(x.shape, index.shape, shape), kernel, x.dtype


_added.vjp(lambda g, _out, _x, index, dim, _shape: _selected(g, dim, index), None)
_selected.vjp(lambda g, _out, _x, dim, index: _added(g, index, dim, _x.shape), None)


@row(
    "index_select",
    None,
    lambda g, _out, _input, dim, index: _added(
        g, index, dim % _input.ndim, _input.shape
    ),
    None,
)
def _index_select(input: Any, dim: Any, index: Any) -> Maybe:
    at = _dim(input, dim)
    if at is None or not _are_plain(index, input) or index.ndim != 1:
        return None
    if not _adds(input) and input.dtype.kind != "b":
        return None
    sliced, _, dtype = _selected.__wrapped__(input, at, index)
    return sliced, call(_C.rows_picked, input, index, at), dtype


@row(
    "index_add",
    None,
    lambda g, _out, _input, _dim, _index, _source: g,
    None,
    lambda g, _out, _input, dim, index, _source: _selected(g, dim % _input.ndim, index),
)
def _index_add(input: Any, dim: Any, index: Any, source: Any) -> Maybe:
    at = _dim(input, dim)
    if at is None or not _are_plain(index, input, source) or not _adds(input):
        return None
    shape = (*input.shape[:at], index.size, *input.shape[at + 1 :])
    if index.ndim != 1 or source.shape != shape:
        return None
    kernel = call(_C.rows_added, input, index, source, at, True)
    return _fixed(input.shape, index.shape, shape, input.shape), kernel, input.dtype


@row(
    "take",
    None,
    lambda g, _out, _input, index: ops.reshape(
        _added(ops.ravel(g), ops.ravel(index), 0, (_input.size,)), _input.shape
    ),
    None,
)
def _take(input: Any, index: Any) -> Maybe:
    if not _are_plain(index, input) or not _adds(input):
        return None
    kernel = call(method_of("take", input), input, index)
    return _fixed(input.shape, index.shape, index.shape), kernel, input.dtype


# --- in order -------------------------------------------------------------------------


def _has_order(x: Any) -> bool:
    known = isinstance(x, Operand) and x.dtype is not None
    return bool(known and x.dtype.kind in "iuf" and x.dtype.itemsize <= 8)


def _lines(x: Any, dim: Any) -> int | None:
    """Return the dim that is ordered, from 0 on; None if it is cut or there is none."""
    at = _dim(x, dim)
    if at is None or not _has_order(x) or 0 in x.shape or is_cut(x, (at,)):
        return None
    return at


def _of_order(
    g: Any, out: Any, _input: Any, dim: int = -1, *_args: Any, **_options: Any
) -> Any:
    """Put the gradients of elements where these came from."""
    return put_along(g[0], out[1].detach(), dim, _input.shape[dim])


def _first(name: str, input: Operand, at: int, count: Any, largest: bool) -> Answer:
    count = input.shape[at] if count is None else count
    names = letters(input.ndim, whole=[at])
    after = [*names[:at], str(count), *names[at + 1 :]]
    kernel = call(_C.ordered_of, input, at, count, largest, TYPES[name])
    same = names if count == input.shape[at] else after
    return rule([names], [same, same]), kernel, (input.dtype, INDEX)


@row("sort", None, _of_order)
def _sort(
    input: Any, dim: Any = -1, descending: Any = False, stable: Any = False
) -> Maybe:
    at = None if type(dim) is bool else _lines(input, dim)
    return None if at is None else _first("sort", input, at, None, bool(descending))


@row(
    "topk",
    None,
    lambda g, out, _x, _k, dim=-1, *_args, **_options: _of_order(g, out, _x, dim),
)
def _topk(
    input: Any, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True
) -> Maybe:
    at = _lines(input, dim)
    if at is None or type(k) is not int or not 0 <= k <= input.shape[at]:
        return None
    return _first("topk", input, at, k, bool(largest))


def _element(
    name: str, input: Operand, at: int, place: int, keepdim: Any, nan: bool = False
) -> Answer:
    names = letters(input.ndim, whole=[at])
    after = list(kept(names, (at,), bool(keepdim)))
    kernel = call(_C.element_of, input, at, place, bool(keepdim), nan, TYPES[name])
    return rule([names], [after, after]), kernel, (input.dtype, INDEX)


def _of_element(g: Any, out: Any, input: Any, dim: int, keepdim: bool) -> Any:
    axis = dim % input.ndim
    values, places = (restored(x, (axis,), keepdim) for x in (g[0], out[1]))
    return put_along(values, places.detach(), axis, input.shape[axis])


@row(
    "kthvalue",
    None,
    lambda g, out, _x, _k, dim=-1, keep=False: _of_element(g, out, _x, dim, keep),
)
def _kthvalue(input: Any, k: Any, dim: Any = -1, keepdim: Any = False) -> Maybe:
    at = _lines(input, dim)
    if at is None or type(k) is not int or not 1 <= k <= input.shape[at]:
        return None
    return _element("kthvalue", input, at, k - 1, keepdim)


@row("mode", None, lambda g, out, _x, dim=-1, k=False: _of_element(g, out, _x, dim, k))
def _mode(input: Any, dim: Any = -1, keepdim: Any = False) -> Maybe:
    at = _lines(input, dim)
    return None if at is None else _element("mode", input, at, -1, keepdim)


def _of_median(
    g: Any, out: Any, input: Any, dim: int | None = None, keepdim: bool = False
) -> Any:
    if dim is not None:
        return _of_element(g, out, input, dim, keepdim)
    return middle_back(g, out, input.detach())


@row("median", None, _of_median)
def _median(input: Any, dim: Any = None, keepdim: Any = False) -> Maybe:
    floats = _has_order(input) and input.dtype.kind == "f"
    if dim is None:
        if not _has_order(input) or not input.size or input.layout is not None:
            return None
        place = (input.size - 1) // 2
        kernel = call(_middle, input, place, floats)
        return _fixed(input.shape, ()), kernel, input.dtype
    at = _lines(input, dim)
    if at is None:
        return None
    return _element("median", input, at, (input.shape[at] - 1) // 2, keepdim, floats)


def _middle(x: Any, place: int, nan: bool) -> Any:
    return _C.element_of(x, -1, place, False, nan, Picked)[0]
