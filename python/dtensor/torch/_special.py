"""Special functions, composed of operators: gamma functions, the inverse of `erf`."""

import math
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.torch._pointwise import cast, floating
from dtensor.torch._types import numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["digamma", "erfinv", "i0", "igamma", "igammac", "lgamma", "mvlgamma"]
__all__ += ["polygamma"]

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


# --- incomplete gamma functions -------------------------------------------------------

_STEPS = 32  # between questions whether a series has converged


def _series(a: Any, x: Any) -> Any:
    """Return the sum of x^k / (a (a + 1) ... (a + k)), for x up to about a."""
    term = 1 / a
    total, k = term, 0
    while k == 0 or bool(ops.any(ops.greater(term, 1e-17 * total))):
        for _ in range(_STEPS):
            k += 1
            term = term * x / (a + k)
            total = total + term
    return total


def _fraction(a: Any, x: Any) -> Any:
    """Return Legendre's continued fraction, for x from about a on: Lentz's method."""
    b = x + 1 - a
    c, d = ops.full_like(b, 1e300), 1 / b
    value, k, moved = d, 0, True
    while moved:
        for _ in range(_STEPS):
            k += 1
            factor = -k * (k - a)
            b = b + 2
            d, c = factor * d + b, b + factor / c
            d = 1 / ops.where(ops.equal(d, 0), 1e-300, d)
            c = ops.where(ops.equal(c, 0), 1e-300, c)
            value = value * d * c
        moved = bool(ops.any(ops.greater(ops.abs(d * c - 1), 1e-15)))
        moved = moved and k < _FAR * _STEPS
    return value


@np.errstate(all="ignore")
def _incomplete(a: Any, x: Any, upper: bool) -> Any:
    a, dtype = _wide(a)
    given, _ = _wide(x)
    given = given + ops.zeros_like(a.detach())
    a, x = a.detach() + ops.zeros_like(given.detach()), given.detach()
    good = ops.logical_and(ops.greater(a, 0), ops.greater(x, 0))
    good = ops.logical_and(good, ops.logical_not(ops.isinf(a + x)))
    small = ops.less(x, a + 1)
    below, above = ops.logical_and(good, small), ops.logical_and(good, ~small)
    front = a * ops.log(ops.where(good, x, 1.0)) - x - lgamma(ops.where(good, a, 1.0))
    front = ops.exp(ops.where(good, front, -np.inf))
    lower = front * _series(ops.where(below, a, 1.0), ops.where(below, x, 1.0))
    rest = front * _fraction(ops.where(above, a, 1.0), ops.where(above, x, 3.0))
    if upper:
        found = ops.where(small, 1 - lower, rest)
    else:
        found = ops.where(small, lower, 1 - rest)
    none = ops.logical_or(ops.equal(x, 0), ops.isinf(a))
    found = ops.where(none, float(upper), found)
    full = ops.logical_or(ops.isinf(x), ops.equal(a, 0))
    full = ops.logical_and(full, ops.logical_not(none))
    found = ops.where(full, float(not upper), found)
    both = ops.logical_or(
        ops.logical_and(ops.equal(a, 0), ops.equal(x, 0)),
        ops.logical_and(ops.isinf(a), ops.isinf(x)),
    )
    wrong = ops.logical_or(ops.logical_or(ops.less(a, 0), ops.less(x, 0)), both)
    known = ops.logical_or(none, ops.isinf(x))
    wrong = ops.logical_or(wrong, ops.logical_and(ops.isnan(a + x), ~known))
    found = ops.where(wrong, np.nan, found)
    if given.requires_grad:  # the gradient is the density, of x alone
        slope = front / ops.where(good, x, 1.0) * (-1 if upper else 1)
        found = found + ops.where(good, given - x, 0.0) * slope
    return _narrow(found, dtype)


def igamma(input: Any, other: Any) -> Any:
    """Return the regularized lower incomplete gamma function P(input, other).

    It is the probability that a gamma number of shape `input` is below `other`, which
    alone has a gradient.
    """
    return _incomplete(input, other, False)


def igammac(input: Any, other: Any) -> Any:
    """Return the regularized upper incomplete gamma function, ``1 - igamma``."""
    return _incomplete(input, other, True)
