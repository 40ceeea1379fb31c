"""Softmax and its logarithm, along a dim that no mesh dim cuts meanwhile."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from dtensor.ops._operator import Operand, call, letters, method, operator
from dtensor.ops._words import Answer, rule

__all__ = ["log_softmax", "softmax"]

Array = npt.NDArray[Any]


def _along(kernel: Any, x: Operand, axis: int) -> Answer:
    axis = normalize_axis_index(axis, x.ndim)
    names = letters(x.ndim, whole=[axis])
    return rule([names], [names]), call(kernel, x, axis)


def _shifted(x: Array, axis: int) -> Array:
    """Return the logarithms less the greatest, as floating-point numbers."""
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    top = np.maximum.reduce(x, axis=axis, keepdims=True) if x.size else 0
    return np.asarray(np.subtract(x, top, dtype=x.dtype))


def _softmax(x: Array, axis: int) -> Array:
    shifted = _shifted(x, axis)
    powers = np.exp(shifted, out=shifted)
    return np.divide(
        powers, np.add.reduce(powers, axis=axis, keepdims=True), out=powers
    )


def _log_softmax(x: Array, axis: int) -> Array:
    shifted = _shifted(x, axis)
    total = np.add.reduce(np.exp(shifted), axis=axis, keepdims=True)
    return np.subtract(shifted, np.log(total), out=shifted)


@method
@operator
def softmax(x: Operand, axis: int = -1) -> Answer:
    """Return exponentials that add up to 1 along an axis.

    Parameters
    ----------
    x : array_like
        Integers are taken for float64.
    axis : int, default -1
        Also `dim`. It is not cut meanwhile; other dims stay as they are.

    Returns
    -------
    DTensor
        Of the shape of `x`.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    """
    return _along(_softmax, x, axis)


@method
@operator
def log_softmax(x: Operand, axis: int = -1) -> Answer:
    """Return the logarithm of `softmax`, which does not underflow; arguments alike."""
    return _along(_log_softmax, x, axis)
