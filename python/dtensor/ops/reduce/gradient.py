"""Gradients of reductions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import settled
from dtensor.ops._make.elementwise import broadcast, conjugated
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.reduction import MISSING, Axis, reduced_axes
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.shape.rearrange import broadcast_to
from dtensor.ops.shape.view import expand_dims

__all__ = [
    "BY_UFUNC",
    "cut_as",
    "is_same",
    "of_extreme",
    "of_product",
    "of_sum",
    "reduced",
    "restored",
    "spread",
]

Axes = Sequence[int]
# Of (grad, out, a, axes, keepdims, initial, where).
Core = Callable[..., Any]

# --- shapes and layouts ---------------------------------------------------------------


def restored(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Return a result, or its gradient, with the reduced dims as dims of length 1."""
    return x if keepdims or not axes else expand_dims(x, tuple(axes))


def spread(grad: Any, a: Any, axes: Axes, keepdims: bool) -> Any:
    """Return the gradient of a sum: that of each result for all of its elements."""
    grad = restored(grad, axes, keepdims)
    return cut_as(broadcast_to(grad, tuple(a.shape)), a)


def cut_as(grad: Any, a: Any) -> Any:
    """Return a gradient cut as its operand is, if a slice is enough and no message is
    needed: what follows is then not repeated on every rank."""
    if not isinstance(grad, _C.DTensor) or a.layout is None:
        return grad
    pairs = list(zip(grad.placements, a.layout.placements, strict=True))
    if not any(to._cut_dim is not None and old != to for old, to in pairs):
        return grad
    if any(not old._is_whole and old != to for old, to in pairs):
        return grad
    whole = grad.layout.is_replicated
    if not whole and (grad.layout.cuts or a.layout.cuts):
        return grad
    if whole and not a.layout.is_partial:
        target = a.layout.with_dtype(grad.dtype)
    else:
        target = [old if to._cut_dim is None else to for old, to in pairs]
    return _C._redistribute_any(grad, placements=target)


# --- sums -----------------------------------------------------------------------------


def of_sum(first: Axis = None) -> Callable[..., Any]:
    """Return the gradient of a sum; `first`: its default axis."""

    def gradient(
        grad: Any,
        _out: Any,
        _a: Any,
        axis: Axis = first,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        grad = spread(grad, _a, reduced_axes(axis, _a.ndim), keepdims)
        return grad if where is True else where_(where, grad, 0)

    return gradient


def reduced(core: Core, first: Axis = None) -> Callable[..., Any]:
    """Return the gradient of another reduction that takes a dtype.

    Parameters
    ----------
    core : callable
        The gradient for given axes: (grad, out, a, axes, keepdims, initial, where).
    first : axis, optional
        The default axis.
    """

    def gradient(
        grad: Any,
        out: Any,
        a: Any,
        axis: Axis = first,
        dtype: Any = None,
        _none: Any = None,
        keepdims: bool = False,
        initial: Any = MISSING,
        where: Any = True,
    ) -> Any:
        axes = reduced_axes(axis, a.ndim)
        initial = MISSING if initial is None else initial
        return core(grad, out, a, axes, keepdims, initial, where)

    return gradient


def _of_logarithm(exponential: np.ufunc) -> Core:
    """Return the gradient of the logarithm of a sum of exponentials."""

    def core(
        grad: Any, out: Any, a: Any, axes: Axes, keepdims: bool, _: Any, where: Any
    ) -> Any:
        share = exponential(a - restored(out, axes, keepdims))
        share = share if where is True else where_(where, share, 0)
        return restored(grad, axes, keepdims) * share

    return core


def _of_length(
    grad: Any, out: Any, a: Any, axes: Axes, keepdims: bool, _: Any, where: Any
) -> Any:
    """Return the gradient of the square root of a sum of squares."""
    share = a / restored(out, axes, keepdims)
    share = share if where is True else where_(where, share, 0)
    return restored(grad, axes, keepdims) * share


# --- greatest and least ---------------------------------------------------------------


@operator(operands=2, name="max_backward")
def is_same(a: Operand, top: Operand) -> Answer:
    return broadcast([a, top]), call(_is_same, a, top), np.dtype(bool)


def _is_same(a: npt.NDArray[Any], top: npt.NDArray[Any]) -> Any:
    """Return where elements are equal; NaN equals NaN."""
    same = a == top
    return same | (a != a) if np.isnan(top).any() else same


def of_extreme(
    grad: Any, out: Any, a: Any, axes: Axes, keepdims: bool, initial: Any, where: Any
) -> Any:
    """Return the gradient of a maximum or minimum: equal extrema share it."""
    top = restored(settled("max", out), axes, keepdims)
    chosen = is_same(a, top)
    if where is not True:
        chosen = chosen & where
    count = np.sum(chosen, axis=tuple(axes), dtype=grad.dtype, keepdims=True)
    count = settled("max", count)
    if initial is not MISSING:  # which may be it, and then no element is
        count = np.maximum(count, 1)
    return where_(chosen, restored(grad, axes, keepdims) / count, 0)


# --- products -------------------------------------------------------------------------


def of_product(
    grad: Any, _out: Any, a: Any, axes: Axes, keepdims: bool, initial: Any, where: Any
) -> Any:
    """Return the gradient of a product: each element gets the product of the others."""
    if where is not True:
        a = where_(where, a, 1)
    function = _others_each if _C.is_grad_enabled() else _others
    others = function(a, tuple(axes), 1 if initial is MISSING else initial)
    grad = restored(grad, axes, keepdims) * conjugated(others)
    return grad if where is True else where_(where, grad, 0)


def _others(a: Any, axes: tuple[int, ...], initial: Any) -> Any:
    """Return the product of all other elements along axes, for each one.

    That is the whole product divided by it; a single zero is left out of it for itself,
    and makes it zero for the others."""
    zero = a == 0
    safe = where_(zero, 1, a)
    count = settled("prod", np.sum(zero, axis=axes, keepdims=True))
    rest = settled("prod", np.prod(safe, axis=axes, keepdims=True)) * initial
    beside = where_(count == 0, rest, 0) / safe
    return where_(zero, where_(count == 1, rest, 0), beside)


def _others_each(a: Any, axes: tuple[int, ...], initial: Any) -> Any:
    """Return the same as a product of its own for each element, whose gradient is right
    where there are zeros, too."""
    ends = tuple(range(a.ndim - len(axes), a.ndim))
    moved = np.moveaxis(a, axes, ends)
    lines = np.reshape(moved, (*moved.shape[: a.ndim - len(axes)], -1))
    alone = np.eye(lines.shape[-1], dtype=bool)
    others = np.prod(where_(alone, 1, np.expand_dims(lines, -2)), axis=-1) * initial
    return np.moveaxis(np.reshape(others, moved.shape), ends, axes)


# --- the table ------------------------------------------------------------------------

_EXTREME = reduced(of_extreme, 0)

# The gradients of the method `reduce` of ufuncs.
BY_UFUNC: dict[np.ufunc, Callable[..., Any]] = {
    np.add: of_sum(0),
    np.multiply: reduced(of_product, 0),
    np.maximum: _EXTREME,
    np.minimum: _EXTREME,
    np.fmax: _EXTREME,
    np.fmin: _EXTREME,
    np.logaddexp: reduced(_of_logarithm(np.exp), 0),
    np.logaddexp2: reduced(_of_logarithm(np.exp2), 0),
    np.hypot: reduced(_of_length, 0),
}
