"""Special functions, composed of operators: gamma functions, the inverse of `erf`."""

import math
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.torch._pointwise import cast, floating
from dtensor.torch._types import numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["digamma", "erfinv", "i0", "lgamma", "mvlgamma", "polygamma"]

# B(2k) / (2k), of Stirling's series for the digamma function
_BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510]
_FAR = 1000  # steps of the recurrence for negative numbers
_SHIFT = 10  # arguments are raised to at least this, where the series converge


def _wide(input: Any) -> tuple[Any, Any]:
    """Return the input as float64, and the dtype of the result."""
    input = floating(input)
    return cast(input, np.float64), input.dtype


def _narrow(x: Any, dtype: Any) -> Any:
    return ops.astype(x, numpy_dtype(dtype))


@np.errstate(all="ignore")
def lgamma(input: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    x, dtype = _wide(input)
    below = ops.less(x, 0.5)
    inside = ops.where(below, 1 - x, x)
    far = inside
    shift: Any = 0.0
    for _ in range(_SHIFT):  # log Gamma(x) = log Gamma(x + 1) - log x
        small = ops.less(far, _SHIFT)
        shift = shift + ops.where(small, ops.log(ops.where(small, far, 1.0)), 0.0)
        far = ops.where(small, far + 1, far)
    square = 1 / (far * far)
    series: Any = 0.0
    for k in reversed(range(len(_BERNOULLI))):
        series = series * square + _BERNOULLI[k] / ((2 * k + 1) * (2 * k + 2))
    found = (far - 0.5) * ops.log(far) - far + 0.5 * math.log(2 * math.pi)
    found = found + series / far - shift
    found = ops.where(ops.isinf(inside), np.inf, found)
    sine = ops.abs(ops.sin(math.pi * (x - ops.floor(x.detach()))))
    sine = ops.where(below, sine, 1.0)
    turned = math.log(math.pi) - ops.log(sine) - found
    return _narrow(ops.where(below, turned, found), dtype)


def _poly(n: int, x: Any, more: int = 0) -> Any:
    """Return derivative n of the digamma function of numbers above ``-more``."""
    sign = (-1.0) ** (n + 1) * math.factorial(n)
    shift: Any = 0.0
    for _ in range(_SHIFT + n + more):
        small = ops.less(x, _SHIFT + n)
        step = sign * ops.where(small, x, 1.0) ** float(-(n + 1))
        shift = shift + ops.where(small, step, 0.0)
        x = ops.where(small, x + 1, x)
    if n == 0:
        found = ops.log(x) - 0.5 / x
    else:
        found = math.factorial(n - 1) * x**-n + 0.5 * math.factorial(n) * x ** -(n + 1)
        found = found * (-1.0) ** (n + 1)
    for k, number in enumerate(_BERNOULLI, 1):
        factor = number * math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        found = found + (-1.0) ** (n + 1) * factor * x ** -(2 * k + n)
    return found + shift


@np.errstate(all="ignore")
def digamma(input: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function."""
    x, dtype = _wide(input)
    below = ops.less(x, 0)
    found = _poly(0, ops.where(below, 1 - x, ops.where(ops.equal(x, 0), 1.0, x)))
    turn = x - ops.floor(x.detach())
    turned = found - math.pi / ops.tan(math.pi * ops.where(below, turn, 0.25))
    pole = below & ops.equal(turn, 0)
    found = ops.where(below, ops.where(pole, np.nan, turned), found)
    return _narrow(ops.where(ops.equal(x, 0), -ops.copysign(np.inf, x), found), dtype)


@np.errstate(all="ignore")
def polygamma(n: int, input: Any) -> Any:
    """Return derivative `n` of the digamma function.

    Raises
    ------
    RuntimeError
        If `n` is negative.
    NotImplementedError
        For arguments below -1000, if `n` is above 1. On every rank.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return digamma(input)
    x, dtype = _wide(input)
    below = ops.less(x, 0.5)
    if n == 1:
        found = _poly(1, ops.where(below, 1 - x, x))
        sine = ops.sin(math.pi * ops.where(below, x, 0.5))
        return _narrow(ops.where(below, (math.pi / sine) ** 2 - found, found), dtype)
    least = float(ops.amin(x.detach())) if x.numel() else 0.0
    more = max(0, math.ceil(-least)) if math.isfinite(least) else 0
    if more > _FAR:
        raise NotImplementedError(
            f"polygamma({n}, x) is implemented for x >= {-_FAR} alone, for n above 1"
        )
    return _narrow(_poly(n, x, more), dtype)


def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension `p`."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        total = total + lgamma(input - k / 2)
    return total


_ERFINV = [  # M. Giles, "Approximating the erfinv function", 2012; then Newton's steps
    [2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087]
    + [-0.00125372503, -0.00417768164, 0.246640727, 1.50140941],
    [-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773]
    + [-0.0076224613, 0.00943887047, 1.00167406, 2.83297682],
]


@np.errstate(all="ignore")
def erfinv(input: Any) -> Any:
    """Return the inverse of the error function; NaN outside of -1 to 1."""
    x, dtype = _wide(input)
    inside = ops.less(ops.abs(x), 1)
    y = ops.where(inside, x, 0.0)
    w = -ops.log1p(-y.detach() * y.detach())
    near, far = w - 2.5, ops.sqrt(ops.maximum(w, 5)) - 3
    one, two = (_horner(row, at) for row, at in zip(_ERFINV, (near, far), strict=True))
    found = ops.where(ops.less(w, 5), one, two) * y.detach()
    for _ in range(3):  # the last one also gives the gradient
        slope = 2 / math.sqrt(math.pi) * ops.exp(-found * found)
        found = found - (ops.erf(found) - y.detach()) / slope
    slope = 2 / math.sqrt(math.pi) * ops.exp(-found * found)
    found = found + (y - y.detach()) / slope
    ends = ops.where(ops.equal(ops.abs(x), 1), ops.copysign(np.inf, x), np.nan)
    return _narrow(ops.where(inside, found, ends), dtype)


def _horner(coefficients: list[float], x: Any) -> Any:
    total: Any = 0.0
    for each in coefficients:
        total = total * x + each
    return total


def i0(input: Any) -> Any:
    """Return the modified Bessel function of the first kind, of order 0."""
    x, dtype = _wide(input)
    return _narrow(ops.i0(x), dtype)
