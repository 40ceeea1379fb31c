"""Reducing slices of a cut dim, one after the other: parts in, parts out.

Each rank reduces the slices that begin in its part. Of one that goes on in the next
parts, it gets what these have reduced of it: a row of each part is sent.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.blocks import stacked
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.parts import inside, local, make, move
from dtensor.ops._make.routes import part_number, ranges_of, reachable
from dtensor.ops.reduce.chain import ASSOCIATIVE
from dtensor.ops.shape.borders import resized

__all__ = ["are_in_parts", "slices_of_parts"]

Array = npt.NDArray[Any]


def are_in_parts(function: np.ufunc, layout: _C.Layout | None, dim: int) -> bool:
    """Return whether slices of a dim are reduced in parts, if they are in order."""
    known = layout is not None and reachable(layout.settled(), dim)
    return known and function in (np.add, np.multiply, *ASSOCIATIVE)


def slices_of_parts(
    function: np.ufunc, x: _C.DTensor, where: Array, dim: int, dtype: Any
) -> _C.DTensor | None:
    """Return ``function.reduceat(x, where, dim, dtype)``, cut where `x` is; None if
    `where` is not in order.

    Collective. It has no gradient.
    """
    length = x.shape[dim]
    if where.ndim != 1 or where.dtype.kind not in "iu" or not where.size:
        return None
    if where.min() < 0 or where.max() >= length or (where[1:] < where[:-1]).any():
        return None
    name = f"{function.__name__}.reduceat"
    with within(name, x, where, dim, dtype):
        return _reduced(name, function, settled(name, x), where, dim, dtype)


def _reduced(
    name: str, function: np.ufunc, x: _C.DTensor, where: Array, dim: int, dtype: Any
) -> _C.DTensor:
    like = x.layout.with_dtype(
        function.reduceat(np.ones(1, x.dtype), [0], 0, dtype).dtype
    )
    parts = ranges_of(x.layout, dim)
    firsts = [np.searchsorted(where, ends).tolist() for ends in parts]
    to = resized(like, dim, [b - a for a, b in firsts])
    # Where the slice ends in each part that began in another one.
    heads = [
        int(where[a]) if a < b else end
        for (a, b), (_, end) in zip(firsts, parts, strict=True)
    ]
    rows = stacked(like, (dim,))
    if is_meta(x):
        return _C.without_data(to)
    part: Any = np.empty(0, to.dtype)
    own = np.zeros(rows.local_shape() if inside(to) else 0, to.dtype)
    mine = part_number(x.layout, dim)
    start = parts[mine][0]
    options: dict[str, Any] = {"axis": dim, "dtype": to.dtype}
    if inside(to) and heads[mine] > start:
        before = (slice(None),) * dim + (slice(heads[mine] - start),)
        own[0] = function.reduce(local(x)[before], **options)
    totals = local(move(name, make(own, rows), rows.whole(0)))
    first, last = firsts[mine]
    if inside(to):
        part = np.empty(to.local_shape(), to.dtype)
    if inside(to) and first < last:
        part = function.reduceat(local(x), where[first:last] - start, **options)
        after = _after(mine, parts, firsts, heads)
        if after:
            end = (slice(None),) * dim + (-1,)
            joined = np.concatenate([part[end][None], totals[after]])
            part[end] = function.reduce(joined, axis=0, dtype=to.dtype)
    return make(part, to)


def _after(
    mine: int, parts: list[Any], firsts: list[list[int]], heads: list[int]
) -> list[int]:
    """Return the parts in which the last slice of a part goes on."""
    found = []
    for k in range(mine + 1, len(parts)):
        if heads[k] > parts[k][0]:
            found.append(k)
        if firsts[k][0] < firsts[k][1]:
            break
    return found
