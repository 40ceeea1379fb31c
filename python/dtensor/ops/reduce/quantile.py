"""Medians and quantiles.

The reduced dims are made whole; of long lines only the elements that are needed are
found (`quantile_parts`)."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.device import is_meta
from dtensor.ops._make.autocast import in_single
from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.composite import as_dtype
from dtensor.ops._make.elementwise import anywhere
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import (
    Operand,
    axes_of,
    broadcasts_out,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.out import as_floats, widens_out
from dtensor.ops._make.parts import values_of
from dtensor.ops._make.reduction import Axis, kept, probe
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.reduce.quantile_gradient import of_median, of_quantile
from dtensor.ops.reduce.quantile_parts import Reduced, of_parts
from dtensor.ops.reduce.quantile_weighted import of_weighted_parts
from dtensor.ops.reduce.selection import is_selected

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


def _sorted_out(
    function: Callable[..., Any], a: Operand, axis: Axis, *levels: Any, **options: Any
) -> Answer:
    """Return rule and call where reduced dims stay whole; the dims of `levels` are the
    first of the result."""
    axes = axes_of(axis, a.ndim)
    names = letters(a.ndim, whole=axes)
    first: list[str] = []
    terms = [names]
    for q in levels:
        if isinstance(q, Operand):
            first = letters(q.ndim, range(q.ndim), skip=a.ndim)
            terms.append(first)
        else:
            first = [str(n) for n in np.shape(q)]
    # Weights lie in the order of the axes as they are given.
    given = axes if axis is None else normalize_axis_tuple(axis, a.ndim)
    weights = options.get("weights")
    if isinstance(weights, Operand):
        same = weights.shape == a.shape
        terms.append(names if same else [names[dim] for dim in given])
    if a.size == 0:
        probes = [
            probe(q) if isinstance(q, Operand) and q.dtype else 0.5 for q in levels
        ]
        function(np.empty(a.shape, a.dtype), *probes, axis=axes)  # or NumPy's error
    keepdims = bool(options.get("keepdims"))
    nothing = a.size == 0 and function in _LEAVE_OUT  # then NumPy forgets the levels
    text = rule(terms, [[*first * (not nothing), *kept(names, axes, keepdims)]])
    if nothing:
        return text, call(function, a, *levels, axis=given, **options), _float(a)
    return text, weak_call(_run, function, a, *levels, axis=given, **options)


# They leave out NaN, and compute in their own dtype what they write into `out`.
_LEAVE_OUT = (np.nanquantile, np.nanpercentile)


def _keep_dtype_of_nan() -> bool:
    """Return whether they return lines of NaN alone as they are, for several levels.

    NumPy did so until some release of 2.5.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanquantile(np.full(1, np.nan, np.float32), [0.5]).dtype == np.float32


_OF_NAN = _keep_dtype_of_nan()


def _float(a: Operand) -> np.dtype[Any]:
    return np.nanmean(np.ones(1, a.dtype)).dtype


def _run(
    function: Callable[..., Any],
    x: npt.NDArray[Any],
    *levels: Any,
    axis: tuple[int, ...],
    keepdims: bool,
    **options: Any,
) -> Any:
    """Return NumPy's result, also for parts for which NumPy has none."""
    rest = [n for dim, n in enumerate(x.shape) if dim not in axis]
    if 0 not in rest:
        if function in _LEAVE_OUT and np.ndim(levels[0]) > 1:
            # Of these NumPy puts the first dim in front only, along several axes.
            shape = np.shape(levels[0])
            options |= {"axis": axis, "keepdims": keepdims}
            line = _run(function, x, np.ravel(levels[0]), **options)
            return line.reshape(*shape, *line.shape[1:])
        result = function(x, *levels, axis=axis, keepdims=keepdims, **options)
        if not levels or not hasattr(levels[0], "dtype"):
            return result
        # Of NaN NumPy gives the dtype of `x`, whatever that of the levels is.
        options.pop("weights", None)
        dtype = function(np.ones(1, x.dtype), *levels, **options).dtype
        return np.asarray(result, dtype)
    options.pop("weights", None)
    one = np.asarray(function(np.ones(1, x.dtype), *levels, **options))
    shape = [1 if dim in axis else n for dim, n in enumerate(x.shape)]
    return np.empty([*one.shape, *(shape if keepdims else rest)], one.dtype)


def _is_selected(a: Any, axis: Axis) -> bool:
    return is_selected(a, axes_of(axis, a.ndim))


def _median_of_parts(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(
        a: Any,
        axis: Axis = None,
        out: None = None,
        overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Any:
        axes = axes_of(axis, a.ndim)
        return of_parts(a, Reduced(function, {}, axes, bool(keepdims)))

    return run


_MEDIAN = _median_of_parts(np.median)
_NANMEDIAN = _median_of_parts(np.nanmedian)


@implements(np.median)
@widens_out(as_floats)
@operator
def median(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Answer | Callable[..., Any]:
    """Return the median along axes: see `numpy.median`.

    Along cut axes that are long (2^14 elements a line) the two elements in the middle
    are found by samples: a few thousand elements are sent. Otherwise the axes are made
    whole.
    """
    answer = _sorted_out(np.median, a, axis, keepdims=keepdims)
    return _MEDIAN if _is_selected(a, axis) else answer


median.vjp(of_median(np.median))


@implements(np.nanmedian)
@broadcasts_out
@operator
def nanmedian(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Answer | Callable[..., Any]:
    """Return the median along axes, ignoring NaN; what is sent is as for `median`."""
    answer = _sorted_out(np.nanmedian, a, axis, keepdims=keepdims)
    return _NANMEDIAN if _is_selected(a, axis) else answer


nanmedian.vjp(of_median(np.nanmedian))


def _quantile(function: Callable[..., Any], plain: Any = None) -> Any:
    """Return the operator; `plain` is one whose dtype does not depend on NaN."""

    def run(
        a: Any,
        q: Any,
        axis: Axis = None,
        out: None = None,
        overwrite_input: bool = False,
        method: Any = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Any:
        options = {"q": _levels(function.__name__, q), "method": method}
        what = Reduced(function, options, axes_of(axis, a.ndim), bool(keepdims))
        if weights is None:
            return of_parts(a, what)
        return of_weighted_parts(a, what, weights, axis)

    def in_dtype_of_nan(
        a: Any, q: Any, axis: Axis = None, *args: Any, **options: Any
    ) -> Any:
        result = plain(a, q, axis, *args, **options)
        return as_dtype(result, a.dtype) if _has_nan(function, a, axis) else result

    def of_list(*args: Any, weights: Any, **options: Any) -> Any:
        return answer(*args, weights=np.asarray(weights), **options)

    def make(
        a: Operand,
        q: Operand,
        axis: Axis = None,
        out: None = None,
        overwrite_input: bool = False,
        method: Any = "linear",
        keepdims: bool = False,
        *,
        weights: Any = None,
    ) -> Answer | Callable[..., Any]:
        options: dict[str, Any] = {"method": method, "keepdims": keepdims}
        if isinstance(weights, list | tuple):
            return of_list
        if axis is None and getattr(weights, "shape", a.shape) != a.shape:
            raise TypeError(
                "Axis must be specified when shapes of a and weights differ."
            )
        if weights is not None:
            options["weights"] = weights
        answer = _sorted_out(function, a, axis, q, **options)
        if weights is not None:  # or NumPy's error
            function(np.ones(1), 0.5, weights=np.ones(1), method=method)
        if plain is not None and _follows_nan(function, a, q, axis, method, weights):
            return in_dtype_of_nan
        is_real = weights is None or a.dtype.kind in "iuf"
        return run if is_real and _is_selected(a, axis) else answer

    make.__name__ = function.__name__
    make.__doc__ = f"""Along axes: see `numpy.{function.__name__}`.

    Along cut axes that are long (2^14 elements a line) the elements around each
    quantile are found by samples: a few thousand are sent, and weights that are not cut
    as `a` is. Otherwise the axes are made whole.

    Parameters
    ----------
    a : array_like
    q : array_like of float
        Its dims are the first of the result, and not cut. If its dtype is wider than
        that of `a`, all ranks learn whether there are NaN that NumPy would return.
    axis, out, overwrite_input, method, keepdims, weights
        As NumPy's; the input is never overwritten.
    """
    answer = in_single(broadcasts_out(operator(make, operands=2)))
    if function not in _LEAVE_OUT:
        widens_out(as_floats)(answer)
    answer.vjp(of_quantile(function))
    return answer


# NumPy returns a NaN that it finds as it is, in the dtype of the array: a quantile of
# all elements, and those without NaN if the first line has nothing else (`_OF_NAN`).


def _follows_nan(
    function: Callable[..., Any],
    a: Operand,
    q: Any,
    axis: Axis,
    method: Any,
    weights: Any,
) -> bool:
    """Return whether NumPy's dtype depends on where there are NaN."""
    levels = q if isinstance(q, Operand) else np.asarray(q)
    is_weak = type(q) in (int, float) or levels.dtype is None  # a Python number
    if is_weak or weights is not None or a.dtype.kind != "f" or not a.size:
        return False
    axes = axes_of(axis, a.ndim)
    if function not in _LEAVE_OUT and (levels.ndim or len(axes) < a.ndim):
        return False
    if function in _LEAVE_OUT and levels.ndim and not _OF_NAN:
        return False
    one = np.ones(1, a.dtype)
    found = function(one, np.zeros(1, levels.dtype), method=method)
    return bool(found.dtype != one.dtype)


def _has_nan(function: Callable[..., Any], a: Any, axis: Axis) -> bool:
    """Return whether NumPy finds such NaN. Collective for DTensors."""
    if is_meta(a):
        return False
    if function not in _LEAVE_OUT:
        return anywhere(np.isnan(a))
    axes = axes_of(axis, a.ndim)
    first = a[tuple(slice(None) if dim in axes else 0 for dim in range(a.ndim))]
    return not anywhere(np.logical_not(np.isnan(first)))


def _levels(name: str, q: Any) -> Any:
    """Return quantiles that every rank has; NumPy treats Python numbers differently."""
    return q if type(q) in (int, float) else values_of(name, q)


def _implemented(function: Callable[..., Any]) -> Any:
    return implements(function)(_quantile(function, _quantile(function)))


quantile = _implemented(np.quantile)
percentile = _implemented(np.percentile)
nanquantile = _implemented(np.nanquantile)
nanpercentile = _implemented(np.nanpercentile)
