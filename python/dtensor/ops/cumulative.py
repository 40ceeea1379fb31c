"""Scans and differences: cumsum, cumprod, diff, gradient, trapezoid.

A scan along a dim that is cut has two levels: each rank scans its part, the totals of
all parts are made known, and what comes before a part is added to it."""

import functools
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from dtensor import _C
from dtensor.ops._blocks import stacked, with_whole
from dtensor.ops._composite import composite, settled
from dtensor.ops._operator import Operand, call, implements, letters, method, operator
from dtensor.ops._parts import inside, local, make, move, positions
from dtensor.ops._reduction import MISSING, DTypeLike, kind_of, partial_rows, probe
from dtensor.ops._words import Answer, rule
from dtensor.ops.elementwise import where_
from dtensor.ops.pointwise import isnan, not_equal, subtract

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "ediff1d",
    "gradient",
    "nancumprod",
    "nancumsum",
    "trapezoid",
]

# --- scans ----------------------------------------------------------------------------


@functools.cache
def _whole_scan(function: np.ufunc) -> Any:
    def accumulate(
        x: Operand, axis: int = 0, dtype: DTypeLike = None, out: None = None
    ) -> Answer:
        axis = normalize_axis_index(axis, x.ndim)
        names = letters(x.ndim, whole=[axis])
        result = function.accumulate(probe(x), axis=axis, dtype=dtype).dtype
        rows = partial_rows(kind_of(function, x.dtype))
        kernel = call(function.accumulate, x, axis=axis, dtype=dtype)
        return rule([names], [names], rows), kernel, result

    return operator(accumulate, name=f"{function.__name__}.accumulate")


@composite
def scan(
    function: np.ufunc,
    x: Any,
    axis: int = 0,
    dtype: DTypeLike = None,
    out: Any = None,
) -> Any:
    """Return ``function.accumulate(x, axis, dtype)``.

    Sums and products of a dim that is cut move one element for each part and line;
    other functions, and what gradients are wanted of, have it whole meanwhile."""
    if function in (np.add, np.multiply) and isinstance(x, _C.DTensor):
        dim = normalize_axis_index(axis, x.ndim)
        cut = [p for p in x.placements if getattr(p, "dim", None) == dim]
        if cut and all(isinstance(p, _C.Shard) for p in cut) and not x.requires_grad:
            return _scan_of_parts(function, x, dim, dtype)
    return _whole_scan(function)(x, axis, dtype)


def _scan_of_parts(
    function: np.ufunc, x: _C.DTensor, axis: int, dtype: DTypeLike
) -> _C.DTensor:
    name = f"{function.__name__}.accumulate"
    x = settled(name, x)
    wide = function.accumulate(np.ones(1, x.dtype), dtype=dtype).dtype
    to = x.layout.with_dtype(wide)
    totals = stacked(to, (axis,))
    everywhere = with_whole(totals, 0)
    part = total = np.empty(0, wide)
    if inside(to):
        part = function.accumulate(local(x), axis=axis, dtype=wide)
        total = np.expand_dims(function.reduce(local(x), axis=axis, dtype=wide), 0)
    rows = local(move(name, make(total, totals), everywhere))
    if inside(to):
        mine = positions(totals, 0)[0]
        before = function.reduce(rows[:mine], axis=0, dtype=wide)
        part = function(part, np.expand_dims(before, axis), out=part)
    return make(part, to)


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    """Return what is scanned: without an axis all elements, row by row."""
    if axis is None:
        return (x if x.ndim == 1 else np.ravel(x)), 0
    return (x if x.ndim else np.ravel(x)), axis


@method
@implements(np.cumsum)
@composite
def cumsum(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return the sums of all elements up to each one, along an axis.

    Parameters
    ----------
    a : array_like
    axis : int, optional
        Also `dim`; default: of the flattened array.
    dtype : dtype_like, optional
        In which is added; default as `numpy.cumsum`.
    out : DTensor, optional
        What the result is written to.

    Returns
    -------
    DTensor
        Of the shape and layout of `a`; without axis of one dim.
    """
    return scan(np.add, *_flat(a, axis), dtype)


@method
@implements(np.cumprod)
@composite
def cumprod(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return the products of all elements up to each one; arguments as of `cumsum`."""
    return scan(np.multiply, *_flat(a, axis), dtype)


def _filled(a: Any, value: int) -> Any:
    return a if a.dtype.kind in "biu" else where_(isnan(a), value, a)


@implements(np.nancumsum)
@composite
def nancumsum(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return `cumsum` of what has 0 in the place of each NaN."""
    return cumsum(_filled(a, 0), axis, dtype)


@implements(np.nancumprod)
@composite
def nancumprod(
    a: Any, axis: int | None = None, dtype: DTypeLike = None, out: Any = None
) -> Any:
    """Return `cumprod` of what has 1 in the place of each NaN."""
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
    return implements(getattr(np, name))(composite(cumulative))


cumulative_sum = _cumulative(np.add, "cumulative_sum")
cumulative_prod = _cumulative(np.multiply, "cumulative_prod")

# --- differences ----------------------------------------------------------------------


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
        Parts stay where they are; only their borders move.
    n : int, default 1
        How many times.
    axis : int, default -1
        Also `dim`.
    prepend, append : array_like, optional
        What comes before and after `a`; a scalar is broadcast.
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
    for _ in range(n):
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


@operator(operands=2)
def _gradient(f: Operand, spacing: Operand, axis: int, edge_order: int) -> Answer:
    names = letters(f.ndim, whole=[axis])
    points = [names[axis]] if spacing.ndim else []
    dtype = np.gradient(np.ones(4, f.dtype)).dtype
    kernel = call(np.gradient, f, spacing, axis=axis, edge_order=edge_order)
    return rule([names, points], [names], "0"), kernel, dtype


@implements(np.gradient)
@composite
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return derivatives by central differences: see `numpy.gradient`.

    Each axis is whole while the derivative along it is computed.

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
