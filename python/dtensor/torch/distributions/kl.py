"""``torch.distributions.kl``: divergences, by the types of both distributions."""

import math
from collections.abc import Callable
from typing import Any

from dtensor._core.caller import warn
from dtensor.torch.distributions._values import sum_rightmost, torch
from dtensor.torch.distributions.bernoulli import Bernoulli
from dtensor.torch.distributions.beta import Beta
from dtensor.torch.distributions.binomial import Binomial
from dtensor.torch.distributions.categorical import Categorical
from dtensor.torch.distributions.cauchy import Cauchy
from dtensor.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dtensor.torch.distributions.dirichlet import Dirichlet
from dtensor.torch.distributions.distribution import Distribution
from dtensor.torch.distributions.exp_family import ExponentialFamily
from dtensor.torch.distributions.exponential import Exponential
from dtensor.torch.distributions.gamma import Gamma
from dtensor.torch.distributions.geometric import Geometric
from dtensor.torch.distributions.gumbel import EULER, Gumbel
from dtensor.torch.distributions.half_normal import HalfNormal
from dtensor.torch.distributions.independent import Independent
from dtensor.torch.distributions.laplace import Laplace
from dtensor.torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
)
from dtensor.torch.distributions.multivariate_normal import (
    MultivariateNormal,
    log_diagonal,
    solve_lower,
)
from dtensor.torch.distributions.normal import Normal
from dtensor.torch.distributions.one_hot_categorical import OneHotCategorical
from dtensor.torch.distributions.poisson import Poisson
from dtensor.torch.distributions.transformed_distribution import (
    TransformedDistribution,
)
from dtensor.torch.distributions.uniform import Uniform
from dtensor.torch.distributions.wishart import Wishart

__all__ = ["kl_divergence", "register_kl"]

_registered: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Return a decorator that registers a divergence of two types of distributions.

    Raises
    ------
    TypeError
        If one is no type of distributions.
    """
    for each in (type_p, type_q):
        if not (isinstance(each, type) and issubclass(each, Distribution)):
            raise TypeError(
                f"Expected a subclass of Distribution but got {each!r} in register_kl"
            )

    def register(function: Any) -> Any:
        _registered[type_p, type_q] = function
        return function

    return register


def _function(p: type, q: type) -> Callable[[Any, Any], Any] | None:
    """Return the function of the nearest types; of several, the nearest to p."""
    found = [
        (p.__mro__.index(a), q.__mro__.index(b), function)
        for (a, b), function in _registered.items()
        if issubclass(p, a) and issubclass(q, b)
    ]
    if not found:
        return None
    left = min(found, key=lambda each: each[:2])
    right = min(found, key=lambda each: each[1::-1])
    if left[2] is not right[2]:
        warn(
            f"Ambiguous kl_divergence({p.__name__}, {q.__name__}). Please "
            "register_kl for the two",
            RuntimeWarning,
        )
    return left[2]


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the Kullback-Leibler divergence KL(p || q) in nats, of the batch shape.

    Raises
    ------
    NotImplementedError
        If none is registered for the types of `p` and `q`, nor for their bases; of
        exponential families of two types those that have none in PyTorch.
    """
    function = _function(type(p), type(q))
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return function(p, q)


# --- of one type ----------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    F = torch.nn.functional
    t1 = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    t1 = torch.where(q.probs == 0, math.inf, t1)
    t1 = torch.where(p.probs == 0, 0.0, t1)
    t2 = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    t2 = torch.where(q.probs == 1, math.inf, t2)
    return t1 + torch.where(p.probs == 1, 0.0, t2)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    total_p, total_q = p._total, q._total

    def norm(x: Any, total: Any) -> Any:
        a, b = x.concentration1, x.concentration0
        return torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(total)

    return (
        norm(q, total_q)
        - norm(p, total_p)
        + (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
        + (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
        + (total_q - total_p) * torch.digamma(total_p)
    )


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not "
            "implemented"
        )
    found = p.total_count * (
        p.probs * (p.logits - q.logits) + torch.log1p(-p.probs) - torch.log1p(-q.probs)
    )
    return torch.where(p.total_count > q.total_count, math.inf, found)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    norms = p._log_norm() - q._log_norm()
    ends = torch.log1p(-p.probs) - torch.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + norms + ends


@register_kl(Wishart, Wishart)
def _wishart(p: Any, q: Any) -> Any:
    n = p.event_shape[-1]
    solved = torch.cholesky_solve(p.covariance_matrix, q._tril)
    trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
    places = torch.arange(n, dtype=p.df.dtype) / 2
    slopes = torch.digamma(p.df.unsqueeze(-1) / 2 - places).sum(-1)
    return (
        q.df * (q._log_volume() - p._log_volume())
        + p.df / 2 * (trace - n)
        + torch.mvlgamma(q.df / 2, n)
        - torch.mvlgamma(p.df / 2, n)
        + (p.df - q.df) / 2 * slopes
    )


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    found = p.probs * (p.logits - q.logits)
    found = torch.where(q.probs == 0, math.inf, found)
    return torch.where(p.probs == 0, 0.0, found).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    away = (p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2
    return torch.log(away) - torch.log(4 * p.scale * q.scale)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total_a, total_b = a.sum(-1), b.sum(-1)
    ways = (torch.lgamma(a) - torch.lgamma(b)).sum(-1)
    slopes = torch.digamma(a) - torch.digamma(total_a).unsqueeze(-1)
    outer = torch.lgamma(total_a) - torch.lgamma(total_b)
    return outer - ways + ((a - b) * slopes).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -torch.log(ratio) + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    return (
        b * torch.log(p.rate / q.rate)
        + torch.lgamma(b)
        - torch.lgamma(a)
        + (a - b) * torch.digamma(a)
        + (q.rate - p.rate) * (a / p.rate)
    )


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    a, b, c = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    found = -torch.log(a) - b + c
    return found + a * EULER + torch.exp(b + torch.lgamma(1 + a) - c) - (1 + EULER)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, away = p.scale / q.scale, torch.abs(p.loc - q.loc)
    rest = away / q.scale + ratio * torch.exp(-away / p.scale) - 1
    return -torch.log(ratio) + rest


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - torch.log(ratio))


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (torch.log(p.rate) - torch.log(q.rate)) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = torch.log((q.high - q.low) / (p.high - p.low))
    return torch.where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """The divergence of Bregman of what normalizes them: Nielsen and Nock 2010."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be "
            "computed using Bregman divergences"
        )
    own = [x.detach().requires_grad_() for x in p._natural_params]
    norm = p._log_normalizer(*own)
    slopes = torch.autograd.grad(norm.sum(), own, create_graph=True)
    found = q._log_normalizer(*q._natural_params) - norm
    for a, b, slope in zip(own, q._natural_params, slopes, strict=True):
        found = found - sum_rightmost((b - a) * slope, len(q.event_shape))
    return found


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


def _vectors(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different "
            "event shapes cannot be computed"
        )
    a, b = p.scale_tril, q.scale_tril
    a, b = torch.broadcast_tensors(a, b)
    ratio = torch.triangular_solve(a, b, upper=False)[0]
    away = solve_lower(b, q.loc - p.loc)
    traces = (ratio**2).sum((-2, -1))
    half = log_diagonal(b) - log_diagonal(a)
    return half + 0.5 * (traces + (away**2).sum(-1) - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_vectors)
