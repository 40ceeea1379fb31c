"""Divergences of distributions of two different types; `kl` has those of one."""

import math
from typing import Any

from dtensor.torch.distributions._values import torch
from dtensor.torch.distributions.bernoulli import Bernoulli
from dtensor.torch.distributions.beta import Beta
from dtensor.torch.distributions.binomial import Binomial
from dtensor.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dtensor.torch.distributions.exponential import Exponential
from dtensor.torch.distributions.gamma import Gamma
from dtensor.torch.distributions.gumbel import EULER, Gumbel
from dtensor.torch.distributions.kl import register_kl
from dtensor.torch.distributions.laplace import Laplace
from dtensor.torch.distributions.normal import Normal
from dtensor.torch.distributions.pareto import Pareto
from dtensor.torch.distributions.poisson import Poisson
from dtensor.torch.distributions.uniform import Uniform

# --- formulas of their own ------------------------------------------------------------


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    found = -q.concentration * torch.log(ratio) + ratio + torch.lgamma(q.concentration)
    return found + q.concentration * EULER - (1 + EULER)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log(q.rate) + q.rate * p.concentration / p.rate


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Any:
    squared = (p.scale / q.scale) ** 2
    away = 0.5 * ((p.loc - q.loc) / q.scale) ** 2
    logs = 0.5 * torch.log(2 * squared / math.pi)
    return -logs + squared + away - 1


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    away = p.loc - q.loc
    ratio, far = p.scale / q.scale, away / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * far.pow(2))
    rest = away * torch.erf(math.sqrt(0.5) * far)
    return (
        -torch.log(ratio)
        + (near + rest) / q.scale
        - 0.5 * math.log(0.5 * math.pi * math.e)
    )


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    logs = torch.log(math.sqrt(math.pi * 2) * q.scale / width)
    middle = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return logs + 0.5 * (width.pow(2) / 12 + middle) / q.scale.pow(2)


# --- by moments of the first: -entropy(p) - mean(log q) -------------------------------


def _mean_log(p: Any) -> Any:
    """Return the mean of log x."""
    if isinstance(p, Beta):
        return torch.digamma(p.concentration1) - torch.digamma(p._total)
    if isinstance(p, Pareto):
        return torch.log(p.scale) + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Any, high: Any) -> Any:
    """Return the mean of log x between two numbers; of no use if one is negative."""
    ends = [torch.xlogy(x, x) for x in (low.clamp(min=0), high.clamp(min=0))]
    return (ends[1] - ends[0]) / (high - low) - 1


def _mean_power(p: Any, rate: Any) -> Any:
    """Return the mean of exp(-rate x)."""
    if isinstance(p, Exponential):
        return p.rate / (p.rate + rate)
    if isinstance(p, Gamma):
        return (p.rate / (p.rate + rate)) ** p.concentration
    if isinstance(p, Normal):
        return torch.exp(rate * (rate * p.scale**2 / 2 - p.loc))
    ends = torch.exp(-rate * p.low) - torch.exp(-rate * p.high)
    return ends / (rate * (p.high - p.low))


def _of_normal(p: Any, q: Any) -> Any:
    away = (p.mean - q.loc).pow(2) + p.variance
    logs = torch.log(q.scale) + 0.5 * math.log(2 * math.pi)
    return logs + 0.5 * away / q.scale.pow(2) - p.entropy()


def _of_exponential(p: Any, q: Any) -> Any:
    return q.rate * p.mean - torch.log(q.rate) - p.entropy()


def _of_gamma(p: Any, q: Any) -> Any:
    a, rate = q.concentration, q.rate
    norm = torch.lgamma(a) - a * torch.log(rate)
    return norm - (a - 1) * _mean_log(p) + rate * p.mean - p.entropy()


def _of_gumbel(p: Any, q: Any) -> Any:
    rate = 1 / q.scale
    power = torch.exp(rate * q.loc) * _mean_power(p, rate)
    return torch.log(q.scale) + rate * (p.mean - q.loc) + power - p.entropy()


def _of_pareto(p: Any, q: Any) -> Any:
    logs = torch.log(q.alpha) + q.alpha * torch.log(q.scale)
    found = (q.alpha + 1) * _mean_log(p) - logs - p.entropy()
    least = p.scale if isinstance(p, Pareto) else p.low
    return torch.where(least < q.scale, math.inf, found)


def _of_uniform(p: Any, q: Any) -> Any:
    found = torch.log(q.high - q.low) - p.entropy()
    return torch.where((q.low > 0) | (q.high < 1), math.inf, found)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return q.rate - p.probs * torch.log(q.rate) - p.entropy()


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    norm = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(q._total)
    left, right = _mean_log(p), _mean_log_between(1 - p.high, 1 - p.low)
    found = norm - (a - 1) * left - (b - 1) * right - p.entropy()
    return torch.where((p.low < 0) | (p.high > 1), math.inf, found)


def _of_continuous(p: Any, q: Any) -> Any:
    norm = torch.log1p(-q.probs) + q._log_norm()
    return -p.mean * q.logits - norm - p.entropy()


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous(p: Any, q: Any) -> Any:
    outside = (p.low < 0) | (p.high > 1)
    return torch.where(outside, math.inf, _of_continuous(p, q))


def _from_zero(function: Any) -> Any:
    """Return a divergence of uniform distributions that is infinite below 0."""
    return lambda p, q: torch.where(p.low < 0, math.inf, function(p, q))


_UNIT: tuple[type, ...] = (Beta, ContinuousBernoulli)
for _type in (Exponential, Gamma, Gumbel, *_UNIT, Pareto):
    register_kl(_type, Normal)(_of_normal)
for _type in (*_UNIT, Pareto):
    register_kl(_type, Exponential)(_of_exponential)
for _type in (Beta, Pareto):
    register_kl(_type, Gamma)(_of_gamma)
for _type in (Exponential, Gamma, Normal, Uniform):
    register_kl(_type, Gumbel)(_of_gumbel)
for _type in (Pareto, Uniform):
    register_kl(_type, Pareto)(_of_pareto)
for _type in _UNIT:
    register_kl(_type, Uniform)(_of_uniform)
register_kl(Beta, ContinuousBernoulli)(_of_continuous)
register_kl(Uniform, Exponential)(_from_zero(_of_exponential))
register_kl(Uniform, Gamma)(_from_zero(_of_gamma))

# --- what the first may give is impossible for the second -----------------------------


def _infinite(p: Any, _q: Any) -> Any:
    return torch.full_like(p.mean, math.inf)


_BOUNDED = (Beta, ContinuousBernoulli, Pareto, Uniform)
_IMPOSSIBLE: dict[type, tuple[type, ...]] = {
    **dict.fromkeys((Beta, ContinuousBernoulli), (Pareto,)),
    **dict.fromkeys((Exponential, Gamma), _BOUNDED),
    **dict.fromkeys((Gumbel, Laplace, Normal), (*_BOUNDED, Exponential, Gamma)),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}
for _type, _others in _IMPOSSIBLE.items():
    for _other in _others:
        register_kl(_type, _other)(_infinite)
