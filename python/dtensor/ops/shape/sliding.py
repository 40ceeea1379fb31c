"""Windows that slide along dims, as views."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.numbers import numbers_of
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.routes import ranges_of, reachable
from dtensor.ops._make.words import Answer, hollow, rule
from dtensor.ops.shape.borders import resized
from dtensor.ops.shape.reach import by_rows
from dtensor.ops.shape.rearrange import broadcast_to

__all__ = ["sliding_window_view"]

Array = npt.NDArray[Any]
_VIEW: Any = np.lib.stride_tricks.sliding_window_view


@implements(_VIEW)
def sliding_window_view(
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> Any:
    """Return all windows of a size: see `numpy.lib.stride_tricks.sliding_window_view`.

    Collective if such a dim is cut: the rows that a part's last windows reach are sent
    to it, and it has a copy of them. Otherwise it is a view, which is read-only.

    Parameters
    ----------
    x : array
    window_shape : int or tuple of int
        The length of windows along each axis.
    axis : int or tuple of int, optional
        Default: all dims.
    subok : bool, default False
        Without effect.
    writeable : bool, default False
        As NumPy's, but only False.

    Returns
    -------
    array
        A window begins where an element of `x` is, on the rank that has it. The last
        dims are those of windows.

    Raises
    ------
    ValueError
        As NumPy's; and for `writeable`.
    """
    if writeable:
        raise ValueError("sliding_window_view: windows of tensors are read-only")
    window_shape = numbers_of("sliding_window_view", window_shape)
    _VIEW(hollow(x.shape), window_shape, axis)  # NumPy's errors
    lengths = np.atleast_1d(window_shape).tolist()
    dims = (
        range(x.ndim)
        if axis is None
        else normalize_axis_tuple(axis, x.ndim, None, True)
    )
    for dim, length in zip(dims, lengths, strict=True):
        x = _windows(x, dim, length)
    return x


@operator(name="sliding_window_view")
def _windows(x: Operand, dim: int, length: int) -> Answer | Callable[..., Any]:
    if length and x.layout is not None and reachable(x.layout, dim):
        return _windows_of_parts
    names = letters(x.ndim, whole=[dim])
    after = [*names, str(length)]
    after[dim] = str(x.shape[dim] - length + 1)
    return rule([names], [after], "any"), call(_VIEW, x, length, dim), x.dtype


def _windows_of_parts(x: _C.DTensor, dim: int, length: int) -> Any:
    count = x.shape[dim] - length + 1
    own = [(min(a, count), min(b, count)) for a, b in ranges_of(x.layout, dim)]
    wanted = [(a, b + length - 1) if a < b else (a, a) for a, b in own]

    def inner(rows: Any, number: int) -> Any:
        if rows.shape[dim]:
            return _windows(rows, dim, length)
        return broadcast_to(rows[..., None], (*rows.shape, length))

    to = resized(x.layout, dim, [b - a for a, b in own])
    to = to.like((*to.shape, length), {d: d for d in range(x.ndim)}, x.dtype)
    return by_rows("sliding_window_view", x, dim, wanted, to, inner)


@operator(name="sliding_window_view_backward")
def _added(windows: Operand, dim: int, length: int) -> Answer:
    """Add up windows where they overlap."""
    names = letters(windows.ndim, whole=[dim, windows.ndim - 1])
    after = names[:-1]
    after[dim] = str(windows.shape[dim] + length - 1)
    kernel = call(_overlapped, windows, dim, length)
    return rule([names], [after], "0"), kernel, windows.dtype


def _overlapped(windows: Array, dim: int, length: int) -> Array:
    rows = np.moveaxis(windows, dim, 0)
    count = len(rows)
    result = np.zeros((count + length - 1, *rows.shape[1:-1]), windows.dtype)
    for k in range(length):
        result[k : k + count] += rows[..., k]
    return np.moveaxis(result, 0, dim)


_windows.vjp(lambda grad, _out, _x, dim, length: _added(grad, dim, length))
_added.vjp(lambda grad, _out, _windows_, dim, length: _windows(grad, dim, length))
