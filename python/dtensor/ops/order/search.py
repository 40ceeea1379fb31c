"""Searching in sorted arrays."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.composite import within
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import inside, local, make, values_of
from dtensor.ops._make.routes import ranges_of, reachable, route_to
from dtensor.ops._make.words import hollow

__all__ = ["digitize", "searchsorted"]

INDEX = np.dtype(np.intp)


@implements(np.searchsorted)
@operator(operands=2)
def searchsorted(
    a: Operand, v: Operand, side: Any = "left", sorter: Operand | None = None
) -> Any:
    """Return where elements are to be inserted to keep an array in order.

    Parameters
    ----------
    a : array_like, shape (n,)
        In ascending order. It may be cut: every rank then counts in its part, and the
        result is a Partial(sum); or, if `v` is cut by the same mesh dims, each value is
        sent to the rank that has the elements around it, where that sends less than a
        gather.
    v : array_like
        The values to insert; may be cut.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : array_like, shape (n,), optional
        Indices that sort `a`, which is whole then.
    """
    if a.ndim != 1 or side not in ("left", "right"):
        np.searchsorted(hollow(a.shape), hollow(v.shape), side)  # raises
    if sorter is not None and not isinstance(sorter, Operand):
        return _with_sorter
    names = " ".join(letters(v.ndim, skip=1))
    if sorter is None and _is_in_parts(a, v):
        return _in_parts
    if sorter is None:
        text = f"a,{names}->{names}"
        return Rule(text), weak_call(np.searchsorted, a, v, side), INDEX
    text = f"*,{names},*->{names}"
    return Rule(text), weak_call(np.searchsorted, a, v, side, sorter), INDEX


def _with_sorter(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Take a list for the array that it is to NumPy."""
    return searchsorted(a, v, side, np.asarray(sorter))


# --- of arrays that are cut -----------------------------------------------------------


def _is_in_parts(a: Operand, v: Operand) -> bool:
    """Return whether each value is sent to the rank that has the elements around it."""
    if a.layout is None or v.layout is None or a.size < routes.LEAST_SIZE:
        return False
    kinds = {a.layout.dtype.kind, v.layout.dtype.kind}
    if not reachable(a.layout, 0) or v.layout.is_partial or not kinds <= {*"biufc"}:
        return False
    cutting = {m for d in range(v.ndim) for m in v.layout.cut_by(d)}
    if a.layout.mesh != v.layout.mesh or cutting != {*a.layout.cut_by(0)}:
        return False
    asked = v.size * (v.layout.dtype.itemsize + INDEX.itemsize)
    others = len(ranges_of(a.layout, 0)) - 1
    return asked < a.size * a.layout.dtype.itemsize * others


def _in_parts(
    a: _C.DTensor, v: _C.DTensor, side: Any = "left", sorter: None = None
) -> Any:
    """Send each value to the last part that begins before it: the parts before that one
    count whole, those after it not at all."""
    to = v.layout.with_dtype(INDEX)
    if is_meta(a) or is_meta(v):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    with within("searchsorted", a, v, side):
        own, part = ranges_of(a.layout, 0), local(a)
        count = len(own)
        cuts = {0: tuple(range(count + 1))}
        rows = _C.Layout(a.device_mesh, a.placements, (count,), a.dtype, cuts=cuts)
        first = part[:1] if part.size else np.zeros(1, a.dtype)
        heads = values_of("searchsorted", make(first, rows))
        parts = np.array([k for k, (start, stop) in enumerate(own) if start < stop])
        values = local(v).ravel()
        before = np.searchsorted(heads[parts], values, side) - 1
        route = route_to("searchsorted", a.layout, 0, parts[np.maximum(before, 0)])
        found = np.searchsorted(part, route.there(values), side) + own[route.mine][0]
        return make(route.back(found).reshape(local(v).shape), to)


@method(name="searchsorted")
def _searchsorted_method(x: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Return where `v` would be inserted to keep `x` sorted: see `searchsorted`."""
    return searchsorted(x, v, side, sorter)


@implements(np.digitize)
@operator(operands=2)
def digitize(x: Operand, bins: Operand, right: bool = False) -> Any:
    """Return the numbers of the bins that elements belong to.

    Parameters
    ----------
    x : array_like
        The elements; may be cut.
    bins : array_like, shape (n,)
        The edges, ascending or descending; whole on every rank.
    right : bool, default False
        Whether a bin contains its right edge instead of its left one.
    """
    if x.dtype is not None and x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    names = " ".join(letters(x.ndim))
    return Rule(f"{names},*->{names}"), weak_call(np.digitize, x, bins, right), INDEX
