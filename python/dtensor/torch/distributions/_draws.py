"""Draws of gamma, Poisson and binomial numbers, composed of uniform and normal ones.

All are exact, in float64. What is repeated until all elements are there is repeated on
all ranks of a mesh alike.
"""

from typing import Any

from dtensor.torch.distributions._values import torch, without_gradients

__all__ = ["binomial", "gamma", "poisson"]

FEW = 16  # trials that are made one by one; rates that are searched from 0
TERMS = 60  # P(Poisson(FEW) > TERMS) < 1e-16
LARGE = 100.0  # from here on the gradient is taken of an expansion


def _wide(x: Any) -> Any:
    return x.detach().to(torch.float64)


@without_gradients
def _standard_gamma(alpha: Any) -> Any:
    """Draw by Marsaglia and Tsang; below 1 as gamma(alpha + 1) u^(1 / alpha)."""
    small = alpha < 1
    d = torch.where(small, alpha + 1, alpha) - 1 / 3
    c = 1 / torch.sqrt(9 * d)
    found, missing = torch.zeros_like(alpha), torch.ones_like(alpha, dtype=torch.bool)
    while bool(missing.any()):
        x, u = torch.randn_like(alpha), torch.rand_like(alpha)
        v = (1 + c * x) ** 3
        good = v > 0
        safe = torch.where(good, v, 1.0)
        bound = 0.5 * x * x + d * (1 - safe + torch.log(safe))
        good = good & (torch.log(u) < bound)
        found = torch.where(missing & good, d * safe, found)
        missing = missing & ~good & (alpha == alpha)
    lifted = torch.where(small, 1 / alpha, torch.zeros_like(alpha))
    return found * torch.rand_like(alpha) ** lifted


def _slope(x: Any, alpha: Any) -> Any:
    """Return dx/dalpha where the probability of being below x stays the same.

    It is -dF/dalpha / density: the series of F, derived term by term, and for large
    alpha Cornish and Fisher's expansion of x.
    """
    large = alpha > LARGE
    a = torch.where(large, 1.0, alpha)
    y = torch.where(large, 1.0, x)
    term = 1 / a
    log_x, psi = torch.log(y), torch.digamma(a + 1)
    total = term * (log_x - psi)
    k = 0
    while True:
        k += 1
        term = term * y / (a + k)
        psi = psi + 1 / (a + k)
        total = total + term * (log_x - psi)
        if k % 32 == 0 and not bool((term > 1e-17 * total.abs()).any()):
            break
    near = -y * total
    big = torch.where(large, alpha, LARGE)
    root = torch.sqrt(big)
    z = 3 * root * ((torch.where(large, x, LARGE) / big) ** (1 / 3) - 1 + 1 / (9 * big))
    far = 1 + z / (2 * root) - (z**3 - 7 * z) / (72 * big * root)
    return torch.where(large, far, near)


def gamma(alpha: Any, shape: Any) -> Any:
    """Draw gamma numbers of rate 1, with gradients with respect to `alpha`."""
    wanted = alpha.expand(shape)
    wide = _wide(wanted)
    tiny = torch.finfo(alpha.dtype).tiny
    found = _standard_gamma(wide).clamp(min=tiny)
    drawn = found.to(alpha.dtype)
    if not (torch.is_grad_enabled() and alpha.requires_grad):
        return drawn
    with torch.no_grad():
        slope = _slope(found, wide).to(alpha.dtype)
    return drawn + (wanted - wanted.detach()) * slope


@without_gradients
def binomial(count: Any, probs: Any) -> Any:
    """Draw numbers of successes; counts and probabilities have the shape to draw.

    Order statistics of uniform numbers halve the counts that are left.
    """
    n, p = _wide(count), _wide(probs)
    found = torch.zeros_like(n)
    while bool((n > FEW).any()):
        many = n > FEW
        m = torch.where(many, torch.floor(n / 2) + 1, 1.0)
        a, b = _standard_gamma(m), _standard_gamma(torch.where(many, n + 1 - m, 1.0))
        x = a / (a + b)  # the m-th smallest of n uniform numbers
        below = many & (x <= p)
        found = torch.where(below, found + m, found)
        rest = torch.where(below, (p - x) / (1 - x), torch.where(many, p / x, p))
        n = torch.where(below, n - m, torch.where(many, m - 1, n))
        p = rest.clamp(0.0, 1.0)
    for k in range(FEW):
        hit = (torch.rand_like(p) < p) & (n > k)
        found = found + hit
    return found.to(probs.dtype)


@without_gradients
def poisson(rate: Any) -> Any:
    """Draw Poisson numbers of rates; large rates by gamma and binomial numbers."""
    left = _wide(rate)
    found = torch.zeros_like(left)
    while bool((left > FEW).any()):
        many = left > FEW
        m = torch.where(many, torch.floor(left * 0.875), 1.0)
        x = _standard_gamma(m)  # the time of arrival m
        after = many & (x > left)
        ratio = torch.where(after, left / x, 0.0)
        found = found + torch.where(many & ~after, m, 0.0)
        found = found + binomial(torch.where(after, m - 1, 0.0), ratio)
        left = torch.where(after, 0.0, torch.where(many, left - x, left))
    u, p = torch.rand_like(left), torch.exp(-left)
    total = p
    for k in range(1, TERMS + 1):
        found = found + (u > total)
        p = p * left / k
        total = total + p
    return found.to(rate.dtype)
