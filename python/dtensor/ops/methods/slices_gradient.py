"""Gradients of `ufunc.reduceat`: of sums, products and extrema of slices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.elementwise import anywhere, conjugated
from dtensor.ops._make.parts import inside, make, positions, values_of
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.index.gradient import added, along
from dtensor.ops.reduce.gradient import is_same

__all__ = ["OF_SLICES"]

Array = npt.NDArray[Any]
Spread = Callable[[Any], Any]
Core = Callable[[Any, Any, Any, Spread, Callable[..., Any]], Any]


def _owners(x: Any, dim: int, starts: Array) -> Any:
    """Return which slice each element of a dim is of, -1 before all; cut as the dim."""
    if not isinstance(x, _C.DTensor):
        return np.searchsorted(starts, np.arange(x.shape[dim]), "right") - 1
    like = x.layout.settled()
    to = like.like((x.shape[dim],), {dim: 0}, np.dtype(np.intp))
    if is_meta(x):
        return _C.without_data(to)
    mine = positions(like, dim) if inside(to) else np.empty(0, np.intp)
    return make(np.searchsorted(starts, mine, "right") - 1, to)


def _starts(indices: Any) -> Array:
    is_cut = isinstance(indices, _C.DTensor)
    known = values_of("reduceat", indices) if is_cut else np.asarray(indices)
    return known.astype(np.intp)


def _of_slices(core: Core) -> Callable[..., Any]:
    """Return the gradient of a method by that of slices that are in order.

    A slice ends at the next index, or is one element where that is no greater."""

    def gradient(
        grad: Any,
        out: Any,
        x: Any,
        indices: Any,
        axis: int = 0,
        dtype: Any = None,
        _none: Any = None,
    ) -> Any:
        dim, starts = axis % x.ndim, _starts(indices)
        elements = None
        if (starts[1:] <= starts[:-1]).any():
            ends = np.maximum([*starts[1:], x.shape[dim]], starts + 1)
            slices = [np.arange(*each) for each in zip(starts, ends, strict=True)]
            elements = np.concatenate(slices)
            starts = np.cumsum([0, *map(len, slices[:-1])])
        shape, out = x.shape, settled("reduceat", out)
        x = x if elements is None else np.take(x, elements, dim)
        owners = _owners(x, dim, starts)

        def spread(rows: Any) -> Any:
            return np.take(settled("reduceat", rows), np.maximum(owners, 0), dim)

        def reduce(ufunc: np.ufunc, of: Any, to: Any) -> Any:
            return ufunc.reduceat(of, starts, dim, to)

        found = core(grad, out, as_dtype(x, out.dtype), spread, reduce)
        if elements is not None:
            return added(found, along(dim), [elements], shape)
        if len(starts) and starts[0] > 0:
            ahead = [1] * x.ndim
            ahead[dim] = -1
            found = where_(np.reshape(owners, ahead) >= 0, found, 0)
        return found

    return gradient


def _of_sums(grad: Any, _out: Any, _x: Any, spread: Spread, _: Any) -> Any:
    return spread(grad)


def _of_extremes(grad: Any, out: Any, x: Any, spread: Spread, reduce: Any) -> Any:
    """Return the gradient of a maximum or minimum: equal ones share it."""
    chosen = is_same(x, spread(out))
    return where_(chosen, spread(grad / reduce(np.add, chosen, grad.dtype)), 0)


def _of_products(grad: Any, out: Any, x: Any, spread: Spread, reduce: Any) -> Any:
    """Return the gradient of products: of the others, where there are no zeros; else
    that of the only zero."""
    zero = x == 0
    if _C.is_grad_enabled() and anywhere(zero):
        raise NotImplementedError(
            "second derivative for multiply.reduceat of zeros is not implemented"
        )
    zeros = spread(reduce(np.add, zero, np.intp))
    known = where_(zero, 1, x)
    share = spread(grad * conjugated(reduce(np.multiply, known, out.dtype)))
    single = where_(zero & (zeros == 1), share, 0)
    return where_(zeros == 0, share / conjugated(known), single)


OF_SLICES: dict[np.ufunc, Callable[..., Any]] = {
    np.add: _of_slices(_of_sums),
    np.multiply: _of_slices(_of_products),
    np.maximum: _of_slices(_of_extremes),
    np.minimum: _of_slices(_of_extremes),
    np.fmax: _of_slices(_of_extremes),
    np.fmin: _of_slices(_of_extremes),
}
