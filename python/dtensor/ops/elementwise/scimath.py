"""Functions of `numpy.emath`: complex where the real function has no value.

The ranks agree whether any element needs it; then each computes its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.elementwise import anywhere
from dtensor.ops._make.fallback import composed

__all__: list[str] = []

Function = Callable[..., Any]

_COMPLEX = "FD"  # dtypes of numbers that stay as they are
# Whose complex numbers have two floats of 32 bits; those of all others have 64.
_SHORT = {np.dtype(kind) for kind in "bBhHfF"}


def _as_complex(x: Any) -> Any:
    return x.astype(np.complex64 if x.dtype in _SHORT else np.complex128)


def _is_negative(x: Any) -> Any:
    return x < 0


def _is_beyond_one(x: Any) -> Any:
    return np.abs(x) > 1


def _where_needed(x: Any, needs: Function, change: Function = _as_complex) -> Any:
    """Return an array changed if any of its real numbers needs it. Collective if it
    is cut."""
    x = x if isinstance(x, _C.Tensor) else np.asarray(x)
    if x.dtype.char in _COMPLEX:
        return x
    found = needs(x) & np.isreal(x) if x.dtype.kind == "c" else needs(x)
    return change(x) if anywhere(found) else x


def _of_one(function: Function, ufunc: np.ufunc, needs: Function) -> None:
    """Answer a function of one array."""

    @composed(function)
    def answer(x: Any) -> Any:
        return ufunc(_where_needed(x, needs))


for _function, _ufunc, _needs in (
    (np.emath.sqrt, np.sqrt, _is_negative),
    (np.emath.log, np.log, _is_negative),
    (np.emath.log2, np.log2, _is_negative),
    (np.emath.log10, np.log10, _is_negative),
    (np.emath.arccos, np.arccos, _is_beyond_one),
    (np.emath.arcsin, np.arcsin, _is_beyond_one),
    (np.emath.arctanh, np.arctanh, _is_beyond_one),
):
    _of_one(_function, _ufunc, _needs)


@composed(np.emath.logn)
def _logn(n: Any, x: Any) -> Any:
    x, n = (_where_needed(y, _is_negative) for y in (x, n))
    return np.log(x) / np.log(n)


@composed(np.emath.power)
def _power(x: Any, p: Any) -> Any:
    x = _where_needed(x, _is_negative)
    return np.power(x, _where_needed(p, _is_negative, lambda p: p * 1.0))
