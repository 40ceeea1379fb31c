"""Draws of gamma, Poisson and binomial numbers, composed of uniform and normal ones.

All are exact, in float64. What is repeated until all elements are there is repeated on
all ranks of a mesh alike.
"""

from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.autograd import is_grad_enabled, no_grad
from dtensor.torch._alike import rand_like, randn_like
from dtensor.torch._cast import cast
from dtensor.torch._rows import in_rows
from dtensor.torch._special import digamma
from dtensor.torch._types import torch_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["binomial", "poisson"]

FEW = 16  # trials that are made one by one; rates that are searched from 0
TERMS = 60  # P(Poisson(FEW) > TERMS) < 1e-16
LARGE = 100.0  # from here on the gradient is taken of an expansion


def _wide(x: Any) -> Any:
    return cast(x.detach(), np.float64)


def _standard_gamma(alpha: Any, generator: Any) -> Any:
    """Draw by Marsaglia and Tsang; below 1 as gamma(alpha + 1) u^(1 / alpha)."""
    small = alpha < 1
    d = ops.where(small, alpha + 1, alpha) - 1 / 3
    c = 1 / ops.sqrt(9 * d)
    found, missing = ops.zeros_like(alpha), ops.ones_like(alpha, dtype=np.bool_)
    while bool(ops.any(missing)):
        x = randn_like(alpha, generator=generator)
        u = rand_like(alpha, generator=generator)
        v = (1 + c * x) ** 3
        good = v > 0
        safe = ops.where(good, v, 1.0)
        bound = 0.5 * x * x + d * (1 - safe + ops.log(safe))
        good = good & (ops.log(u) < bound)
        found = ops.where(missing & good, d * safe, found)
        missing = missing & ~good & (alpha == alpha)
    lifted = ops.where(small, 1 / alpha, ops.zeros_like(alpha))
    return found * rand_like(alpha, generator=generator) ** lifted


def _slope(x: Any, alpha: Any) -> Any:
    """Return dx/dalpha where the probability of being below x stays the same.

    It is -dF/dalpha / density: the series of F, derived term by term, and for large
    alpha Cornish and Fisher's expansion of x.
    """
    large = alpha > LARGE
    a = ops.where(large, 1.0, alpha)
    y = ops.where(large, 1.0, x)
    term = 1 / a
    log_x, psi = ops.log(y), digamma(a + 1)
    total = term * (log_x - psi)
    k = 0
    while True:
        k += 1
        term = term * y / (a + k)
        psi = psi + 1 / (a + k)
        total = total + term * (log_x - psi)
        if k % 32 == 0 and not bool(ops.any(term > 1e-17 * ops.abs(total))):
            break
    near = -y * total
    big = ops.where(large, alpha, LARGE)
    root = ops.sqrt(big)
    z = 3 * root * ((ops.where(large, x, LARGE) / big) ** (1 / 3) - 1 + 1 / (9 * big))
    far = 1 + z / (2 * root) - (z**3 - 7 * z) / (72 * big * root)
    return ops.where(large, far, near)


def gamma(alpha: Any, shape: Any, generator: Any = None) -> Any:
    """Draw gamma numbers of rate 1, with gradients with respect to `alpha`."""
    wanted = ops.broadcast_to(alpha, tuple(shape))
    wide, smooth = _wide(wanted), is_grad_enabled() and alpha.requires_grad
    tiny = float(np.finfo(np.dtype(alpha.dtype)).tiny)
    with no_grad():
        found = ops.maximum(_standard_gamma(wide, generator), tiny)
        drawn = cast(found, alpha.dtype)
        if not smooth:
            return drawn
        slope = cast(_slope(found, wide), alpha.dtype)
    return drawn + (wanted - wanted.detach()) * slope


def _binomial(n: Any, p: Any, generator: Any) -> Any:
    """Halve the trials that are left, by order statistics of uniform numbers."""
    found = ops.zeros_like(n)
    while bool(ops.any(n > FEW)):
        many = n > FEW
        m = ops.where(many, ops.floor(n / 2) + 1, 1.0)
        a = _standard_gamma(m, generator)
        b = _standard_gamma(ops.where(many, n + 1 - m, 1.0), generator)
        x = a / (a + b)  # the m-th smallest of n uniform numbers
        below = many & (x <= p)
        found = ops.where(below, found + m, found)
        rest = ops.where(below, (p - x) / (1 - x), ops.where(many, p / x, p))
        n = ops.where(below, n - m, ops.where(many, m - 1, n))
        p = ops.minimum(ops.maximum(rest, 0.0), 1.0)
    for k in range(FEW):
        found = found + ((rand_like(p, generator=generator) < p) & (n > k))
    return found


def _constant(found: Any, input: Any) -> Any:
    """Return what was drawn, in the dtype of an input, whose gradient is zeros."""
    drawn = cast(found, input.dtype)
    return ops.where(np.False_, input, drawn) if input.requires_grad else drawn


def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """Draw numbers of successes, of numbers of trials and their probabilities.

    Parameters
    ----------
    count, prob : Tensor
        They are broadcast; the gradients are zeros.
    generator : Generator, optional
        Default: that of `manual_seed`. The numbers are not those that PyTorch draws;
        they depend on the shape, not on the layout.

    Raises
    ------
    ValueError, RuntimeError
        If they are not floating-point numbers of one dtype.
    """
    for name, x in (("count", count), ("prob", prob)):
        if np.dtype(x.dtype).kind in "buic":
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: "
                f"{torch_dtype(x.dtype).legacy}"
            )
    if count.dtype != prob.dtype:
        want, got = (torch_dtype(x.dtype).legacy for x in (count, prob))
        raise RuntimeError(f"Found dtype {got} but expected {want}")
    with no_grad():
        n, p = ops.broadcast_arrays(_wide(count), _wide(prob))
        found = _binomial(n, p, generator)
    return _constant(found, prob)


def poisson(input: Any, generator: Any = None) -> Any:
    """Draw Poisson numbers of rates; the gradient is zeros.

    Large rates are halved by gamma and binomial numbers.

    Parameters
    ----------
    input : Tensor
        The rates.
    generator
        As for `binomial`.

    Raises
    ------
    RuntimeError
        If a rate is negative, on all ranks.
    NotImplementedError
        If the rates are not real floating-point numbers.
    """
    if np.dtype(input.dtype).kind in "buic":
        kind = torch_dtype(input.dtype).legacy
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{kind}'")
    with no_grad():
        left = _wide(input)
        if bool(ops.any(left < 0)):
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
        found = _poisson(left, generator)
    return in_rows(_constant(found, input))


def _poisson(left: Any, generator: Any) -> Any:
    found = ops.zeros_like(left)
    while bool(ops.any(left > FEW)):
        many = left > FEW
        m = ops.where(many, ops.floor(left * 0.875), 1.0)
        x = _standard_gamma(m, generator)  # the time of arrival m
        after = many & (x > left)
        ratio = ops.where(after, left / x, 0.0)
        found = found + ops.where(many & ~after, m, 0.0)
        count = ops.where(after, m - 1, 0.0)
        found = found + _binomial(count, ratio, generator)
        left = ops.where(after, 0.0, ops.where(many, left - x, left))
    u, p = rand_like(left, generator=generator), ops.exp(-left)
    total = p
    for k in range(1, TERMS + 1):
        found = found + (u > total)
        p = p * left / k
        total = total + p
    return found
