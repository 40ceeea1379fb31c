"""Means and variances in one step: the rows of functions in `statistics`.

A mean is a sum of which each rank's part is divided by the number of all elements. A
variance along dims that are not cut is that of each rank's part."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.composite import settled
from dtensor.ops._make.direct import Maybe, is_cut
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.operator import Operand, axes_of, call, letters
from dtensor.ops._make.reduction import Axis, DTypeLike, kept, reduced_axes
from dtensor.ops._make.words import rule
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.reduce import reductions
from dtensor.ops.reduce.gradient import spread

__all__ = [
    "mean_axes",
    "mean_row",
    "of_mean",
    "of_std",
    "of_var",
    "spread_row",
    "std_row",
    "var_row",
]


def mean_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the dims that a mean is taken over: NumPy is stricter than for sums."""
    return reduced_axes(axis, ndim) if ndim else axes_of(axis, ndim)


def _count(a: Any, axes: tuple[int, ...]) -> int:
    return math.prod(a.shape[dim] for dim in axes)


# --- means ----------------------------------------------------------------------------


def mean_row(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
) -> Maybe:
    """Return the row of `mean`."""
    if not isinstance(a, Operand) or a.dtype.kind not in "biufc":
        return None
    axes = mean_axes(axis, a.ndim)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    loop = a.dtype if dtype is None else dtype_of(dtype)
    count = _count(a, axes)
    if not count or loop.kind not in "fc" or is_half(loop):
        return None
    options = {"axis": axes, "keepdims": bool(keepdims)}
    if dtype is not None:
        options["dtype"] = loop
    text, _, found = reductions.sum.__wrapped__(a, axes, dtype, None, bool(keepdims))
    return text, call(_C.mean_of, a, count, **options), found


def of_mean(
    grad: Any,
    _out: Any,
    _a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
) -> Any:
    """Return the gradient of a mean."""
    axes = mean_axes(axis, _a.ndim)
    return spread(grad / _count(_a, axes), _a, axes, keepdims)


# --- variances ------------------------------------------------------------------------


def spread_row(root: bool, a: Any, axis: Axis, ddof: Any, keepdims: bool) -> Maybe:
    """Return the row of a variance, or of its root."""
    if not isinstance(a, Operand) or a.dtype.kind not in "biuf" or is_half(a.dtype):
        return None
    axes = mean_axes(axis, a.ndim)
    partial = a.layout is not None and a.layout.is_partial
    known = type(ddof) in (int, float) and not isinstance(axis, bool)
    if partial or is_cut(a, axes) or not known:
        return None
    count = _count(a, axes)
    if not 0 <= ddof < count:
        return None
    names = letters(a.ndim, whole=axes)
    wide = None if a.dtype.kind == "f" else np.dtype(np.float64)
    options = (count, count - ddof, bool(keepdims), root)
    made = call(_C.spread_of, a, axes, wide, *options)
    return rule([names], [kept(names, axes, keepdims)]), made, wide or a.dtype


def _rows(root: bool) -> Callable[..., Maybe]:
    def ask(
        a: Any,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Maybe:
        return spread_row(root, a, axis, ddof, keepdims) if dtype is None else None

    return ask


var_row = _rows(False)
std_row = _rows(True)


def of_var(
    grad: Any,
    _out: Any,
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
) -> Any:
    """Return the gradient of a variance: twice the distance from the mean, divided."""
    axes = mean_axes(axis, a.ndim)
    count = _count(a, axes)
    total = reductions.sum(a, axes, keepdims=True)
    distance = a - settled("var", total / count)
    return spread(grad / (count - ddof), a, axes, keepdims) * (distance * 2)


def of_std(grad: Any, out: Any, a: Any, *args: Any) -> Any:
    """Return the gradient of a standard deviation, 0 where it is 0."""
    grad = where_(out == 0, 0, grad / where_(out == 0, 1, out * 2))
    return of_var(grad, None, a, *args)
