"""Medians and quantiles; the reduced dims are made whole first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.operator import (
    Operand,
    axes_of,
    broadcasts_out,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.reduction import Axis, kept, probe
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.reduce.quantile_gradient import of_median, of_quantile

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
    given = (axis,) if isinstance(axis, int) else tuple(axis or axes)
    given = tuple(dim % a.ndim for dim in given)
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
    text = rule(terms, [[*first, *kept(names, axes, keepdims)]])
    return text, call(_run, function, a, *levels, axis=given, **options)


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
        return function(x, *levels, axis=axis, keepdims=keepdims, **options)
    options.pop("weights", None)
    one = np.asarray(function(np.ones(1, x.dtype), *levels, **options))
    shape = [1 if dim in axis else n for dim, n in enumerate(x.shape)]
    return np.empty([*one.shape, *(shape if keepdims else rest)], one.dtype)


@implements(np.median)
@operator
def median(
    a: Operand,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Answer:
    """Return the median along axes, which are made whole: see `numpy.median`."""
    return _sorted_out(np.median, a, axis, keepdims=keepdims)


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
) -> Answer:
    """Return the median along axes, ignoring NaN; the axes are made whole."""
    return _sorted_out(np.nanmedian, a, axis, keepdims=keepdims)


nanmedian.vjp(of_median(np.nanmedian))


def _quantile(function: Callable[..., Any]) -> Any:
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
    ) -> Answer:
        options: dict[str, Any] = {"method": method, "keepdims": keepdims}
        if weights is not None:
            options["weights"] = weights
        return _sorted_out(function, a, axis, q, **options)

    make.__name__ = function.__name__
    make.__doc__ = f"""Along axes, which are made whole: see
    `numpy.{function.__name__}`.

    Parameters
    ----------
    a : array_like
    q : array_like of float
        Its dims are the first of the result, and not cut.
    axis, out, overwrite_input, method, keepdims, weights
        As NumPy's; the input is never overwritten.
    """
    answer = broadcasts_out(operator(make, operands=2))
    answer.vjp(of_quantile(function))
    return implements(function)(answer)


quantile = _quantile(np.quantile)
percentile = _quantile(np.percentile)
nanquantile = _quantile(np.nanquantile)
nanpercentile = _quantile(np.nanpercentile)
