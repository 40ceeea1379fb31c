"""Tensors and numbers in the dtypes that PyTorch computes in."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.ops._make.halves import is_half
from dtensor.torch._numbers import fitted
from dtensor.torch._promotion import bare, default_dtype, dtype_for
from dtensor.torch._types import numpy_dtype

__all__ = [
    "FLOAT32",
    "cast",
    "cast_alike",
    "floating",
    "floats_alike",
    "number_as",
    "rounded_once",
]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
FLOAT32 = np.dtype(np.float32)


def cast(x: Any, to: Any) -> Any:
    """Return a tensor or an array in a dtype; a Python number as an array without
    dims. An array stays one, beside a DTensor, too."""
    if not hasattr(x, "dtype"):
        return np.asarray(fitted(x, to), to)
    if x.dtype == to:
        return x
    make = np.asarray if isinstance(x, np.ndarray) else ops.astype
    return make(x, numpy_dtype(to))


def number_as(x: Any, to: Any) -> Any:
    """Return a tensor in a dtype; Python's numbers as they are."""
    return cast(x, to) if hasattr(x, "dtype") else x


def cast_alike(*xs: Any) -> tuple[Any, ...]:
    """Return tensors in the dtype that PyTorch promotes them to; None stays."""
    to = dtype_for([x for x in xs if x is not None])
    return tuple(x if x is None else number_as(x, to) for x in xs)


def floats_alike(*xs: Any) -> tuple[Any, ...]:
    """Return tensors and numbers in the dtype that PyTorch promotes them to; integers
    and booleans in the default floating-point dtype."""
    to = dtype_for(xs)
    to = default_dtype() if to.kind in "bui" else to
    return tuple(cast(x, to) for x in map(bare, xs))


def floating(x: Any) -> Any:
    """Return a tensor; integers and booleans in the default floating-point dtype."""
    return cast(x, default_dtype()) if x.dtype.kind in "bui" else x


def rounded_once(compute: Callable[..., Any], *xs: Any) -> Any:
    """Return what several steps give; for tensors of 16 bits they are in float32."""
    dtype = dtype_for(xs)
    if not is_half(dtype):
        return compute(*xs)
    return cast(compute(*(cast(x, FLOAT32) for x in xs)), dtype)
