"""Functions along dims whose arguments differ between PyTorch and NumPy.

By default `dim` is all dims.
"""

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from dtensor import linalg, ops
from dtensor._C import Tensor
from dtensor.torch._pointwise import FUNCTIONS
from dtensor.torch._returned import TYPES, Extremes
from dtensor.torch._types import numpy_dtype, torch_dtype

__all__ = [
    "all",
    "amax",
    "amin",
    "aminmax",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "nanmean",
    "nansum",
    "norm",
    "prod",
    "quantile",
    "std",
    "std_mean",
    "sum",
    "var",
    "var_mean",
]

Dims = int | Sequence[int] | None


# --- sums and tests -------------------------------------------------------------------


def summed(input: Any, dtype: Any = None) -> Any:
    """Return NumPy's dtype for a sum: unless it is given, int64 for integers."""
    kind = np.dtype(input.dtype).kind
    return np.int64 if dtype is None and kind in "bui" else numpy_dtype(dtype)


def check_floating(input: Any, what: str) -> None:
    """Raise RuntimeError for integers and booleans."""
    if np.dtype(input.dtype).kind in "bui":
        raise RuntimeError(
            f"{what} must be either a floating point or complex dtype. Got: "
            f"{torch_dtype(input.dtype).legacy}"
        )


def dims_of(dim: Dims, ndim: int) -> Any:
    """Return dims for NumPy: in PyTorch an empty list means all of them, and a tensor
    without dims has dim 0."""
    dims: Any = dim
    if dim is not None and not isinstance(dim, SupportsIndex):
        dims = tuple(dim) or None
    return None if ndim == 0 and dims in (0, -1, (0,), (-1,)) else dims


def sum(
    input: Any,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the sum of the elements, of integers and booleans as int64."""
    dtype = summed(input, dtype)
    return ops.sum(input, axis=dims_of(dim, input.ndim), dtype=dtype, keepdims=keepdim)


def nansum(
    input: Any,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the sum of the elements that are not NaN."""
    dtype = summed(input, dtype)
    return ops.nansum(
        input, axis=dims_of(dim, input.ndim), dtype=dtype, keepdims=keepdim
    )


def mean(
    input: Any,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the mean of the elements, which are floating-point numbers.

    Raises
    ------
    RuntimeError
        If they are not, and no `dtype` says as what they are to be taken.
    """
    if dtype is None:
        check_floating(input, "mean(): could not infer output dtype. Input dtype")
    dtype = numpy_dtype(dtype)
    return ops.mean(input, axis=dims_of(dim, input.ndim), dtype=dtype, keepdims=keepdim)


def nanmean(
    input: Any,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the mean of the elements that are not NaN."""
    dtype = numpy_dtype(dtype)
    return ops.nanmean(
        input, axis=dims_of(dim, input.ndim), dtype=dtype, keepdims=keepdim
    )


def prod(
    input: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the product of the elements, of integers and booleans as int64."""
    dtype = summed(input, dtype)
    return ops.prod(input, axis=dim, dtype=dtype, keepdims=keepdim)


def all(input: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """Return whether all elements are true."""
    return ops.all(input, axis=dims_of(dim, input.ndim), keepdims=keepdim)


def any(input: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """Return whether any element is true."""
    return ops.any(input, axis=dims_of(dim, input.ndim), keepdims=keepdim)


def count_nonzero(input: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    """Return how many elements are not 0."""
    axes = dims_of(dim, input.ndim)
    return ops.count_nonzero(input, axis=axes, keepdims=keepdim)


def norm(
    input: Any,
    p: Any = "fro",
    dim: Dims = None,
    keepdim: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the vector norm of the elements."""
    input = input if dtype is None else ops.astype(input, numpy_dtype(dtype))
    if p == "nuc":
        axes = (-2, -1) if dim is None else dims_of(dim, input.ndim)
        return linalg.norm(input, "nuc", axes, keepdim)
    order = 2 if p in ("fro", None) else p
    return linalg.vector_norm(
        input, ord=order, axis=dims_of(dim, input.ndim), keepdims=keepdim
    )


# --- spread ---------------------------------------------------------------------------


def _spread(
    function: Callable[..., Any],
    input: Any,
    dim: Any,
    unbiased: bool,
    keepdim: bool,
    correction: float | None,
) -> Any:
    if isinstance(dim, bool):  # PyTorch's older form: std(input, unbiased)
        dim, unbiased = None, dim
    given = float(unbiased) if correction is None else correction
    check_floating(input, "std and var: the input's dtype")
    return function(
        input, axis=dims_of(dim, input.ndim), correction=given, keepdims=keepdim
    )


def var(
    input: Any,
    dim: Dims = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """Return the variance, with the divisor ``number of elements - correction``.

    Parameters
    ----------
    input : tensor
    dim : int or sequence of int, optional
    unbiased : bool, default True
        PyTorch's older argument: True means a correction of 1.
    keepdim : bool, default False
    correction : float, optional
        Default: 1, or 0 if `unbiased` is False. NumPy's default is 0.
    """
    return _spread(ops.var, input, dim, unbiased, keepdim, correction)


def std(
    input: Any,
    dim: Dims = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """Return the standard deviation of the elements, the square root of `var`."""
    return _spread(ops.std, input, dim, unbiased, keepdim, correction)


def var_mean(
    input: Any,
    dim: Dims = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """Return `var` and `mean`."""
    spread = var(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)


def std_mean(
    input: Any,
    dim: Dims = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """Return `std` and `mean`."""
    spread = std(input, dim, unbiased, keepdim, correction=correction)
    return spread, mean(input, None if isinstance(dim, bool) else dim, keepdim)


def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    """Return the `q`-th quantile of the elements."""
    axis = dims_of(dim, input.ndim)
    return ops.quantile(input, q, axis=axis, keepdims=keepdim, method=interpolation)


# --- extremes -------------------------------------------------------------------------


def amax(input: Any, dim: Dims = (), keepdim: bool = False) -> Any:
    """Return the greatest elements; equal ones share the gradient."""
    return ops.amax(input, axis=dims_of(dim, input.ndim), keepdims=keepdim)


def amin(input: Any, dim: Dims = (), keepdim: bool = False) -> Any:
    """Return the smallest elements; equal ones share the gradient."""
    return ops.amin(input, axis=dims_of(dim, input.ndim), keepdims=keepdim)


def aminmax(input: Any, *, dim: int | None = None, keepdim: bool = False) -> Extremes:
    """Return the smallest and the greatest elements."""
    found = amin(input, dim, keepdim), amax(input, dim, keepdim)
    made: Extremes = TYPES["aminmax"](found)
    return made


def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the index of the greatest element."""
    return ops.argmax(input, axis=dim, keepdims=keepdim)


def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the index of the smallest element."""
    return ops.argmin(input, axis=dim, keepdims=keepdim)


def max(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """Return the greatest element, those along a dim, or those of two tensors.

    Parameters
    ----------
    input : tensor
    dim : int or tensor, optional
        With a dim, values and their indices are returned; a tensor counts as `other`.
    keepdim : bool, default False
        Whether the dim stays, with length 1.
    other : tensor, optional
        The result is ``maximum(input, other)``.
    """
    pair = FUNCTIONS["maximum"]
    return _extreme("max", ops.max, ops.argmax, pair, input, dim, keepdim, other)


def min(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None
) -> Any:
    """Return the smallest element, those along a dim, or those of two: see `max`."""
    pair = FUNCTIONS["minimum"]
    return _extreme("min", ops.min, ops.argmin, pair, input, dim, keepdim, other)


def _extreme(
    name: str,
    whole: Callable[..., Any],
    arg: Callable[..., Any],
    pair: Callable[..., Any],
    input: Any,
    dim: Any,
    keepdim: bool,
    other: Any,
) -> Any:
    other = dim if isinstance(dim, Tensor) else other
    if other is not None:
        return pair(input, other)
    if dim is None:
        return whole(input)
    indices = arg(input.detach(), axis=dim, keepdims=True)
    return at(name, input, indices, dim, keepdim)


def at(name: str, input: Any, indices: Any, dim: int, keepdim: bool = True) -> Any:
    """Return the elements at some places along a dim, and the places, as a function's
    result; unless `keepdim`, the dim has length 1, and goes."""
    if not input.ndim:
        return TYPES[name]((input, indices))
    picked = ops.take_along_axis(input, indices, dim), indices
    if not keepdim:
        picked = ops.squeeze(picked[0], dim), ops.squeeze(indices, dim)
    return TYPES[name](picked)
