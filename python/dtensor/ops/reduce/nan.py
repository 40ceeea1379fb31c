"""Reductions that ignore NaN."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.caller import warn
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.composite import as_dtype, composite, settled
from dtensor.ops._make.elementwise import anywhere, broadcast
from dtensor.ops._make.operator import (
    Operand,
    Operator,
    Rule,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.out import as_floats, cast_back, casts_out
from dtensor.ops._make.reduction import (
    KINDS,
    MISSING,
    Axis,
    DTypeLike,
    kept,
    probe,
    reduced_axes,
)
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import (
    divide,
    isnan,
    logical_and,
    logical_not,
    subtract,
)
from dtensor.ops.reduce import reductions
from dtensor.ops.reduce.arg import argmax, argmin
from dtensor.ops.reduce.gradient import of_product, reduced, restored
from dtensor.ops.reduce.statistics import (
    centered,
    deviation,
    divided,
    freedom_of,
    mean as plain_mean,
    squared,
    var as plain_var,
)

__all__ = [
    "nanargmax",
    "nanargmin",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _exact(a: Any) -> bool:
    """Return whether there can be no NaN."""
    return a.dtype.kind in "biu"


# --- sums -----------------------------------------------------------------------------


def _present_only(core: Any) -> Any:
    """Return the gradient of a reduction that ignores NaN."""

    def masked(
        grad: Any, out: Any, a: Any, axes: Any, keepdims: Any, initial: Any, where: Any
    ) -> Any:
        present = logical_not(isnan(a))
        where = present if where is True else logical_and(where, present)
        return core(grad, out, a, axes, keepdims, initial, where)

    return reduced(masked)


def _of_sum(
    grad: Any, _out: Any, _a: Any, axes: Any, keepdims: Any, _: Any, where: Any
) -> Any:
    return where_(where, restored(grad, axes, keepdims), 0)


def _reduction(
    function: Callable[..., Any], ufunc: np.ufunc, core: Any, what: str
) -> Operator:
    doc = f"Return the {what}, ignoring NaN; parameters as of `sum`."

    def kernel_of(a: Operand) -> Any:
        return None if _exact(a) else function

    made = reductions.typed(function, ufunc, _present_only(core), doc, kernel_of)
    return casts_out(made)


nansum = _reduction(np.nansum, np.add, _of_sum, "sum")
nanprod = _reduction(np.nanprod, np.multiply, of_product, "product")

# --- greatest and least ---------------------------------------------------------------


@operator(name="nanmax_or_nanmin", operands=2)
def _or_nan(values: Operand, flag: Operand, lost: bool = True) -> Answer:
    """Return the values, but NaN, and a warning, where a flag is `lost`."""
    return broadcast([values, flag]), call(_fill, values, flag, lost), values.dtype


def _fill(
    values: npt.NDArray[Any], flag: npt.NDArray[np.bool], is_lost: bool
) -> npt.NDArray[Any]:
    lost = flag == is_lost
    if not lost.any():
        return values
    warn("All-NaN slice encountered", RuntimeWarning)
    return np.where(lost, np.nan, values)


_or_nan.vjp(lambda grad, _out, _values, lost: where_(lost, 0, grad))


@operator(name="nanmax_or_nanmin", operands=1)
def _of_present(
    a: Operand, function: np.ufunc, axis: Axis, keepdims: bool, never: float
) -> Answer:
    """Return the extreme of what is not NaN; and, reduced as it is, a flag that is
    True for the greatest where there is such a value, for the least where none is."""
    axes = reduced_axes(axis, a.ndim)
    function.reduce(probe(a), axis=axes)  # or NumPy's error
    names = letters(a.ndim)
    after = " ".join(kept(names, axes, keepdims))
    op = KINDS[_WINNERS[function]].op
    text = Rule(f"{' '.join(names)}->{after},{after}", reduce=op)
    kernel = call(_of_part, a, function, axes, bool(keepdims), never)
    return text, kernel, (a.dtype, np.dtype(bool))


_WINNERS: dict[np.ufunc, np.ufunc] = {np.fmax: np.maximum, np.fmin: np.minimum}


def _of_part(
    part: npt.NDArray[Any],
    function: np.ufunc,
    axes: tuple[int, ...],
    keepdims: bool,
    never: float,
) -> Any:
    found = function.reduce(part, axis=axes, keepdims=keepdims, initial=np.nan)
    lost = np.isnan(found)
    return np.where(lost, never, found), lost if function is np.fmin else ~lost


def _is_recorded(a: Any) -> bool:
    return isinstance(a, _C.Tensor) and a.requires_grad and _C.is_grad_enabled()


def _may_be_nan(initial: Any, dtype: np.dtype[Any]) -> Any:
    """Return False for an initial value that is no NaN, or that NumPy refuses, and
    otherwise whether it is one: of a DTensor, which may be pending, another one."""
    known = initial if hasattr(initial, "dtype") else np.asarray(initial)
    kinds = "fc" if dtype.kind == "c" else "f"
    if known.ndim or known.dtype.kind not in kinds:
        return False
    found = isnan(initial)
    return found if isinstance(found, _C.Tensor) else bool(found)


def _extreme(
    function: Callable[..., Any],
    ufunc: np.ufunc,
    plain: Callable[..., Any],
    never: float,
    doc: str,
) -> Any:
    def make(
        a: Any,
        axis: Axis = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        options = {"axis": axis, "keepdims": keepdims}
        first = {} if initial is MISSING or initial is None else {"initial": initial}
        if _exact(a):
            return plain(a, where=where, **first, **options)
        if a.dtype.kind == "f" and where is True and not (first or _is_recorded(a)):
            values, flag = _of_present(a, ufunc, axis, keepdims, never)
            return _or_nan(values, flag, ufunc is np.fmin)
        missing = settled("isnan", isnan(a))
        unknown: Any = not first or _may_be_nan(initial, a.dtype)
        if first and unknown is not False:
            first = {"initial": where_(unknown, never, initial)}
        values = plain(where_(missing, never, a), where=where, **first, **options)
        if unknown is False:
            return values
        lost = reductions.all(missing, where=where, **options)
        return _or_nan(values, logical_and(lost, unknown) if first else lost)

    make.__name__ = function.__name__
    make.__doc__ = doc
    return implements(function)(composite(make))


_MAX = """Return the greatest element, ignoring NaN; parameters as of `max`.

    Where all are NaN the result is NaN, and the ranks that hold it warn."""
_MIN = "Return the least element, ignoring NaN; as `nanmax`."
nanmax = _extreme(np.nanmax, np.fmax, reductions.max, -np.inf, _MAX)
nanmin = _extreme(np.nanmin, np.fmin, reductions.min, np.inf, _MIN)


def _nanarg(function: Any, a: Any, axis: Any, never: float, keepdims: bool) -> Any:
    if not _exact(a):
        missing = isnan(a)
        if anywhere(reductions.all(missing, axis)):
            raise ValueError("All-NaN slice encountered")
        a = where_(missing, never, a)
    return function(a, axis, keepdims=keepdims)


@implements(np.nanargmax)
@functools.partial(composite, check=cast_back)
def nanargmax(
    a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Any:
    """Return where the greatest element is, ignoring NaN; arguments as of `argmax`.

    Raises
    ------
    ValueError
        If all elements along the axis are NaN somewhere; on every rank.
    """
    return _nanarg(argmax, a, axis, -np.inf, keepdims)


@implements(np.nanargmin)
@functools.partial(composite, check=cast_back)
def nanargmin(
    a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Any:
    """Return where the least element is, ignoring NaN; as `nanargmax`."""
    return _nanarg(argmin, a, axis, np.inf, keepdims)


# --- means ----------------------------------------------------------------------------


def _check_dtype(dtype: DTypeLike) -> None:
    if dtype is not None and dtype_of(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


def _present(a: Any, axis: Axis, keepdims: bool, where: Any) -> Any:
    """Return how many elements are not NaN."""
    present = logical_not(isnan(a))
    count = reductions.sum(present, axis, np.intp, keepdims=keepdims, where=where)
    return settled("isnan", count)


@implements(np.nanmean)
@functools.partial(composite, wide=as_floats)
def nanmean(
    a: Any,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Any:
    """Return the mean, ignoring NaN; parameters as of `mean`."""
    if _exact(a):
        return plain_mean(a, axis, dtype, keepdims=keepdims, where=where)
    _check_dtype(dtype)
    total = nansum(a, axis, dtype, keepdims=keepdims, where=where)
    count = _present(a, axis, keepdims, where)
    return as_dtype(divide(total, count), total.dtype)


@implements(np.nanvar)
@functools.partial(composite, wide=as_floats)
def nanvar(
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
    """Return the variance, ignoring NaN; parameters as of `var`.

    It is NaN where at most `ddof` elements are not NaN."""
    if _exact(a):
        more = {"where": where, "mean": mean, "correction": correction}
        return plain_var(a, axis, dtype, None, ddof, keepdims, **more)
    _check_dtype(dtype)
    if correction is not MISSING:
        if ddof != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    axes = reduced_axes(axis, a.ndim)
    count = _present(a, axes, True, where)
    if mean is MISSING or mean is None:
        total = nansum(a, axes, dtype, keepdims=True, where=where)
        mean = settled("nanvar", as_dtype(divide(total, count), total.dtype))
        distance = centered(a, mean)
    else:
        distance = subtract(a, mean)
    squares = squared(where_(isnan(a), 0, distance))
    total = reductions.sum(squares, axes, dtype, keepdims=keepdims, where=where)
    if not keepdims:
        count = np.squeeze(count, axis=axes)
    freedom = freedom_of(count, ddof)
    return where_(freedom <= 0, np.nan, divided(total, freedom))


_STD = "Return the standard deviation, ignoring NaN; as `nanvar`."
nanstd = deviation(np.nanstd, nanvar, _STD)
