"""Reductions: sum, prod, max, min, any, all, count_nonzero, trace.

Along a cut dim each rank reduces its own part. The result is then Partial: its addends
are reduced when the values are needed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.autocast import in_single
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.operator import (
    Operand,
    Operator,
    Part,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.out import casts_out
from dtensor.ops._make.parts import positions
from dtensor.ops._make.reduction import (
    MISSING,
    Axis,
    DTypeLike,
    Layouts,
    kept,
    loop_dtype,
    reduced_axes,
    reduction,
)
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.reduce.gradient import (
    cut_as,
    of_extreme,
    of_product,
    of_sum,
    reduced,
    restored,
)

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "count_nonzero",
    "max",
    "min",
    "prod",
    "sum",
    "trace",
]


@method
@implements(np.sum)
@casts_out
@operator
def sum(
    a: Operand,
    axis: Axis = None,
    dtype: DTypeLike = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = MISSING,
    where: Any = True,
) -> Answer:
    """Return the sum of the elements along axes.

    Parameters
    ----------
    a : array_like
        Partial(sum) and Partial(avg) stay Partial.
    axis : int or tuple of int, optional
        Also `dim`; default: all.
    dtype : dtype_like, optional
        The dtype to add in; default as in `numpy.sum`.
    out : DTensor, optional
        What the result is written to.
    keepdims : bool, default False
        Whether the axes stay, with length 1. Also `keepdim`.
    initial : scalar, optional
        What is added to the sum.
    where : array_like of bool, optional
        Which elements count.

    Returns
    -------
    DTensor
        Partial(sum) on mesh dims that cut an axis; 0-d without any dims.
    """
    return reduction(np.add, a, axis, dtype, keepdims, initial, where, out=out)


sum.vjp(of_sum())


def typed(
    function: Callable[..., Any],
    ufunc: np.ufunc,
    gradient: Callable[..., Any],
    doc: str,
    kernel_of: Callable[[Operand], Any] = lambda _: None,
) -> Operator:
    """Make a reduction that takes a dtype; `kernel_of`: that of `reduction`."""

    def make(
        a: Operand,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Answer:
        kernel = kernel_of(a)
        return reduction(
            ufunc, a, axis, dtype, keepdims, initial, where, kernel, out=out
        )

    make.__name__ = function.__name__
    make.__doc__ = doc
    return implements(function)(operator(make).vjp(gradient))


_PROD = "Return the product of the elements along axes; parameters as of `sum`."
prod = in_single(
    method(casts_out(typed(np.prod, np.multiply, reduced(of_product), _PROD)))
)


def _of_extreme(
    grad: Any, out: Any, a: Any, axis: Axis = None, *rest: Any, **named: Any
) -> Any:
    """Return the gradient of a reduction that takes no dtype."""
    return reduced(of_extreme)(grad, out, a, axis, None, *rest, **named)


def _extreme(function: Callable[..., Any], ufunc: np.ufunc, doc: str) -> Operator:
    def make(
        a: Operand,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Answer:
        return reduction(ufunc, a, axis, None, keepdims, initial, where, out=out)

    make.__name__ = function.__name__
    make.__doc__ = doc
    return method(casts_out(implements(function)(operator(make).vjp(_of_extreme))))


_MAX = """Return the greatest element along axes; parameters as of `sum`.

    Raises
    ------
    ValueError
        If there is no element and no `initial`, or `where` without `initial`.
    """
_MIN = "Return the least element along axes; parameters and errors as of `max`."
max = _extreme(np.max, np.maximum, _MAX)
min = _extreme(np.min, np.minimum, _MIN)

amax = implements(np.amax)(max)
amin = implements(np.amin)(min)


def _test(function: Callable[..., Any], ufunc: np.ufunc, what: str) -> Operator:
    def make(
        a: Operand,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Answer:
        return reduction(ufunc, a, axis, None, keepdims, where=where, out=out)

    make.__name__ = function.__name__
    make.__doc__ = f"Return whether {what} along axes true; parameters as of `sum`."
    return method(casts_out(implements(function)(operator(make))))


all = _test(np.all, np.logical_and, "all elements are")
any = _test(np.any, np.logical_or, "any element is")


@implements(np.count_nonzero)
@operator
def count_nonzero(a: Operand, axis: Axis = None, *, keepdims: bool = False) -> Answer:
    """Return the number of nonzero elements along axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        Default: all.
    keepdims : bool, default False
        Whether the axes stay, with length 1.

    Returns
    -------
    DTensor of int64
    """
    axes = reduced_axes(axis, a.ndim)
    names = letters(a.ndim)
    text = rule([names], [kept(names, axes, keepdims)])
    # Without axes NumPy has a faster way.
    chosen = None if len(axes) == a.ndim and not keepdims else axes
    counts = call(np.count_nonzero, a, axis=chosen, keepdims=keepdims)
    return text, counts, np.dtype(np.intp)


def _diagonal_sum(
    x: npt.NDArray[Any],
    axes: tuple[int, int],
    where: tuple[npt.NDArray[Any], ...],
    dtype: np.dtype[Any],
) -> Any:
    return np.add.reduce(np.moveaxis(x, axes, (0, 1))[where], axis=0, dtype=dtype)


@in_single
@method
@implements(np.trace)
@casts_out
@operator
def trace(
    a: Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: None = None,
) -> Answer:
    """Return the sum along diagonals: see `numpy.trace`.

    Each rank adds up its part of the diagonal; the result is Partial(sum) where
    one of the two dims is cut."""
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    axes = (
        normalize_axis_index(axis1, a.ndim, "axis1"),
        normalize_axis_index(axis2, a.ndim, "axis2"),
    )
    if axes[0] == axes[1]:
        raise ValueError("axis1 and axis2 cannot be the same")

    def diagonal(operands: Layouts, results: Layouts) -> tuple[Any, ...]:
        held = [
            positions(operands[0], dim) if operands else np.arange(a.shape[dim])
            for dim in axes
        ]
        return np.intersect1d(held[0] + offset, held[1], return_indices=True)[1:]

    names = letters(a.ndim)
    loop = loop_dtype(np.add, a.dtype, dtype, out)
    wide = np.trace(np.ones((1, 1), a.dtype), offset, dtype=loop).dtype
    text = rule([names], [kept(names, axes, False)], "0")
    return text, call(_diagonal_sum, a, axes, Part(diagonal), wide), wide


def _of_trace(
    grad: Any,
    _out: Any,
    _a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: None = None,
) -> Any:
    axes = axis1 % _a.ndim, axis2 % _a.ndim
    diagonal = np.eye(_a.shape[axes[0]], _a.shape[axes[1]], offset, dtype=bool)
    shape = [n if dim in axes else 1 for dim, n in enumerate(_a.shape)]
    mask = (diagonal if axes[0] < axes[1] else diagonal.T).reshape(shape)
    return cut_as(where_(mask, restored(grad, axes, False), 0), _a)


trace.vjp(_of_trace)
