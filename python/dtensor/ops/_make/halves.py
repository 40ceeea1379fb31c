"""Arrays of float16 and bfloat16: computed in float32, and rounded once.

NumPy adds up float16 in float16 along most dims, has no fast product of either, and
knows bfloat16 (of ml_dtypes) as one dtype among others, which Python numbers widen.
Where the processor multiplies bfloat16 itself, adding up in float32, products are its.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import Operand, call

__all__ = [
    "in_float32",
    "is_bfloat16",
    "is_half",
    "is_multiplied",
    "product_call",
    "weak_call",
    "wide_call",
]

DType = np.dtype[Any]


def is_bfloat16(dtype: DType | None) -> bool:
    """Return whether a dtype is that of ml_dtypes."""
    # NumPy makes a name anew each time, so only where it may be that one.
    return dtype is not None and dtype.kind == "V" and dtype.name == "bfloat16"


def is_half(dtype: DType | None) -> bool:
    """Return whether a dtype is float16 or bfloat16."""
    return dtype is not None and (dtype.char == "e" or is_bfloat16(dtype))


def in_float32(kernel: Callable[..., Any], *dtypes: DType) -> Callable[..., Any]:
    """Return a kernel that computes in float32 and rounds its results, each to a dtype.

    Parameters
    ----------
    kernel : callable
        Gets arrays of 16-bit floats as float32; returns an array or a tuple of them.
    *dtypes : numpy.dtype
        One for each result. A result of another dtype than float32 stays as it is, and
        so does one whose dtype here is not of 16 bits.
    """
    return _C.in_float32(kernel, dtypes[0] if len(dtypes) == 1 else dtypes)


def wide_call(kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the call of a kernel, in float32 if all operands are halves of one dtype.

    Masks and Python numbers may be beside them."""
    dtype = _common(args)
    return call(in_float32(kernel, dtype) if dtype else kernel, *args, **options)


def is_multiplied(*args: Any) -> bool:
    """Return whether all operands are of bfloat16, and the processor multiplies it."""
    return is_bfloat16(_common(args)) and _C.has_product()


def product_call(kernel: Callable[..., Any], *args: Any) -> Any:
    """Return the call of a kernel whose sums are those of `_C.product`: in bfloat16
    where the processor multiplies it, else as `wide_call`."""
    return (call if is_multiplied(*args) else wide_call)(kernel, *args)


def weak_call(kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the same where operands are of bfloat16. NumPy knows of float16 that
    Python numbers do not widen it."""
    make = wide_call if is_bfloat16(_common(args)) else call
    return make(kernel, *args, **options)


def _common(args: tuple[Any, ...]) -> DType | None:
    """Return the dtype of halves, if all operands have it; lists are looked into."""
    items = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]
    dtypes = {x.dtype for x in items if isinstance(x, Operand)}
    dtypes -= {None, np.dtype(bool)}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return dtype if is_half(dtype) else None
