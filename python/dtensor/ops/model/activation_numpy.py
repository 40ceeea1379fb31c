"""The activations with NumPy's functions, for dtypes that the C kernels lack.

After the definitions of torch.nn.functional; the names and numbers are those of
csrc/kernels/activation.h. A gradient is the derivative at `x`, or where the kernel
wants it, in terms of the result."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["FORMULAS", "Formula"]

Array = npt.NDArray[Any]


class Formula(NamedTuple):
    """A function of ``(x, *numbers)`` and its derivative."""

    value: Callable[..., Any]
    slope: Callable[..., Any]
    of_result: bool = False  # the derivative is computed of the result
    complex: bool = False  # it is a function of complex numbers too


def _sigmoid(x: Array) -> Array:
    if x.dtype.kind == "c":
        return np.asarray(1 / (1 + np.exp(-x)))
    power = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, x.dtype.type(1), power) / (1 + power))


def _softplus(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _normal(x: Array) -> Array:
    """Return P(X <= x) of the normal distribution, in float64."""
    return np.asarray(np.vectorize(math.erfc, otypes="d")(-x / math.sqrt(2)) / 2)


def _erfinv(x: Array) -> Array:
    """Return the inverse of the error function, in float64."""
    return np.asarray(_C.kernel("erfinv")(np.asarray(x, np.float64)))


def _density(x: Array) -> Array:
    return np.asarray(np.exp(-x * x / 2) / math.sqrt(2 * math.pi))


def _inner(x: Array) -> Array:
    return _sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3))


def _gelu_tanh_slope(x: Array) -> Array:
    s = _inner(x)
    steep = math.sqrt(8 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return np.asarray(s + x * s * (1 - s) * steep)


def _silu_slope(x: Array) -> Array:
    s = _sigmoid(x)
    return np.asarray(s * (1 + x * (1 - s)))


def _mish_slope(x: Array) -> Array:
    t = np.tanh(_softplus(x))
    return np.asarray(t + x * (1 - t * t) * _sigmoid(x))


def _hardswish_slope(x: Array) -> Array:
    return np.where(x <= -3, 0, np.where(x >= 3, 1, x / 3 + 0.5))


FORMULAS: dict[str, Formula] = {
    "relu": Formula(
        lambda x: np.maximum(x, 0), lambda y: np.where(y <= 0, 0, 1), of_result=True
    ),
    "hardtanh": Formula(
        lambda x, low, high: np.minimum(np.maximum(x, low), high),
        lambda x, low, high: (x > low) & (x < high),
    ),
    "leaky_relu": Formula(
        lambda x, slope: np.where(x > 0, x, slope * x),
        lambda x, slope: np.where(x > 0, 1, slope),
    ),
    "threshold": Formula(
        lambda x, low, value: np.where(x <= low, value, x),
        lambda x, low, value: np.where(x <= low, 0, 1),
    ),
    "elu": Formula(
        lambda x, alpha, scale, inside: (
            scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(inside * x, 0)))
        ),
        lambda x, alpha, scale, inside: (
            scale
            * np.where(x > 0, 1, alpha * inside * np.exp(np.minimum(inside * x, 0)))
        ),
    ),
    "gelu": Formula(lambda x: x * _normal(x), lambda x: _normal(x) + x * _density(x)),
    "gelu_tanh": Formula(lambda x: x * _inner(x), _gelu_tanh_slope),
    "silu": Formula(lambda x: x * _sigmoid(x), _silu_slope, complex=True),
    "mish": Formula(lambda x: x * np.tanh(_softplus(x)), _mish_slope),
    "sigmoid": Formula(_sigmoid, lambda y: y * (1 - y), of_result=True, complex=True),
    "tanh": Formula(np.tanh, lambda y: 1 - y * y, of_result=True, complex=True),
    "logsigmoid": Formula(lambda x: -_softplus(-x), lambda x: _sigmoid(-x)),
    "softplus": Formula(
        lambda x, beta, limit: np.where(
            beta * x > limit, x, _softplus(beta * x) / beta
        ),
        lambda x, beta, limit: np.where(beta * x > limit, 1, _sigmoid(beta * x)),
    ),
    "hardsigmoid": Formula(
        lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6,
        lambda x: ((x > -3) & (x < 3)) / 6,
    ),
    "hardswish": Formula(
        lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6, _hardswish_slope
    ),
    "hardshrink": Formula(
        lambda x, width: np.where(np.abs(x) <= width, 0, x),
        lambda x, width: np.abs(x) > width,
    ),
    "softshrink": Formula(
        lambda x, width: x - np.minimum(np.maximum(x, -width), width),
        lambda x, width: np.abs(x) > width,
    ),
    "softsign": Formula(
        lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2
    ),
    "erf": Formula(
        lambda x: 1 - 2 * _normal(-math.sqrt(2) * x),
        lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x),
    ),
    "erfc": Formula(
        lambda x: 2 * _normal(-math.sqrt(2) * x),
        lambda x: -2 / math.sqrt(math.pi) * np.exp(-x * x),
    ),
    "erfinv": Formula(
        _erfinv, lambda y: math.sqrt(math.pi) / 2 * np.exp(y * y), of_result=True
    ),
    "tanhshrink": Formula(lambda x: x - np.tanh(x), lambda x: np.tanh(x) ** 2),
}
