"""Scans and reductions of any ufunc along a cut dim.

Of functions that may be called in any grouping each rank tells the others the total
of its part. Of others (a difference, a quotient) each rank waits for what the one
before it has come to, as one process would.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.blocks import stacked
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.fallback import without_gradient
from dtensor.ops._make.parts import inside, local, make, move, move_all, ordered
from dtensor.ops._make.routes import part_number, ranges_of
from dtensor.ops.index.read import getitem
from dtensor.ops.shape.borders import resized

__all__ = ["REDUCED", "chained", "in_parts", "reduced_in_parts", "scanned_in_parts"]

Array = npt.NDArray[Any]

# Those for which f(f(a, b), c) is f(a, f(b, c)): not `lcm`, which overflows.
ASSOCIATIVE = {
    np.add,
    np.bitwise_and,
    np.bitwise_or,
    np.bitwise_xor,
    np.fmax,
    np.fmin,
    np.gcd,
    np.hypot,
    np.logaddexp,
    np.logaddexp2,
    np.logical_and,
    np.logical_or,
    np.logical_xor,
    np.maximum,
    np.minimum,
    np.multiply,
}

# Those that are reduced in parts. Of others NumPy's `reduce` need not be the end of its
# `accumulate`.
REDUCED = ASSOCIATIVE | {np.subtract, np.divide, np.lcm}


@lru_cache(256)
def in_parts(layout: _C.Layout | None, dim: int) -> bool:
    """Return whether each rank has one range of a dim that is cut, in their order."""
    if layout is None or layout.ndim == 0:
        return False
    order = layout.cut_by(dim)
    return order != () and not layout.is_strided(dim) and [*order] == sorted(order)


def scanned_in_parts(function: np.ufunc, x: _C.DTensor, dim: int, dtype: Any) -> Any:
    """Return ``function.accumulate(x, dim, dtype)``, cut as `x`.

    Collective: an element for each part and line is sent to all ranks; by functions
    that are not associative to the next rank, one after another. It has no gradient.
    """
    name = f"{function.__name__}.accumulate"
    with within(name, x, dim, dtype):
        y = settled(name, x.detach())
        wide = function.accumulate(np.ones(1, y.dtype), dtype=dtype).dtype
        to = y.layout.with_dtype(wide)
        if function in ASSOCIATIVE:
            result = _joined(name, function, y, to, dim, dtype)
        else:
            result = chained(name, function, y, to, dim)
    return without_gradient(name, (x,), result)


def _joined(
    name: str, function: np.ufunc, x: _C.DTensor, to: _C.Layout, dim: int, dtype: Any
) -> _C.DTensor:
    count = len(ranges_of(to, dim))
    totals = _totals(name, function, x, to, dim, dtype) if count > 1 else np.empty(0)
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    part = function.accumulate(local(x), axis=dim, dtype=to.dtype)
    mine = part_number(to, dim)
    some = [k for k, (a, b) in enumerate(ranges_of(to, dim)) if a < b and k < mine]
    if some:
        before = function.reduce(totals[some], axis=0, dtype=to.dtype)
        part = function(np.expand_dims(before, dim), part, dtype=to.dtype)
    return make(ordered(part, x), to)


def _totals(
    name: str, function: np.ufunc, x: _C.DTensor, to: _C.Layout, dim: int, dtype: Any
) -> Array:
    """Return a row for each part: what it is reduced to, if it has elements."""
    rows = stacked(to, (dim,))
    whole = rows.whole(0)
    if is_meta(x):
        move(name, _C.without_data(rows), whole)
        return np.empty(0)
    total: Array = np.empty(0, to.dtype)
    if inside(to):
        total = np.zeros(rows.local_shape(), to.dtype)
        if local(x).shape[dim]:
            total[0] = function.reduce(local(x), axis=dim, dtype=to.dtype)
    return local(move(name, make(total, rows), whole))


def chained(
    name: str, function: np.ufunc, x: _C.DTensor, to: _C.Layout, dim: int
) -> _C.DTensor:
    """Accumulate a function along a cut dim as one process would: let each part go on
    from the last row of the one before."""
    own = ranges_of(to, dim)
    first = next((k for k, (a, b) in enumerate(own) if a < b), len(own))
    alone = [
        resized(to, dim, [int(k == part) for k in range(len(own))])
        for part in range(len(own))
    ]
    here = inside(to) and not is_meta(x)
    mine = part_number(to, dim) if inside(to) else -1
    part = local(x) if here else np.empty(0, to.dtype)
    key = (slice(None),) * dim
    carry: Array = np.empty(alone[0].local_shape() if here else 0, to.dtype)
    if mine == first:
        part = function.accumulate(part, axis=dim, dtype=to.dtype)
    else:
        part = part.astype(to.dtype)
    for k in range(first, len(own) - 1):
        row = part[(*key, slice(-1, None))] if part.shape[dim:][:1] != (0,) else carry
        none = part[(*key, slice(0))]
        sent = make(row if mine == k else none, alone[k]) if here else None
        sent = sent if sent is not None else _blank(x, alone[k])
        (come,) = move_all(name, [sent], [alone[k + 1]])
        if here and mine == k + 1:
            carry = local(come)
            both = np.concatenate([carry, part], dim)
            both = function.accumulate(both, axis=dim, dtype=to.dtype)
            part = both[(*key, slice(1, None))]
    return make(ordered(part, x), to) if here else _blank(x, to)


def _blank(x: _C.DTensor, layout: _C.Layout) -> _C.DTensor:
    return _C.without_data(layout) if is_meta(x) else make((), layout)


def _chained_total(
    name: str, function: np.ufunc, x: _C.DTensor, to: _C.Layout, dim: int
) -> _C.DTensor:
    """Return the row that all is reduced to, which the last part with elements has:
    each part goes on from the row that the one before it was reduced to."""
    own = ranges_of(to, dim)
    here = inside(to) and not is_meta(x)
    mine = part_number(to, dim)
    total: _C.DTensor | None = None
    for part in [k for k, (a, b) in enumerate(own) if a < b]:
        alone = resized(to, dim, [int(k == part) for k in range(len(own))])
        if total is not None:
            total = move(name, total, alone)
        if not here:
            total = _blank(x, alone)
        elif mine != part:
            total = make(np.empty(alone.local_shape(), to.dtype), alone)
        elif total is None:
            row = function.reduce(local(x), axis=dim, dtype=to.dtype, keepdims=True)
            total = make(row, alone)
        else:
            total = make(_reduced_after(function, local(total), local(x), dim), alone)
    assert total is not None
    return total


_BLOCK = 1 << 13  # elements that are copied at once


def _reduced_after(function: np.ufunc, first: Array, part: Array, dim: int) -> Array:
    """Return the row that a row, and after it the rows of a part, are reduced to."""
    rows, total = np.moveaxis(part, dim, 0), np.moveaxis(first, dim, 0)
    count = min(len(rows), max(1, _BLOCK // max(1, total.size)))
    both = np.concatenate([total, np.empty((count, *total.shape[1:]), first.dtype)])
    for start in range(0, len(rows), count):
        some = rows[start : start + count]
        both[1 : len(some) + 1] = some
        both[0] = function.reduce(both[: len(some) + 1], axis=0, dtype=first.dtype)
    return np.moveaxis(both[:1], 0, dim)


def reduced_in_parts(
    function: np.ufunc, x: _C.DTensor, dim: int, dtype: Any, keepdims: bool
) -> Any:
    """Return ``function.reduce(x, dim, dtype, keepdims=keepdims)`` of a cut dim that
    has elements. What is sent is as for `scanned_in_parts`."""
    name = f"{function.__name__}.reduce"
    with within(name, x, dim, dtype):
        y = settled(name, x.detach())
        wide = function.reduce(np.ones(1, y.dtype), dtype=dtype).dtype
        if function in ASSOCIATIVE:
            result = _joined_total(name, function, y, dim, wide, dtype, keepdims)
        else:
            result = _chained_total(name, function, y, y.layout.with_dtype(wide), dim)
    result = without_gradient(name, (x,), result)
    if keepdims or function in ASSOCIATIVE:
        return result
    return getitem(result, (*(slice(None),) * dim, 0))


def _joined_total(
    name: str,
    function: np.ufunc,
    x: _C.DTensor,
    dim: int,
    wide: np.dtype[Any],
    dtype: Any,
    keepdims: bool,
) -> _C.DTensor:
    """Return what the totals of all parts are reduced to."""
    totals = _totals(name, function, x, x.layout.with_dtype(wide), dim, dtype)
    rest = [d for d in range(x.ndim) if d != dim]
    places = {d: d if keepdims else k for k, d in enumerate(rest)}
    shape = [1 if d == dim else n for d, n in enumerate(x.shape)]
    shape = shape if keepdims else [shape[d] for d in rest]
    to = x.layout.like(shape, places, wide)
    if is_meta(x) or not inside(to):
        return _blank(x, to)
    some = [k for k, (a, b) in enumerate(ranges_of(x.layout, dim)) if a < b]
    total = function.reduce(totals[some], axis=0, dtype=wide)
    return make(np.asarray(total).reshape(to.local_shape()), to)
