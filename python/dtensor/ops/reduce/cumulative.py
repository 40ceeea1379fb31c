"""Cumulative sums and products, also without NaN; and differences."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite
from dtensor.ops._make.direct import Maybe, in_front, is_cut
from dtensor.ops._make.halves import is_half
from dtensor.ops._make.operator import Operand, implements, method
from dtensor.ops._make.out import widened
from dtensor.ops._make.reduction import DTypeLike
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import isnan
from dtensor.ops.reduce import differences
from dtensor.ops.reduce.differences import *  # noqa: F403
from dtensor.ops.reduce.scan import scan, whole_scan

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "nancumprod",
    "nancumsum",
]
__all__ += differences.__all__


_into_out = functools.partial(composite, writes_out=False)
_widened = functools.partial(composite, wide=widened)


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    """Return the array to scan: without an axis the flattened array."""
    if axis is None:
        return (x if x.ndim == 1 else np.ravel(x)), 0
    return (x if x.ndim else np.ravel(x)), axis


def _row(function: np.ufunc) -> Callable[..., Maybe]:
    """Return the row of scans along a dim that is not cut."""

    def ask(
        a: Any, axis: int | None = None, dtype: DTypeLike = None, out: None = None
    ) -> Maybe:
        whole = isinstance(a, Operand) and a.ndim and not is_half(a.dtype)
        if not whole or dtype is not None or type(axis) is not int:
            return None
        if is_cut(a, (normalize_axis_index(axis, a.ndim),), alone=True):
            return None
        found: Answer = whole_scan(function).__wrapped__(a, axis)
        return found

    return ask


@method
@in_front(_row(np.add), whole_scan(np.add))
@implements(np.cumsum)
@_into_out
def cumsum(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return the cumulative sum along an axis.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        Also `dim`; default: of the flattened array.
    dtype : dtype_like, optional
        The dtype to add in; default as in `numpy.cumsum`.
    out : DTensor, optional
        What the result is written to.

    Returns
    -------
    DTensor
        Of the shape and layout of `a`; without an axis, of one dim.
    """
    return scan(np.add, *_flat(a, axis), dtype, out)


@method
@in_front(_row(np.multiply), whole_scan(np.multiply))
@implements(np.cumprod)
@_into_out
def cumprod(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return the cumulative product along an axis; arguments as of `cumsum`."""
    return scan(np.multiply, *_flat(a, axis), dtype, out)


def _filled(a: Any, value: int) -> Any:
    return a if a.dtype.kind in "biu" else where_(isnan(a), value, a)


@implements(np.nancumsum)
@_widened
def nancumsum(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return `cumsum` with NaN counted as 0."""
    return cumsum(_filled(a, 0), axis, dtype)


@implements(np.nancumprod)
@_widened
def nancumprod(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return `cumprod` with NaN counted as 1."""
    return cumprod(_filled(a, 1), axis, dtype)


def _cumulative(function: np.ufunc, name: str) -> Any:
    def cumulative(
        x: Any,
        /,
        *,
        axis: int | None = None,
        dtype: DTypeLike = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        x = np.atleast_1d(x)
        if axis is None and x.ndim >= 2:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is "
                "required."
            )
        axis = 0 if axis is None else normalize_axis_index(axis, x.ndim)
        result = scan(function, x, axis, dtype)
        if not include_initial:
            return result
        first = np.full(
            [1 if dim == axis else n for dim, n in enumerate(x.shape)],
            function.identity,
            result.dtype,
        )
        return np.concatenate([first, result], axis=axis)

    cumulative.__name__ = cumulative.__qualname__ = name
    cumulative.__doc__ = f"Along an axis: see `numpy.{name}`."
    return implements(getattr(np, name))(_widened(cumulative))


cumulative_sum = _cumulative(np.add, "cumulative_sum")
cumulative_prod = _cumulative(np.multiply, "cumulative_prod")
