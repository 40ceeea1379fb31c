"""Copies and casts: the operators that most composites use."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.as_whole import ordering
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.operator import Operand, call, implements, method, operator
from dtensor.ops._make.words import Answer

__all__ = ["astype", "copy", "same"]


def same(g: Any, _out: Any, _x: Any, *_args: Any, **_options: Any) -> Any:
    """Return the gradient of adding a constant or of a cast."""
    return g


@method
@operator
def astype(
    x: Operand,
    dtype: npt.DTypeLike,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> Answer:
    """Return the tensor in another dtype.

    Parameters
    ----------
    x : DTensor
        Of any shape. It stays Partial if no addend is rounded.
    dtype : dtype_like
        Of the result.
    order, casting, subok
        As for `numpy.ndarray.astype`.
    copy : bool
        With False the result shares memory with `x` where the dtype is the same.

    Raises
    ------
    TypeError
        If `casting` forbids it.
    """
    dtype = dtype_of(dtype)
    kernel = call(np.ndarray.astype, x, dtype, order, casting, subok, copy)
    if not copy and dtype == x.dtype and order in ("C", "F"):
        kernel = ordering(x, order)
    single = np.dtype(np.float32) in (x.dtype, dtype)
    if single and dtype != x.dtype and order == "K" and casting == "unsafe":
        kernel = call(_C.cast, x, dtype)
    return broadcast([x], "any"), kernel, dtype if casting == "unsafe" else None


astype.vjp(same)


@implements(np.astype)
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, not {device}')
    return astype(x, dtype, copy=copy)


@implements(np.copy)
@operator
def copy(a: Operand, order: Any = "K", subok: bool = False) -> Answer:
    """Return a copy in the same layout: see `numpy.copy`."""
    return broadcast([a], "any"), call(np.array, a, order=order, subok=subok)


copy.vjp(same)


@method(name="copy")
def _copy(x: Any, order: Any = "C") -> Any:
    """Return a copy with memory of its own, in the same layout."""
    return copy(x, order)
