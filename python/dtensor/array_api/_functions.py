"""Functions whose signatures or result types differ from NumPy's."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dtensor._C import Tensor
from dtensor._core.dtype import dtype_of
from dtensor.array_api._answer import answer
from dtensor.ops.methods.array_api import check_device

__all__ = [
    "argsort",
    "astype",
    "broadcast_arrays",
    "clip",
    "diff",
    "meshgrid",
    "sort",
    "unique_values",
]

_argsort = answer(np.argsort)
_astype = answer(np.astype)
_broadcast_arrays = answer(np.broadcast_arrays)
_clip = answer(np.clip)
_diff = answer(np.diff)
_flip = answer(np.flip)
_meshgrid = answer(np.meshgrid)
_sort = answer(np.sort)
_unique = answer(np.unique)


def astype(
    x: Tensor, dtype: npt.DTypeLike, /, *, copy: bool = True, device: str | None = None
) -> Any:
    """Return an array in another dtype; with copy=False `x` itself if it has it."""
    check_device(device)
    if not copy and x.dtype == dtype:
        return x
    return _astype(x, dtype_of(dtype), copy=copy)


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Any:
    """Return an array with its elements limited to the range from `min` to `max`."""
    return _clip(x, min, max)


def sort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    """Return an array with its elements sorted along an axis."""
    ascending = _sort(x, axis=axis, stable=stable)
    return _flip(ascending, axis=axis) if descending else ascending


def unique_values(x: Tensor, /) -> Any:
    """Return the different elements, sorted; each NaN counts as distinct."""
    return _unique(x, equal_nan=False)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    """Return the indices that sort an array's elements along an axis.

    Equal elements keep their order, also in a descending sort.
    """
    if not descending:
        return _argsort(x, axis=axis, stable=stable)
    backwards = _argsort(_flip(x, axis=axis), axis=axis, stable=stable)
    return x.shape[axis] - 1 - _flip(backwards, axis=axis)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Any:
    """Return the `n`-th differences of neighbours along an axis."""
    ends = {"prepend": prepend, "append": append}
    given = {name: end for name, end in ends.items() if end is not None}
    return _diff(x, n=n, axis=axis, **given)


def broadcast_arrays(*arrays: Tensor) -> list[Any]:
    """Return the arrays in the shape that they broadcast to."""
    return list(_broadcast_arrays(*arrays))


def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> list[Any]:
    """Return the coordinates of a grid from the coordinates along its axes."""
    return list(_meshgrid(*arrays, indexing=indexing))
