"""Differences of neighbours, and functions based on them: gradient, trapezoid."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.axes import normalize_axis_index, normalize_axis_tuple
from dtensor.ops._make.composite import composite
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.reduction import MISSING
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.elementwise.pointwise import not_equal, subtract

__all__ = ["diff", "ediff1d", "gradient", "trapezoid"]

Array = npt.NDArray[Any]


def _pairs(x: Any, axis: int) -> tuple[Any, Any]:
    """Return all elements but the first along an axis, and all but the last."""
    before = (slice(None),) * axis
    return x[(*before, slice(1, None))], x[(*before, slice(None, -1))]


@implements(np.diff)
@composite
def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = MISSING, append: Any = MISSING
) -> Any:
    """Return the differences of neighbours along an axis, `n` times over.

    Parameters
    ----------
    a : array_like
        Parts stay where they are; only elements at their borders move.
    n : int, default 1
        How many times.
    axis : int, default -1
        Also `dim`.
    prepend, append : array_like, optional
        Values put before and after `a`; a scalar is broadcast.
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, a.ndim)
    edge = tuple(1 if dim == axis else m for dim, m in enumerate(a.shape))
    pieces = [
        np.broadcast_to(x, edge) if np.ndim(x) == 0 else x
        for x in (prepend, a, append)
        if x is not MISSING
    ]
    if len(pieces) > 1:
        a = np.concatenate(pieces, axis=axis)
    for _ in range(min(n, a.shape[axis])):  # then nothing is left
        a = (not_equal if a.dtype == bool else subtract)(*_pairs(a, axis))
    return a


@implements(np.ediff1d)
@composite
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours of the flattened array, between `to_begin`
    and `to_end`: see `numpy.ediff1d`."""
    flat = np.ravel(ary)
    pieces = [to_begin, subtract(*_pairs(flat, 0)), to_end]
    for name, piece in (("to_begin", to_begin), ("to_end", to_end)):
        kind = getattr(piece, "dtype", None) or np.asarray(piece).dtype
        if piece is not None and not np.can_cast(kind, flat.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the "
                "`same_kind` rule."
            )
    if to_end is None and to_begin is None:
        return pieces[1]
    rows = [np.ravel(piece) for piece in pieces if piece is not None]
    return np.concatenate(rows).astype(flat.dtype, copy=False)


@operator(operands=2, name="gradient")
def _gradient(f: Operand, spacing: Operand, axis: int, edge_order: int) -> Answer:
    names = letters(f.ndim, whole=[axis])
    points = [names[axis]] if spacing.ndim else []
    dtype = np.gradient(np.ones(4, f.dtype)).dtype
    kernel = weak_call(np.gradient, f, spacing, axis=axis, edge_order=edge_order)
    return rule([names, points], [names], "0"), kernel, dtype


@operator(operands=2, name="gradient_backward")
def _gradient_back(g: Operand, spacing: Operand, axis: int, edge_order: int) -> Answer:
    names = letters(g.ndim, whole=[axis])
    points = [names[axis]] if spacing.ndim else []
    kernel = call(_transposed, g, spacing, axis, edge_order)
    return rule([names, points], [names], "0"), kernel, g.dtype


def _transposed(g: Array, spacing: Array, axis: int, edge_order: Any) -> Array:
    """Multiply an array by the transpose of `numpy.gradient`'s matrix.

    In a row nothing is further than 2 from the diagonal: a comb with a tooth in every
    fifth place tells one number of each row."""
    lines = np.moveaxis(g, axis, 0)
    result = np.zeros_like(lines)
    rows = np.arange(len(lines))
    for k in range(5):
        found = np.gradient((rows % 5 == k) * 1.0, spacing, edge_order=edge_order)
        teeth = rows + (k - rows + 2) % 5 - 2
        held = (teeth >= 0) & (teeth < len(rows))
        share = found[held] * np.moveaxis(lines[held], 0, -1)
        np.add.at(result, teeth[held], np.moveaxis(share, -1, 0))
    return np.moveaxis(result, 0, axis)


_gradient.vjp(
    lambda g, _out, _f, spacing, axis, order: _gradient_back(g, spacing, axis, order)
)
_gradient_back.vjp(
    lambda g, _out, _g, spacing, axis, order: _gradient(g, spacing, axis, order)
)


@implements(np.gradient)
@composite
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return derivatives by central differences: see `numpy.gradient`.

    Each axis is made whole while the derivative along it is computed.

    Returns
    -------
    DTensor or tuple of DTensor
        One for each axis.
    """
    dims = range(f.ndim) if axis is None else normalize_axis_tuple(axis, f.ndim)
    steps = list(varargs) or [1.0]
    if len(steps) == 1 and np.ndim(steps[0]) == 0:
        steps *= len(dims)
    if len(steps) != len(dims):
        raise TypeError("invalid number of arguments")
    if any(f.shape[dim] < edge_order + 1 for dim in dims):
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least "
            "(edge_order + 1) elements are required."
        )
    results = tuple(
        _gradient(f, step, dim, edge_order)
        for dim, step in zip(dims, steps, strict=True)
    )
    return results[0] if len(results) == 1 else results


@implements(np.trapezoid)
@composite
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate by the trapezoidal rule along an axis: see `numpy.trapezoid`.

    Parameters
    ----------
    y : array_like
        The values.
    x : array_like, optional
        Where, of the length of the axis or the shape of `y`.
    dx : float, default 1.0
        The distance without `x`.
    axis : int, default -1
        Also `dim`.
    """
    axis = normalize_axis_index(axis, y.ndim)
    step = dx
    if x is not None and np.ndim(x) == 1:
        step = np.diff(x)
        step = np.reshape(step, [-1 if dim == axis else 1 for dim in range(y.ndim)])
    elif x is not None:
        step = np.diff(x, axis=axis)
    return np.sum(step * np.add(*_pairs(y, axis)) / 2.0, axis=axis)
