"""Searching in sorted arrays."""

from typing import Any

import numpy as np

from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    implements,
    letters,
    method,
    operator,
)
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
        result is a Partial(sum).
    v : array_like
        The values to insert; may be cut.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : array_like, shape (n,), optional
        Indices that sort `a`, which is whole then.
    """
    if a.ndim != 1 or side not in ("left", "right"):
        np.searchsorted(hollow(a.shape), hollow(v.shape), side)  # raises
    names = " ".join(letters(v.ndim, skip=1))
    if sorter is None:
        text = f"a,{names}->{names}"
        return Rule(text), weak_call(np.searchsorted, a, v, side), INDEX
    text = f"*,{names},*->{names}"
    return Rule(text), weak_call(np.searchsorted, a, v, side, sorter), INDEX


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
