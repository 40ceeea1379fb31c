"""Means and variances.

A mean is a sum divided by a count, which is exact for parts of any size and stays
Partial(sum)."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.ops._make.composite import (
    array_of,
    as_dtype,
    composite,
    rounded_once,
    settled,
)
from dtensor.ops._make.direct import in_front
from dtensor.ops._make.elementwise import anywhere, broadcast
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.operator import (
    Operand,
    axes_of,
    call,
    implements,
    method,
    operator,
)
from dtensor.ops._make.out import as_floats, widened
from dtensor.ops._make.reduction import MISSING, Axis, DTypeLike, reduced_axes
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.functions import imag, real
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import (
    add,
    divide,
    exp,
    isfinite,
    log,
    multiply,
    square,
    subtract,
)
from dtensor.ops.reduce import reductions
from dtensor.ops.reduce.rows import (
    mean_axes,
    mean_row,
    of_mean,
    of_std,
    of_var,
    std_row,
    var_row,
)
from dtensor.ops.reduce.weights import weights_beside

__all__ = ["average", "logsumexp", "mean", "ptp", "std", "var"]

# --- means and variances --------------------------------------------------------------

_composite = functools.partial(composite, wide=as_floats)


def counted(a: Any, axes: tuple[int, ...], where: Any, keepdims: bool) -> Any:
    """Return how many elements are reduced: a number; with `where` an array."""
    if where is True:
        return math.prod(a.shape[dim] for dim in axes)
    mask: Any = np.broadcast_to(where, a.shape)
    return mask.sum(axis=axes, dtype=np.intp, keepdims=keepdims)


def _mean(a: Any, axes: Any, dtype: Any, keepdims: bool, where: Any) -> Any:
    """Return sum and mean, both in the dtype that NumPy adds in."""
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    total = reductions.sum(a, axes, dtype, keepdims=keepdims, where=where)
    count = counted(a, axes, where, keepdims)
    return as_dtype(divide(total, count), total.dtype)


@method
@in_front(mean_row, reductions.sum, of_mean)
@implements(np.mean)
@_composite
def mean(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """Return the mean of the elements along axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        Default: all.
    dtype : dtype_like, optional
        The dtype to compute in; default: float64 for integers, float32 for floats of
        16 bits.
    out : DTensor, optional
        What the result is written to.
    keepdims : bool, default False
        Whether the axes stay, with length 1.
    where : array_like of bool, optional
        Which elements count.

    Returns
    -------
    DTensor
        Partial(sum) on mesh dims that cut an axis.
    """
    a = array_of(a)
    axes = mean_axes(axis, a.ndim)
    if where is True and not counted(a, axes, True, False):
        warn("Mean of empty slice", RuntimeWarning)
    half = dtype is None and is_half(a.dtype)
    result = _mean(a, axes, np.float32 if half else dtype, keepdims, where)
    return as_dtype(result, a.dtype) if half else result


@operator
def centered(a: Operand, mean: Operand) -> Answer:
    """Return the elements less their own mean.

    The sum of their squares does not change with the mean, which is where it is least:
    it has no gradient, except in the gradient of the gradient."""
    rows = "all;avg,R->avg;R,avg->avg"
    return broadcast([a, mean], rows), call(np.subtract, a, mean)


centered.vjp(
    lambda g, _out, _a, _mean: g,
    lambda g, _out, _a, _mean: -g if _C.is_grad_enabled() else None,
)


@method
@in_front(var_row, reductions.sum, of_var)
@implements(np.var)
@_composite
@rounded_once
def var(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = MISSING,
    correction: Any = MISSING,
) -> Any:
    """Return the variance of the elements along axes.

    Two passes: first the mean, all-reduced among the ranks that share it, then the sum
    of squares, which is Partial(sum) on mesh dims that cut an axis.

    Parameters
    ----------
    a, axis, dtype, out, keepdims, where
        As of `mean`.
    ddof : int or float, default 0
        The divisor is the number of elements less `ddof`. Also `correction`.
    mean : array_like, optional
        The mean, if it is known, in the shape that ``keepdims=True`` gives.

    Raises
    ------
    ValueError
        If both `ddof` and `correction` are given.
    """
    if correction is not MISSING:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    axes = mean_axes(axis, a.ndim)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    count = counted(a, axes, where, keepdims)
    freedom = freedom_of(count, ddof)
    if where is True and ddof >= np.intp(count):
        warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
    if mean is MISSING or mean is None:
        mean = settled("var", _mean(a, axes, dtype, True, where))
        squares = squared(centered(a, mean))
    else:
        squares = squared(subtract(a, mean))
    total = reductions.sum(squares, axes, dtype, keepdims=keepdims, where=where)
    return divided(total, np.maximum(freedom, 0))


def freedom_of(count: Any, ddof: Any) -> Any:
    """Return a count less `ddof`: in the dtype that NumPy has for an intp and a `ddof`
    that may be a scalar or an array of its own."""
    if isinstance(ddof, int) and abs(ddof) >= 1 << 62:
        ddof = float(ddof)  # whose difference fits
    return (np.intp(count) if isinstance(count, int) else count) - ddof


def divided(total: Any, freedom: Any) -> Any:
    """Return sums of squares divided, in their dtype and shape, as NumPy writes into
    them: only a sum without dims may become an array."""
    if (
        total.ndim
        and np.broadcast_shapes(total.shape, np.shape(freedom)) != total.shape
    ):
        raise ValueError(
            f"non-broadcastable output operand with shape {total.shape} doesn't match "
            f"the shape {np.shape(freedom)} of the degrees of freedom"
        )
    return as_dtype(divide(total, freedom), total.dtype)


def squared(x: Any) -> Any:
    """Return squares; for complex numbers, squares of the absolute values."""
    if x.dtype.kind != "c":
        return square(x)
    return add(square(real(x)), square(imag(x)))


@operator
def root(x: Operand) -> Answer:
    """Return the square root of a variance, whose gradient at 0 is 0."""
    return broadcast([x]), call(np.sqrt, x)


root.vjp(lambda g, out, _x: where_(out == 0, 0, g / where_(out == 0, 1, out * 2)))


def deviation(
    function: Callable[..., Any], variance: Callable[..., Any], doc: str
) -> Any:
    """Return the implementation of a standard deviation."""

    def make(
        a: Any,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = MISSING,
        correction: Any = MISSING,
    ) -> Any:
        if dtype is not None:  # NumPy's errors: a root is not cast into integers
            one = np.ones((1,) * a.ndim, a.dtype)
            function(one, axis=axis, dtype=dtype, keepdims=keepdims)
        more = {"where": where, "mean": mean, "correction": correction}
        spread = variance(a, axis, dtype, None, ddof, keepdims, **more)
        return as_dtype(root(spread), spread.dtype)

    make.__name__ = function.__name__
    make.__doc__ = doc
    return implements(function)(_composite(rounded_once(make)))


_STD = "Return the standard deviation along axes; parameters as of `var`."
_std = deviation(np.std, var, _STD)
std = method(in_front(std_row, reductions.sum, of_std)(_std))


@implements(np.ptp)
@functools.partial(composite, wide=widened)
def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the greatest element less the least, along axes: see `numpy.ptp`."""
    options = {"axis": axis, "keepdims": keepdims}
    return subtract(reductions.max(a, **options), reductions.min(a, **options))


@implements(np.average)
@composite
def average(
    a: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Return the weighted mean along axes: see `numpy.average`.

    With weights it is collective: all ranks learn whether a sum of them is zero.

    Raises
    ------
    ZeroDivisionError
        If weights add up to zero, or there is no result.
    TypeError, ValueError
        If the shape of the weights fits neither `a` nor the axes.
    """
    a = array_of(a)
    axes = axes_of(axis, a.ndim) if a.ndim else reduced_axes(axis, 0)
    if weights is None:
        result = mean(a, axes, keepdims=keepdims)
        if result.size == 0:
            raise ZeroDivisionError("division by zero")
        total = np.full_like(result, counted(a, axes, True, False))
    else:
        wide = [np.float64] if a.dtype.kind in "biu" else []
        weights = weights_beside(weights, a, axis)
        dtype = np.result_type(a.dtype, weights.dtype, *wide)
        total = settled(
            "average", weights.sum(axis=axes, dtype=dtype, keepdims=keepdims)
        )
        if anywhere(total == 0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        product = multiply(as_dtype(a, dtype), weights)
        result = divide(reductions.sum(product, axes, keepdims=keepdims), total)
    if not returned:
        return result
    return result, np.broadcast_to(total, result.shape)


@composite
@rounded_once
def logsumexp(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return ``log(sum(exp(a)))`` along axes, without overflow.

    Parameters
    ----------
    a : array_like of float
    axis : int or tuple of int, optional
        Also `dim`; default: all.
    keepdims : bool, default False
        Whether the axes stay, with length 1. Also `keepdim`.
    """
    axes = reduced_axes(axis, a.ndim)
    # The result does not depend on it, so there is no gradient through it.
    known = a.detach() if isinstance(a, _C.Tensor) else a
    first = {} if all(a.shape[axis] for axis in axes) else {"initial": -np.inf}
    top = settled("logsumexp", reductions.max(known, axes, keepdims=True, **first))
    top = where_(isfinite(top), top, 0.0)
    total = log(reductions.sum(exp(subtract(a, top)), axes, keepdims=True))
    total = add(total, top)
    return total if keepdims else np.squeeze(total, axis=axes)
