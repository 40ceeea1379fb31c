"""Differences of neighbours, and what is based on them: gradient, trapezoid, unwrap."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index, normalize_axis_tuple
from dtensor.ops._make.composite import array_of, as_dtype, composite
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.numbers import as_python_int, numbers_of
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.parts import values_of
from dtensor.ops._make.reduction import MISSING
from dtensor.ops._make.routes import ranges_of, reachable
from dtensor.ops._make.step import one_step
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.reduce.scan import scan
from dtensor.ops.shape.reach import by_rows

__all__ = ["diff", "ediff1d", "gradient", "trapezoid", "unwrap"]

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
    a = array_of(a)
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
        a = (np.not_equal if a.dtype == bool else np.subtract)(*_pairs(a, axis))
    return a


@implements(np.ediff1d)
@composite
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Return the differences of neighbours of the flattened array, between `to_begin`
    and `to_end`: see `numpy.ediff1d`."""
    flat = np.ravel(ary)
    pieces = [to_begin, np.subtract(*_pairs(flat, 0)), to_end]
    for name, piece in (("to_begin", to_begin), ("to_end", to_end)):
        kind = getattr(piece, "dtype", None) or np.asarray(piece).dtype
        if piece is not None and not np.can_cast(kind, flat.dtype, "same_kind"):
            raise TypeError(
                f"dtype of `{name}` must be compatible with input `ary` under the "
                "`same_kind` rule."
            )
    if to_end is None and to_begin is None:
        return pieces[1]
    rows = [np.ravel(array_of(piece)) for piece in pieces if piece is not None]
    # Each by itself: what integers of two types have in common may be float64.
    return np.concatenate([as_dtype(row, flat.dtype) for row in rows])


@operator(operands=2, name="gradient")
def _gradient(
    f: Operand, spacing: Operand, axis: int, edge_order: int
) -> Answer | Callable[..., Any]:
    names = letters(f.ndim, whole=[axis])
    points = [names[axis]] if spacing.ndim else []
    dtype = np.gradient(np.ones(4, f.dtype)).dtype
    if f.layout is not None and reachable(f.layout, axis) and edge_order in (1, 2):
        return functools.partial(_gradient_parts, dtype)
    kernel = weak_call(np.gradient, f, spacing, axis=axis, edge_order=edge_order)
    return rule([names, points], [names], "0"), kernel, dtype


def _gradient_parts(
    dtype: Any, f: _C.DTensor, spacing: Any, axis: int, edge_order: int
) -> Any:
    """Compute on each rank with one row of its neighbours, or as many as the formula
    for the ends needs."""
    points = values_of("gradient", spacing)
    if points.ndim:
        if points.shape != (f.shape[axis],):
            np.gradient(np.empty(f.shape[axis]), points)  # NumPy's error
        steps = np.diff(points)
        points = steps[:1].reshape(()) if (steps == steps[0]).all() else points
    own = ranges_of(f.layout, axis)
    wanted = [
        (max(0, a - edge_order), min(f.shape[axis], b + edge_order))
        if a < b
        else (a, a)
        for a, b in own
    ]

    def inner(rows: Any, number: int) -> Any:
        (a, b), (first, last) = own[number], wanted[number]
        if a == b:
            return rows.astype(dtype)
        near = points[first:last] if points.ndim else points
        key = (slice(None),) * axis + (slice(a - first, b - first),)
        return _gradient(rows, near, axis, edge_order)[key]

    to = f.layout.with_dtype(dtype)
    return by_rows("gradient", f, axis, wanted, to, inner)


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

    Along a cut axis ranks send their neighbours one row (two with ``edge_order=2``).
    Strided axes, and those of a Partial that is not a sum, are made whole.

    Returns
    -------
    DTensor or tuple of DTensor
        One for each axis.
    """
    f = array_of(f)
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
        _gradient(f, step, dim, as_python_int(edge_order))
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
    y = array_of(y)
    axis = normalize_axis_index(axis, y.ndim)
    step = dx
    if x is not None and np.ndim(x) == 1:
        step = np.diff(x)
        step = np.reshape(step, [-1 if dim == axis else 1 for dim in range(y.ndim)])
    elif x is not None:
        step = np.diff(x, axis=axis)
    return np.sum(step * np.add(*_pairs(y, axis)) / 2.0, axis=axis)


# --- phases ---------------------------------------------------------------------------


@implements(np.unwrap)
@composite
def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = math.tau
) -> Any:
    """Add multiples of a period where neighbours differ by more: see `numpy.unwrap`.

    Along a cut axis ranks send their neighbours one row, and all ranks the sum of what
    they add. Strided axes, and those of a Partial, are made whole."""
    return _unwrap(p, _scalar(discont), axis, period=_scalar(period))


def _scalar(value: Any) -> Any:
    """Return an array of one element as a scalar of its dtype, which NumPy heeds."""
    value = numbers_of("unwrap", value)
    is_one = isinstance(value, np.ndarray) and value.ndim < 2 and value.size == 1
    return value.reshape(())[()] if is_one else value


@operator(name="unwrap")
def _unwrap(
    p: Operand,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = math.tau,
) -> Answer | Callable[..., Any]:
    dim = normalize_axis_index(axis, p.ndim)
    names = letters(p.ndim, whole=[dim])
    if p.layout is not None and reachable(p.layout, dim):
        return _unwrap_parts
    return rule([names], [names]), weak_call(np.unwrap, p, discont, axis, period=period)


def _unwrap_back(grad: Any, _out: Any, _p: Any, *_: Any, **__: Any) -> Any:
    return grad


@one_step("unwrap", _unwrap_back)
def _unwrap_parts(
    p: _C.DTensor, discont: Any = None, axis: int = -1, *, period: float = math.tau
) -> Any:
    """Add up the multiples of all neighbours before each element."""
    dim = axis % p.ndim
    own = ranges_of(p.layout, dim)
    wanted = [(max(0, a - 1), b) if a < b else (a, a) for a, b in own]
    dtype = np.unwrap(np.ones(1, p.dtype), discont, period=period).dtype

    def inner(rows: Any, number: int) -> Any:
        (a, b), (first, _) = own[number], wanted[number]
        each = _turns(np.moveaxis(np.asarray(rows), dim, 0), dtype, discont, period)
        shape = (min(b - a, 1 - a + first), *each.shape[1:])
        lead = np.full_like(each, -0.0, shape=shape)  # which changes no number
        return _C.as_tensor(np.moveaxis(np.concatenate([lead, each]), 0, dim))

    to = p.layout.with_dtype(dtype)
    turns = scan(np.add, by_rows("unwrap", p, dim, wanted, to, inner), dim)
    return np.add(p, turns, dtype=dtype)


def _turns(p: Array, dtype: Any, discont: Any, period: float) -> Array:
    """Return what `numpy.unwrap` adds to the difference of each two neighbours."""
    steps = np.diff(p, axis=0)
    high: Any = period / 2
    both_ways = True  # whether a step of half a period may be taken either way
    if np.issubdtype(dtype, np.integer):
        high, rest = divmod(period, 2)
        both_ways = rest == 0
    low = -high
    within = np.mod(steps - low, period) + low
    if both_ways:
        np.copyto(within, high, where=(within == low) & (steps > 0))
    turns = within - steps
    np.copyto(turns, 0, where=abs(steps) < (period / 2 if discont is None else discont))
    return np.asarray(turns, dtype)


_unwrap.vjp(_unwrap_back)
