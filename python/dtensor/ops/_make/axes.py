"""Axes as NumPy counts them, and its errors for those that are not there."""

import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from numpy.exceptions import AxisError
from numpy.lib import array_utils

from dtensor import _C

__all__ = ["checked_axis", "normalize_axis_index", "normalize_axis_tuple"]

T = TypeVar("T")


class _AxisOverflowError(AxisError, OverflowError):
    """An axis beyond a C int: some of NumPy's functions raise ValueError for it,
    others OverflowError, and all IndexError or ValueError for a smaller one."""


def _checked(normalize: Callable[..., T], axis: Any, ndim: int, *more: Any) -> T:
    try:
        return normalize(axis, ndim, *more)
    except OverflowError:
        raise _AxisOverflowError(axis, ndim) from None


def checked_axis(axis: Any) -> Any:
    """Return `axis`; refuse bools in it, and lists, as reductions and scans of NumPy's
    do, whose axes are integers. Others of its functions take True for 1."""
    if type(axis) is list and all(isinstance(dim, int) for dim in axis):
        # (A tuple that holds arrays has become a list.)
        raise TypeError("'list' object cannot be interpreted as an integer")
    if any(isinstance(dim, bool) for dim in (axis if type(axis) is tuple else [axis])):
        raise TypeError("an integer is required for the axis")
    return axis


def normalize_axis_index(axis: int, ndim: int, msg_prefix: str | None = None) -> int:
    """Return the dim that an axis names: see `numpy.lib.array_utils`."""
    return _checked(array_utils.normalize_axis_index, axis, ndim, msg_prefix)


def normalize_axis_tuple(
    axis: Any,
    ndim: int,
    argname: str | None = None,
    allow_duplicate: bool = False,
) -> tuple[int, ...]:
    """Return the dims that axes name: see `numpy.lib.array_utils`."""
    if not isinstance(axis, Iterable) or getattr(axis, "ndim", 1) == 0:
        axis = operator.index(axis)
    if isinstance(axis, _C.Operand):
        axis = [*cast(Any, axis)]
    normalize = array_utils.normalize_axis_tuple
    return _checked(normalize, axis, ndim, argname, allow_duplicate)
