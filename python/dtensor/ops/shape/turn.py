"""Turning elements around: flip, roll, rot90. Cut dims stay cut.

Functions that only move elements accept every Partial.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.operator import (
    Operand,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import values_of
from dtensor.ops._make.step import one_step
from dtensor.ops._make.words import Answer, Shape, hollow, rule
from dtensor.ops.index.backwards import reversed_along, reversible
from dtensor.ops.index.read import getitem
from dtensor.ops.shape.joined import joinable, joined, rows_only
from dtensor.ops.shape.view import ravel, reshape

__all__ = ["flip", "fliplr", "flipud", "roll", "rot90"]


@method
@implements(np.flip)
@operator
def flip(m: Operand, axis: Any = None) -> Answer | Callable[..., Any]:
    """Reverse the order of elements along some dims.

    A cut dim stays cut: each rank sends its part to where that lies in the result, and
    what is written to that is sent back. Strided ones, and those of a Partial, are made
    whole.

    Parameters
    ----------
    m : array
    axis : int or tuple of int, optional
        Default: all dims.
    """
    axes = axes_of(axis, m.ndim)
    names = letters(m.ndim, whole=axes)
    if m.layout is not None and reversible(m.layout, axes):
        return _flip_parts
    return rule([names], [names], "any"), call(np.flip, m, axes)


flip.vjp(lambda grad, _out, _m, axis=None: flip(grad, axis))


@one_step("flip", lambda grad, _out, _m, axis=None: flip(grad, axis))
def _flip_parts(m: Any, axis: Any = None) -> Any:
    axes = axes_of(axis, m.ndim)
    result = reversed_along("flip", m, axes)
    index = tuple(slice(None, None, -1 if d in axes else 1) for d in range(m.ndim))
    _C.set_origin(result, m, index)  # writes to it are copied back
    return result


@method
@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """Reverse the order along dim 1; ValueError for fewer than 2 dims."""
    np.fliplr(hollow(m.shape))
    return flip(m, 1)


@method
@implements(np.flipud)
def flipud(m: Any) -> Any:
    """Reverse the order along dim 0; ValueError for an array of no dims."""
    np.flipud(hollow(m.shape))
    return flip(m, 0)


@method
@implements(np.roll)
@operator
def roll(a: Operand, shift: Any, axis: Any = None) -> Answer | Callable[..., Any]:
    """Move elements along some dims; the last ones come first.

    Parameters
    ----------
    a : array
    shift : int or tuple of int
        By how many places.
    axis : int or tuple of int, optional
        Default: the flattened array is rolled, and its shape restored.

    Returns
    -------
    array
        Laid out as `a`. Along a cut dim only elements whose rank changes move.
    """
    if isinstance(shift, Operand):
        return _roll_by_array
    if axis is None and a.ndim != 1:
        if a.layout is not None and joinable(a.layout, 0) and rows_only(a.layout):
            return _roll_flat
        names = letters(a.ndim, whole=range(a.ndim))
        return rule([names], [names], "any"), call(np.roll, a, shift)
    offsets = _offsets(a.shape, shift, 0 if axis is None else axis)
    if any(joinable(a.layout, dim) for dim in offsets):
        return _roll_parts
    names = letters(a.ndim, whole=offsets)
    kernel = call(np.roll, a, tuple(offsets.values()), tuple(offsets))
    return rule([names], [names], "any"), kernel


def _roll_back(grad: Any, _out: Any, _a: Any, shift: Any, axis: Any = None) -> Any:
    return roll(grad, np.negative(shift, dtype=np.int64).tolist(), axis)


roll.vjp(_roll_back)


def _offsets(shape: Shape, shift: Any, axis: Any) -> dict[int, int]:
    """Return by how many places dims are rolled; dims with shift 0 are left out."""
    axes = normalize_axis_tuple(axis, len(shape), allow_duplicate=True)
    pairs = np.broadcast(shift, axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    total = dict.fromkeys(axes, 0)
    for places, dim in pairs:
        total[dim] += int(places)
    return {d: n % shape[d] for d, n in total.items() if n % (shape[d] or 1)}


def _roll_by_array(a: Any, shift: Any, axis: Any = None) -> Any:
    """Roll by a shift given as an array, which becomes a constant."""
    if isinstance(shift, _C.DTensor):
        a = on_mesh(a, shift.device_mesh)
    return roll(a, values_of("roll", shift).tolist(), axis)


def _roll_flat(a: Any, shift: Any, axis: None = None) -> Any:
    return reshape(roll(ravel(a), shift, 0), a.shape)


@one_step("roll", _roll_back)
def _roll_parts(a: Any, shift: Any, axis: Any = None) -> Any:
    """Roll one dim after another; cut dims by joining two slices."""
    offsets = _offsets(a.shape, shift, 0 if axis is None else axis)
    whole = {d: n for d, n in offsets.items() if not joinable(a.layout, d)}
    if whole:
        a = roll(a, tuple(whole.values()), tuple(whole))
    for dim in offsets.keys() - whole.keys():
        key = (slice(None),) * dim
        at = a.shape[dim] - offsets[dim]
        ends = [getitem(a, (*key, part)) for part in (slice(at, None), slice(at))]
        a = joined("roll", ends, dim, a.layout)
    return a


@method
@implements(np.rot90)
@operator
def rot90(m: Operand, k: int = 1, axes: Any = (0, 1)) -> Answer | Callable[..., Any]:
    """Rotate by 90 degrees in the plane of two dims, `k` times; both may be cut."""
    np.rot90(hollow(m.shape), k, axes)  # NumPy's errors
    first, second = (dim % m.ndim for dim in axes)
    reversed_dims = [(), (second,), (first, second), (first,)][k % 4]
    if m.layout is not None and reversible(m.layout, reversed_dims):
        return _rotated
    names = letters(m.ndim, whole=reversed_dims)
    after = names[:]
    if k % 2:
        after[first], after[second] = names[second], names[first]
    return rule([names], [after], "any"), call(np.rot90, m, k, (first, second))


def _rotated(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Swap dims, which makes a view, then reverse them: writes are sent back."""
    first, second = (dim % m.ndim for dim in axes)
    if k % 2 == 0:
        return flip(m, (first, second))
    return flip(np.swapaxes(m, first, second), first if k % 4 == 1 else second)


rot90.vjp(lambda grad, _out, _m, k=1, axes=(0, 1): rot90(grad, -k, axes))
