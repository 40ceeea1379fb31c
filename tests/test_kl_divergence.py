"""Each divergence of two distributions of numbers is the integral that defines it."""

import math

import numpy as np
import pytest

import dtensor.torch as torch
import dtensor.torch.distributions as d
from dtensor.torch.distributions.kl import _registered

# Of each type two, and where what the first gives is likely to lie.
CONTINUOUS = {
    d.Beta: ([(2.5, 1.5), (1.2, 3.0)], (0, 1)),
    d.Cauchy: ([(0.5, 1.0), (-1.0, 2.0)], (-1e7, 1e7)),
    d.ContinuousBernoulli: ([(0.3,), (0.8,)], (0, 1)),
    d.Exponential: ([(0.7,), (2.0,)], (0, 80)),
    d.Gamma: ([(2.5, 1.5), (1.3, 0.6)], (0, 100)),
    d.Gumbel: ([(0.5, 1.2), (-0.3, 2.0)], (-30, 100)),
    d.HalfNormal: ([(1.5,), (0.7,)], (0, 30)),
    d.Laplace: ([(0.5, 1.2), (-0.3, 0.8)], (-60, 60)),
    d.Normal: ([(0.5, 1.2), (-0.3, 0.8)], (-20, 20)),
    d.Pareto: ([(1.5, 5.0), (0.8, 3.0)], (0, 1e6)),
    d.Uniform: ([(0.1, 0.9), (0.0, 1.0), (-1.0, 2.0), (2.0, 3.0)], (-1, 3)),
}
COUNTS = {
    d.Bernoulli: [(0.3,), (0.8,)],
    d.Binomial: [(1, 0.3), (1, 0.6)],
    d.Geometric: [(0.3,), (0.6,)],
    d.Poisson: [(1.5,), (3.0,)],
}


def made(kind, numbers):
    each = [torch.tensor(x, dtype=torch.float64) for x in numbers]
    return kind(*each, validate_args=False)


def log_density(p, x):
    """The logarithm of the density, -inf where there is none."""
    inside = np.asarray(p.support.check(torch.tensor(x)))
    if isinstance(p, d.Uniform):  # at its end, too
        inside = (x >= p.low.item()) & (x <= p.high.item())
    safe = torch.tensor(np.where(inside, x, np.asarray(p.mean)))
    found = np.asarray(p.log_prob(safe))
    return np.where(inside, found, -np.inf)


def parted(p, low, high):
    """Points and weights of Gauss and Legendre on parts that get small near 0 and at
    the end."""
    if isinstance(p, d.Uniform):
        low, high = p.low.item(), p.high.item()
    if isinstance(p, d.Pareto):
        low = p.scale.item()
    far = np.geomspace(1e-12, 1, 90)
    anchor = min(max(0.0, low), high)
    edges = [anchor - far * (anchor - low), anchor + far * (high - anchor)]
    edges += [high - far * (high - low)]
    loc = getattr(p, "loc", None)  # where some have a corner
    edges += [[low, high, anchor], [] if loc is None else [loc.item()]]
    edges = np.unique(np.concatenate(edges))
    points, weights = np.polynomial.legendre.leggauss(24)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (
        np.ravel(middle[:, None] + half[:, None] * points),
        np.ravel(half[:, None] * weights),
    )


def divergence(p, q):
    if type(p) in COUNTS:
        x = np.arange(2.0 if type(p) in (d.Bernoulli, d.Binomial) else 200.0)
        weights = np.ones_like(x)
    else:
        x, weights = parted(p, *CONTINUOUS[type(p)][1])
    own, other = log_density(p, x), log_density(q, x)
    mass = np.exp(own) * weights
    there = mass > 0
    return float(np.sum(mass[there] * (own[there] - other[there])))


PAIRS = [
    pair
    for pair in _registered
    if all(kind in CONTINUOUS or kind in COUNTS for kind in pair)
]


@pytest.mark.parametrize("first, second", PAIRS, ids=lambda kind: kind.__name__)
def test_divergences_are_integrals(first, second):
    of = {**{kind: each for kind, (each, _) in CONTINUOUS.items()}, **COUNTS}
    for a in of[first]:
        for b in of[second]:
            p, q = made(first, a), made(second, b)
            wanted = divergence(p, q)
            found = d.kl_divergence(p, q).item()
            near = math.isclose(found, wanted, rel_tol=2e-6, abs_tol=2e-6)
            assert found == wanted or near, (a, b, found, wanted)


class Waiting(d.ExponentialFamily):
    """What a user makes: exponential distributions by their natural parameter."""

    def __init__(self, rate):
        self.rate = torch.tensor(rate)
        super().__init__(self.rate.shape, validate_args=False)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, theta):
        return -torch.log(-theta)

    _mean_carrier_measure = 0


def test_a_users_exponential_family_has_entropy_and_divergence():
    p, q = Waiting([0.5, 2.0]), Waiting([1.5, 3.0])
    own, other = d.Exponential(p.rate), d.Exponential(q.rate)
    torch.testing.assert_close(p.entropy(), own.entropy())
    found = d.kl_divergence(p, q)
    torch.testing.assert_close(found, d.kl_divergence(own, other))
    with pytest.raises(NotImplementedError, match="Bregman"):
        d.kl_divergence(p, d.Poisson(1.0))


def test_every_pair_that_can_be_compared_is():
    assert len(PAIRS) > 60
