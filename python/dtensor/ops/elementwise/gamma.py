"""The logarithm of the gamma function, and its derivatives."""

import functools
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.kernel import kernel_for, refuse_complex
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer

__all__ = ["lgamma", "polygamma"]

LARGEST = 170  # n! is infinite above


def _in_float64(name: str, x: Any, *more: int) -> Any:
    return _C.kernel(name)(np.asarray(x, np.float64), *more)


def _answer(name: str, x: Operand, *more: int) -> Answer:
    refuse_complex(name, x.dtype)
    kernel, dtype = kernel_for(name, [x.dtype], functools.partial(_in_float64, name))
    return broadcast([x]), call(kernel, x, *more), dtype


@operator
def lgamma(x: Operand) -> Answer:
    """Return the logarithm of the absolute value of the gamma function."""
    return _answer("lgamma", x)


@operator
def polygamma(x: Operand, n: int) -> Answer:
    """Return derivative `n` of the digamma function, the derivative of `lgamma`.

    Raises
    ------
    NotImplementedError
        If `n` is above 170.
    """
    if n > LARGEST:
        raise NotImplementedError(
            f"polygamma(n, x) is implemented for n up to {LARGEST}"
        )
    return _answer("polygamma", x, n)


lgamma.vjp(lambda grad, _out, x: grad * polygamma(x, 0))
polygamma.vjp(lambda grad, _out, x, n: grad * polygamma(x, n + 1))
