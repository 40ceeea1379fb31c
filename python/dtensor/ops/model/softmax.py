"""Softmax and its logarithm.

Along a whole dim each rank has all it needs. Along a cut dim the ranks exchange one or
two numbers for each row: its greatest element and the sum."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import as_dtype, composite, settled
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.kernel import inexact, kernel_for
from dtensor.ops._make.operator import Operand, call, letters, method, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.model.softmax_numpy import FORMULAS
from dtensor.ops.reduce.reductions import max as max_, sum as sum_

__all__ = ["log_softmax", "softmax", "softmin"]

# Of rows that are cut there is a function made of operators.
Either = Answer | Callable[..., Any]

# --- rules ----------------------------------------------------------------------------


def is_cut(x: Any, axis: int) -> bool:
    """Return whether numbers for each row are exchanged for less than the rows.

    They are all-reduced twice: that moves as much as four numbers of each row. Else the
    rows are made whole, by an exchange of what a rank holds of them. Where one rank has
    them nothing moves, and the result keeps the layout.
    """
    layout = x.layout if isinstance(x, Operand | _C.DTensor) else None
    if layout is None:
        return False
    lengths = zip(layout.placements, layout.mesh.shape, strict=True)
    cuts = [n for p, n in lengths if p._cut_dim == axis]
    ranks = math.prod(cuts)
    return bool(cuts) and (ranks == 1 or bool(x.shape[axis] > 4 * ranks))


def along(
    name: str,
    rows: list[Operand],
    numbers: list[Operand],
    axis: int,
    *,
    reduces: bool = False,
    whole: bool = False,
    partial: str | None = None,
) -> Answer:
    """Return rule and call of a kernel of rows, and of numbers for each of them.

    Parameters
    ----------
    name : str
        Of the C kernel, and of the formula for dtypes that it lacks.
    rows, numbers : list of Operand
        Arrays, and arrays that lack the axis.
    axis : int
        From 0 on.
    reduces : bool
        Whether the result lacks it.
    whole : bool
        Whether a row must not be cut.
    partial : str, optional
        Which Partial operands pass.
    """
    names = letters(rows[0].ndim, whole=(axis,) if whole else ())
    short = names[:axis] + names[axis + 1 :]
    kernel, dtype = kernel_for(
        name, [x.dtype for x in (*rows, *numbers)], FORMULAS[name]
    )
    text = rule(
        [names] * len(rows) + [short] * len(numbers),
        [short if reduces else names],
        partial,
    )
    return text, call(kernel, *rows, *numbers, axis), dtype


# --- parts of rows --------------------------------------------------------------------


@operator
def sum_exp(x: Operand, top: Operand, axis: int) -> Answer:
    """Return the sum of e^(x - top) along an axis, `top` being a number for each row.

    Where it is infinite it is left out."""
    return along("sum_exp", [x], [top], axis, reduces=True)


@operator
def row_logsumexp(x: Operand, axis: int) -> Either:
    """Return log(sum of e^x) along an axis; the greatest where that is infinite."""
    if is_cut(x, axis):
        return cut_logsumexp
    return along("logsumexp", [x], [], axis, reduces=True, whole=True)


def cut_logsumexp(x: Any, axis: int) -> Any:
    """Return the same of rows that are cut. Collective: two all-reduces."""
    x, top = greatest("logsumexp", x, axis)
    return top + np.log(settled("logsumexp", sum_exp(x, top, axis)))


@operator
def row_dot(grad: Operand, y: Operand, axis: int) -> Answer:
    """Return the sum of grad * conj(y) along an axis."""
    return along("row_dot", [grad, y], [], axis, reduces=True, partial="each")


@operator
def softmax_given(x: Operand, top: Operand, total: Operand, axis: int) -> Answer:
    """Return e^(x - top) / total, whose gradient is that of softmax."""
    return along("softmax_given", [x], [top, total], axis)


@operator
def log_softmax_given(x: Operand, top: Operand, total: Operand, axis: int) -> Answer:
    """Return x - top - log(total), whose gradient is that of log_softmax."""
    return along("log_softmax_given", [x], [top, total], axis)


@operator
def softmax_backward_given(
    grad: Operand, y: Operand, dot: Operand, axis: int
) -> Answer:
    """Return conj(y) (grad - dot), `dot` being a number for each row."""
    return along("softmax_backward_given", [grad, y], [dot], axis)


@operator
def log_softmax_backward_given(
    grad: Operand, y: Operand, total: Operand, axis: int
) -> Answer:
    """Return grad - e^conj(y) total, `total` being a number for each row."""
    return along("log_softmax_backward_given", [grad, y], [total], axis)


def greatest(name: str, x: Any, axis: int) -> tuple[Any, Any]:
    """Return a tensor without addends, and the greatest of each row, which no gradient
    goes through. Collective: an all-reduce."""
    x = settled(name, x)
    return x, settled(name, max_(x.detach(), axis))


def _cut(name: str, given: Any) -> Callable[..., Any]:
    """Return what computes softmax of rows that are cut."""

    @composite
    def answer(x: Any, axis: int = -1, dtype: Any = None) -> Any:
        axis = normalize_axis_index(axis, x.ndim)
        x = as_dtype(x, inexact(x.dtype) if dtype is None else dtype_of(dtype))
        x, top = greatest(name, x, axis)
        total = settled(name, sum_exp(x.detach(), top, axis))
        return given(x, top, total, axis)

    return answer


_softmax_cut = _cut("softmax", softmax_given)
_log_softmax_cut = _cut("log_softmax", log_softmax_given)


# --- gradients ------------------------------------------------------------------------


@operator
def softmax_backward(grad: Operand, y: Operand, axis: int) -> Either:
    """Return the gradient of the operand of softmax from that of its result `y`."""
    if is_cut(y, axis):
        return _softmax_backward_cut
    return along("softmax_backward", [grad, y], [], axis, whole=True, partial="0")


@operator
def log_softmax_backward(grad: Operand, y: Operand, axis: int) -> Either:
    """Return the gradient of the operand of log_softmax from that of its result `y`."""
    if is_cut(y, axis):
        return _log_softmax_backward_cut
    return along("log_softmax_backward", [grad, y], [], axis, whole=True, partial="0")


def _softmax_backward_cut(grad: Any, y: Any, axis: int) -> Any:
    grad = settled("softmax_backward", on_mesh(grad, y.device_mesh))
    dot = settled("softmax_backward", row_dot(grad, y, axis))
    return softmax_backward_given(grad, y, dot, axis)


def _log_softmax_backward_cut(grad: Any, y: Any, axis: int) -> Any:
    grad = settled("log_softmax_backward", on_mesh(grad, y.device_mesh))
    total = settled("log_softmax_backward", sum_(grad, axis))
    return log_softmax_backward_given(grad, y, total, axis)


# --- operators ------------------------------------------------------------------------


@method
@operator
def softmax(x: Operand, axis: int = -1, dtype: npt.DTypeLike | None = None) -> Either:
    """Return exponentials that add up to 1 along an axis.

    Collective where the axis is cut: the greatest element of each row and the sum are
    all-reduced, or, of short rows, the rows are made whole.

    Parameters
    ----------
    x : array_like
        Integers are taken for float64.
    axis : int, default -1
        Also `dim`.
    dtype : dtype_like, optional
        What `x` is converted to before.

    Returns
    -------
    DTensor
        Of the shape of `x`, and where the axis is cut, of its layout.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    """
    return _soft("softmax", _softmax_cut, softmax, x, axis, dtype)


@method
@operator
def log_softmax(
    x: Operand, axis: int = -1, dtype: npt.DTypeLike | None = None
) -> Either:
    """Return the logarithm of `softmax`, which does not underflow; arguments alike."""
    return _soft("log_softmax", _log_softmax_cut, log_softmax, x, axis, dtype)


def _soft(
    name: str,
    cut: Callable[..., Any],
    itself: _C.Operator,
    x: Operand,
    axis: int,
    dtype: npt.DTypeLike | None,
) -> Either:
    axis = normalize_axis_index(axis, x.ndim)
    if is_cut(x, axis):
        return cut
    if dtype is not None and dtype_of(dtype) != x.dtype:
        return _converted(itself)
    return along(name, [x], [], axis, whole=True)


def _converted(function: _C.Operator) -> Callable[..., Any]:
    """Return an operator that converts its operand first."""

    @composite
    def answer(x: Any, axis: int = -1, dtype: Any = None) -> Any:
        return function(as_dtype(x, dtype_of(dtype)), axis)

    return answer


def softmin(x: Any, axis: int = -1, dtype: npt.DTypeLike | None = None) -> Any:
    """Return the softmax of ``-x``; arguments as of `softmax`."""
    return softmax(-x, axis, dtype)


softmax.vjp(
    lambda grad, out, _x, axis=-1, dtype=None: softmax_backward(
        grad, out, axis % out.ndim
    )
)
log_softmax.vjp(
    lambda grad, out, _x, axis=-1, dtype=None: log_softmax_backward(
        grad, out, axis % out.ndim
    )
)
row_logsumexp.vjp(
    lambda grad, out, x, axis: (
        np.expand_dims(grad, axis) * np.exp(x - np.expand_dims(out, axis))
    )
)
sum_exp.vjp(
    lambda grad, _out, x, top, axis: (
        np.expand_dims(grad, axis) * np.exp(x - np.expand_dims(top, axis))
    ),
    lambda grad, out, _x, _top, axis: -grad * out,
)
# `top` and `total` are functions of all of x, through which the gradient goes too.
softmax_given.vjp(
    lambda grad, out, _x, _top, _total, axis: softmax_backward(grad, out, axis),
    None,
    None,
)
log_softmax_given.vjp(
    lambda grad, out, _x, _top, _total, axis: log_softmax_backward(grad, out, axis),
    None,
    None,
)

# --- and theirs, for real numbers -----------------------------------------------------


def _sum(x: Any, axis: int) -> Any:
    return sum_(x, axis, keepdims=True)


softmax_backward.vjp(
    lambda grad, _out, _first, y, axis: softmax_backward(grad, y, axis),
    lambda grad, _out, first, y, axis: (
        grad * (first - _sum(first * y, axis)) - first * _sum(grad * y, axis)
    ),
)
log_softmax_backward.vjp(
    lambda grad, _out, _first, y, axis: grad - _sum(grad * np.exp(y), axis),
    lambda grad, _out, first, y, axis: -grad * np.exp(y) * _sum(first, axis),
)
row_dot.vjp(
    lambda grad, _out, _first, y, axis: np.expand_dims(grad, axis) * y,
    lambda grad, _out, first, _y, axis: np.expand_dims(grad, axis) * first,
)
softmax_backward_given.vjp(
    lambda grad, _out, _first, y, _dot, axis: grad * y,
    lambda grad, _out, first, _y, dot, axis: grad * (first - np.expand_dims(dot, axis)),
    lambda grad, _out, _first, y, _dot, axis: -row_dot(grad, y, axis),
)
log_softmax_backward_given.vjp(
    lambda grad, _out, _first, _y, _total, axis: grad,
    lambda grad, _out, _first, y, total, axis: (
        -grad * np.exp(y) * np.expand_dims(total, axis)
    ),
    lambda grad, _out, _first, y, _total, axis: -row_dot(grad, np.exp(y), axis),
)
