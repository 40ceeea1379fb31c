"""Powers of real floating-point numbers with Python's numbers as exponents.

NumPy is slow where negative numbers are raised. PyTorch multiplies for a few exponents;
with other whole ones the numbers without their signs are raised here.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.halves import in_float32, is_bfloat16, is_half
from dtensor.ops._make.operator import Operand, call
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise import pointwise

__all__ = ["by_number", "is_plain"]

Array = npt.NDArray[Any]


def _cube(x: Array) -> Any:
    found = np.asarray(np.multiply(x, x))
    return np.multiply(found, x, out=found)


def _inverse_square(x: Array) -> Any:
    found = np.asarray(np.multiply(x, x))
    return np.reciprocal(found, out=found)


def _inverse_root(x: Array) -> Any:
    found = np.asarray(np.sqrt(x))
    return np.reciprocal(found, out=found)


KERNELS: dict[float, Callable[[Array], Any]] = {
    2: np.square,
    -1: np.reciprocal,
    0.5: np.sqrt,
    3: _cube,
    -2: _inverse_square,
    -0.5: _inverse_root,
}
# That these Python floats are whole, or in the table, is known before the call.
FLOATS = (-4.0, -3.0, 6.0, 5.0, 4.0, -2.0, -1.0, -0.5, 0.5, 3.0, 2.0)


def _raised(x: Array, exponent: float) -> Any:
    """Return a power with an exponent of `KERNELS`, or a whole one."""
    known = KERNELS.get(exponent)
    if known is not None:
        return known(x)
    found = np.asarray(np.absolute(x))
    np.power(found, exponent, out=found)
    return np.copysign(found, x, out=found) if exponent % 2 == 1 else found


def is_plain(dtype: Any, exponent: Any) -> bool:
    """Return whether `by_number` raises tensors of a dtype to an exponent."""
    number = isinstance(exponent, int | float) and not isinstance(exponent, bool)
    return number and (dtype.kind == "f" or is_bfloat16(dtype))


def _by_number(x1: Operand, x2: Operand) -> Answer:
    """Return a power with a Python number as exponent: see `numpy.power`."""
    text, made, *rest = pointwise._power.__wrapped__(x1, x2)
    root = x1.dtype == np.float16 and x2.value == -0.5  # not PyTorch's, of -inf and -0
    if x2.number is int or (x2.value is not None and not root):
        half = is_half(x1.dtype)
        made = call(in_float32(_raised, x1.dtype) if half else _raised, x1, x2)
    return text, made, *rest


by_number = _C.Operator(_by_number, "power", 2, base=pointwise._power, told=FLOATS)
by_number.bare = True
