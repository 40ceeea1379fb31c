"""Choosing the kernel by dtype: the C kernel, or NumPy for other dtypes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.halves import in_float32, is_half

__all__ = ["DIRECT", "inexact", "kernel_for", "refuse_complex"]

Array = npt.NDArray[Any]
DType = np.dtype[Any]

DIRECT = (np.dtype(np.float32), np.dtype(np.float64))


def inexact(*dtypes: DType | None) -> DType:
    """Return the result dtype of a function of real or complex numbers.

    It is the common dtype of the operands; integers and booleans count as float64.
    Python numbers have dtype None and do not affect it.
    """
    given = [dtype for dtype in dtypes if dtype is not None]
    found = np.result_type(*given) if given else np.dtype(np.float64)
    return np.dtype(np.float64) if found.kind in "biu" else found


def refuse_complex(name: str, *dtypes: DType | None) -> None:
    """Raise TypeError, for a function that is not defined for complex numbers."""
    if inexact(*dtypes).kind == "c":
        raise TypeError(f"{name} is not defined for complex numbers")


def kernel_for(
    name: str, dtypes: Sequence[DType | None], otherwise: Callable[..., Any]
) -> tuple[Callable[..., Any], DType]:
    """Return a kernel for arrays of these dtypes, and the dtype of its results.

    float32 and float64 are computed by the C kernel; float16 and bfloat16 too, in
    float32, and rounded once. Other dtypes (longdouble, complex) are computed by
    `otherwise`, with NumPy's functions.

    Parameters
    ----------
    name : str
        Of the C kernel; the dtype of its first argument is the one it computes in.
    dtypes : sequence of numpy.dtype
        Of the operands that it computes with. The first is that of the kernel's first
        argument.
    otherwise : callable
        Takes the same arguments.
    """
    dtype = inexact(*dtypes)
    if dtype in DIRECT and dtypes[0] == dtype:
        return _C.kernel(name), dtype
    if dtype in DIRECT:
        return _cast(_C.kernel(name), dtype, dtype), dtype
    if is_half(dtype) and dtypes[0] == dtype:
        return in_float32(_C.kernel(name), dtype), dtype
    if is_half(dtype):
        return _cast(_C.kernel(name), np.dtype(np.float32), dtype), dtype
    return _cast(otherwise, dtype, dtype), dtype


def _cast(kernel: Callable[..., Any], inside: DType, outside: DType) -> Any:
    """Return a kernel that computes in one dtype and returns another."""

    def run(first: Any, *rest: Any) -> Any:
        result = kernel(np.asarray(first, inside), *rest)
        if isinstance(result, tuple):
            return tuple(None if x is None else _as(x, outside) for x in result)
        return _as(result, outside)

    return run


def _as(x: Any, dtype: DType) -> Array:
    return np.asarray(x).astype(dtype, copy=False)
