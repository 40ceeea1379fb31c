"""Special functions: gamma functions, the inverse of `erf`."""

import math
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.ops.elementwise import gamma
from dtensor.torch._cast import cast, floating
from dtensor.torch._types import numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["digamma", "erfinv", "i0", "igamma", "igammac", "lgamma", "mvlgamma"]
__all__ += ["polygamma"]

_FAR = 1000  # steps of a continued fraction


def _wide(input: Any) -> tuple[Any, Any]:
    """Return the input as float64, and the dtype of the result."""
    input = floating(input)
    return cast(input, np.float64), input.dtype


def _narrow(x: Any, dtype: Any) -> Any:
    return ops.astype(x, numpy_dtype(dtype))


def lgamma(input: Any) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    return gamma.lgamma(floating(input))


def digamma(input: Any) -> Any:
    """Return the derivative of the logarithm of the gamma function."""
    return gamma.polygamma(floating(input), 0)


def polygamma(n: int, input: Any) -> Any:
    """Return derivative `n` of the digamma function.

    Raises
    ------
    RuntimeError
        If `n` is negative.
    NotImplementedError
        If `n` is above 170. On every rank.
    """
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return gamma.polygamma(floating(input), n)


def mvlgamma(input: Any, p: int) -> Any:
    """Return the logarithm of the multivariate gamma function of dimension `p`."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    total: Any = p * (p - 1) / 4 * math.log(math.pi)
    for k in range(p):
        total = total + lgamma(input - k / 2)
    return total


def erfinv(input: Any) -> Any:
    """Return the inverse of the error function; NaN outside of -1 to 1."""
    return ops.erfinv(floating(input))


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
