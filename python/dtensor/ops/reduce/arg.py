"""argmax and argmin."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.axes import checked_axis, normalize_axis_index
from dtensor.ops._make.blocks import stacked
from dtensor.ops._make.composite import composite, settled
from dtensor.ops._make.direct import Maybe, in_front, is_cut
from dtensor.ops._make.operator import (
    Operand,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.out import cast_back
from dtensor.ops._make.parts import in_whole, inside, local, make
from dtensor.ops._make.reduction import highest, kept, lowest, probe
from dtensor.ops._make.words import Answer, rule

__all__ = ["argmax", "argmin"]

Array = npt.NDArray[Any]
_composite = functools.partial(composite, check=cast_back)

# NumPy's function -> the ufunc that keeps the winner, and its neutral element
WINNER: dict[Any, tuple[np.ufunc, Callable[[np.dtype[Any]], Any]]] = {
    np.argmax: (np.maximum, lowest),
    np.argmin: (np.minimum, highest),
}


@operator(name="argmax_or_argmin")
def _whole(
    x: Operand, function: Callable[..., Any], axis: int | None, keepdims: bool
) -> Answer:
    axes = range(x.ndim) if axis is None else (axis,) if x.ndim else ()
    function(probe(x), axis=axis)  # or NumPy's error
    names = letters(x.ndim, whole=axes)
    kernel = call(function, x, axis=axis, keepdims=keepdims)
    return rule([names], [kept(names, axes, keepdims)]), kernel


@operator(name="argmax_or_argmin")
def _best(values: Operand, where: Operand, function: Callable[..., Any]) -> Answer:
    names = letters(values.ndim, whole=[0])
    kernel = call(_winner, values, where, function)
    return rule([names, names], [names[1:]]), kernel, np.dtype(np.intp)


def _winner(values: Array, where: Array, function: Callable[..., Any]) -> Array:
    """Return the first position of the best of the winners of all parts."""
    ufunc, never = WINNER[function]
    empty = where < 0
    best = ufunc.reduce(np.where(empty, never(values.dtype), values), axis=0)
    ties = ((values == best) | (values != values)) & ~empty  # a NaN wins
    last = np.iinfo(where.dtype).max
    return np.asarray(np.where(ties, where, last).min(axis=0))


def _of_part(
    x: _C.DTensor, function: Callable[..., Any], axis: int | None
) -> tuple[Array, Array]:
    """Return the best of this rank's part and where it is in the whole, as rows."""
    part = local(x)
    if axis is None:
        if part.size == 0:
            return np.zeros(1, part.dtype), np.full(1, -1)
        at = np.unravel_index(function(part), part.shape)
        held = [in_whole(x.layout, dim, k) for dim, k in enumerate(at)]
        where = np.ravel_multi_index(held, x.shape)
        return part[at].reshape(1), np.reshape(where, 1)
    if part.shape[axis] == 0:
        shape = (1, *part.shape[:axis], *part.shape[axis + 1 :])
        return np.zeros(shape, part.dtype), np.full(shape, -1)
    near = function(part, axis=axis, keepdims=True)
    values = np.take_along_axis(part, near, axis)
    where = in_whole(x.layout, axis, near)
    return np.moveaxis(values, axis, 0), np.moveaxis(where, axis, 0)


def _arg(function: Callable[..., Any], x: Any, axis: int | None, keepdims: bool) -> Any:
    axis = checked_axis(axis)
    if axis is not None and x.ndim:
        axis = normalize_axis_index(axis, x.ndim)
    axes = range(x.ndim) if axis is None else (axis,)
    placements = x.placements if isinstance(x, _C.DTensor) else ()
    if not any(p._cut_dim in axes for p in placements) or 0 in x.shape:
        return _whole(x, function, axis, keepdims)
    x = settled(function.__name__, x)
    layout = stacked(x.layout, axes)
    layouts = layout, layout.with_dtype(np.intp)
    if is_meta(x):
        rows = [_C.without_data(each) for each in layouts]
    else:
        none = np.empty(0)
        parts = _of_part(x, function, axis) if inside(layout) else (none, none)
        rows = [make(part, each) for part, each in zip(parts, layouts, strict=True)]
    result = _best(*rows, function)
    if not keepdims:
        return result
    return np.reshape(result, [1 if d in axes else n for d, n in enumerate(x.shape)])


def _row(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the row of argmax or argmin: where no element of another rank counts."""

    def ask(a: Any, axis: int | None = None, out: None = None) -> Maybe:
        if not isinstance(a, Operand) or 0 in a.shape or isinstance(axis, bool):
            return None
        if axis is not None and a.ndim:
            axis = normalize_axis_index(axis, a.ndim)
        if is_cut(a, tuple(range(a.ndim)) if axis is None else (axis,)):
            return None
        found: Answer = _whole.__wrapped__(a, function, axis, False)
        return found

    return ask


@method
@in_front(_row(np.argmax), _whole)
@implements(np.argmax)
@_composite
def argmax(
    a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Any:
    """Return where the greatest element is: the first of them, or the first NaN.

    Along a cut dim only the winner of each part moves.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        Also `dim`; default: in the flattened array.
    out : DTensor, optional
        What the result is written to.
    keepdims : bool, default False
        Whether the axis stays, with length 1. Also `keepdim`.

    Returns
    -------
    DTensor of int64

    Raises
    ------
    ValueError
        If there is no element.
    """
    return _arg(np.argmax, a, axis, keepdims)


@method
@in_front(_row(np.argmin), _whole)
@implements(np.argmin)
@_composite
def argmin(
    a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False
) -> Any:
    """Return where the least element is; arguments as of `argmax`."""
    return _arg(np.argmin, a, axis, keepdims)
