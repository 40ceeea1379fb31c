"""PyTorch's distributions: formulas are PyTorch's, and what is drawn fits them."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import DTensor, Shard, distribute_tensor
from dtensor.torch.distributions import constraints, kl_divergence, transforms

sys.path.insert(0, str(Path(__file__).parent / "data"))
import torch_distributions as cases  # noqa: E402

d = torch.distributions
MANY = 20000


# --- what is drawn --------------------------------------------------------------------

DRAWN = [
    d.Normal(1.0, 2.0),
    d.Laplace(1.0, 2.0),
    d.Gumbel(1.0, 2.0),
    d.LogNormal(0.0, 0.4),
    d.HalfNormal(2.0),
    d.Uniform(-1.0, 3.0),
    d.Exponential(0.5),
    d.Gamma(0.3, 2.0),
    d.Gamma(30.0, 2.0),
    d.Chi2(torch.tensor(3.0)),
    d.Beta(0.5, 2.0),
    d.StudentT(5.0, 1.0, 0.5),
    d.Weibull(2.0, 1.5),
    d.Pareto(1.0, 5.0),
    d.Bernoulli(0.3),
    d.Geometric(0.3),
    d.Poisson(3.0),
    d.Poisson(200.0),
    d.Binomial(10, torch.tensor(0.3)),
    d.Binomial(500, torch.tensor(0.2)),
    d.NegativeBinomial(5.0, torch.tensor(0.3)),
    d.Dirichlet(torch.tensor([0.5, 2.0, 1.0])),
    d.OneHotCategorical(torch.tensor([0.2, 0.0, 0.8])),
    d.Multinomial(6, torch.tensor([0.2, 0.3, 0.5])),
    d.MultivariateNormal(torch.ones(3), torch.tensor(cases.MATRIX)),
    d.LowRankMultivariateNormal(
        torch.ones(3), torch.tensor(cases.FACTOR), torch.ones(3)
    ),
    d.MixtureSameFamily(
        d.Categorical(torch.tensor([0.2, 0.8])),
        d.Normal(torch.tensor([-2.0, 1.0]), torch.tensor([0.5, 1.0])),
    ),
]


@pytest.mark.parametrize("k", range(len(DRAWN)))
def test_what_is_drawn_has_the_mean_and_variance(k):
    torch.manual_seed(k)
    drawn = DRAWN[k].sample((MANY,))
    assert drawn.shape == (MANY, *DRAWN[k].event_shape)
    mean, std = np.asarray(DRAWN[k].mean), np.sqrt(np.asarray(DRAWN[k].variance))
    off = np.abs(np.asarray(drawn.mean(0)) - mean)
    assert (off <= 4 * std / math.sqrt(MANY)).all(), off / std
    np.testing.assert_allclose(np.asarray(drawn.std(0)), std, rtol=0.12)
    assert torch.isfinite(DRAWN[k].log_prob(drawn)).all()


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 26])
def test_what_is_drawn_has_the_cdf(k):
    torch.manual_seed(k)
    levels = np.sort(np.asarray(DRAWN[k].cdf(DRAWN[k].sample((MANY,)))))
    assert np.abs(levels - (np.arange(MANY) + 0.5) / MANY).max() < 1.8 / MANY**0.5


def test_categories_come_as_often_as_they_should():
    torch.manual_seed(3)
    probs = torch.tensor([[0.0, 0.5, 0.5, 0.0], [0.25, 0.0, 0.0, 0.75]])
    drawn = d.Categorical(probs).sample((MANY,))
    assert drawn.shape == (MANY, 2) and drawn.dtype == torch.int64
    often = torch.nn.functional.one_hot(drawn, 4).double().mean(0)
    np.testing.assert_allclose(often, probs, atol=0.02)
    assert (often[probs == 0] == 0).all()


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0, 60.0, 400.0])
def test_the_gradient_of_a_gamma_number_is_that_of_its_quantile(alpha):
    torch.manual_seed(1)
    a = torch.full((200,), alpha, dtype=torch.float64, requires_grad=True)
    x = d.Gamma(a, 1.0).rsample()
    x.sum().backward()
    x, step = x.detach(), 1e-5 * alpha
    up, down = (torch.igamma(a.detach() + s, x) for s in (step, -step))
    density = torch.exp(d.Gamma(a.detach(), 1.0).log_prob(x))
    wanted = -(up - down) / (2 * step) / density
    good = density * x > 1e-3
    np.testing.assert_allclose(a.grad[good], wanted[good], rtol=2e-3)


def test_what_is_drawn_has_gradients_where_pytorchs_has():
    torch.manual_seed(2)
    scale = torch.tensor([0.5, 2.0], requires_grad=True)
    for made in (
        d.Normal(0.0, scale),
        d.Beta(scale, 2.0),
        d.Dirichlet(scale),
        d.StudentT(scale + 3),
        d.RelaxedBernoulli(0.5, probs=scale / 3),
        d.RelaxedOneHotCategorical(0.5, logits=scale),
        d.LogNormal(0.0, scale),
        d.Independent(d.Laplace(0.0, scale), 1),
        d.OneHotCategoricalStraightThrough(logits=scale),
    ):
        assert made.has_rsample and not made.sample().requires_grad
        scale.grad = None
        (made.rsample((7,)) ** 2).sum().backward()
        assert torch.isfinite(scale.grad).all() and scale.grad.abs().sum() > 0, made


# --- errors, and shapes ---------------------------------------------------------------


def test_bad_parameters_and_values_are_refused():
    with pytest.raises(ValueError, match="scale .* GreaterThan"):
        d.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
    d.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]), validate_args=False)
    with pytest.raises(ValueError, match="within the support"):
        d.Bernoulli(0.5).log_prob(torch.tensor(0.5))
    with pytest.raises(ValueError, match="not broadcastable"):
        d.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2))
    with pytest.raises(ValueError, match="not both"):
        d.Categorical(torch.ones(2), torch.ones(2))
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims"):
        d.Independent(d.Normal(0.0, 1.0), 1)
    with pytest.raises(NotImplementedError, match="No KL"):
        kl_divergence(d.Cauchy(0.0, 1.0), d.Normal(0.0, 1.0))
    with pytest.raises(NotImplementedError):
        d.Cauchy(0.0, 1.0).expand((2,)).enumerate_support()


def test_a_distribution_of_a_user_works():
    class Half(d.Distribution):
        arg_constraints = {"high": constraints.positive}

        def __init__(self, high):
            (self.high,) = d.utils.broadcast_all(high)
            super().__init__(self.high.shape)

        def rsample(self, sample_shape=()):
            return self.high * torch.rand(self._extended_shape(sample_shape))

    @d.register_kl(Half, Half)
    def divergence(p, q):
        return torch.log(q.high / p.high)

    made = Half(torch.tensor([1.0, 2.0]))
    assert made.sample((3,)).shape == (3, 2) and "Half(high: " in repr(made)
    apart = kl_divergence(made, Half(2.0))
    np.testing.assert_allclose(apart, [math.log(2), 0.0], 1e-6)
    with pytest.raises(ValueError, match="high"):
        Half(-1.0)


def test_transforms_of_constraints_reach_them():
    x = torch.linspace(-3, 3, 7, dtype=torch.float64)
    for constraint in (
        constraints.real,
        constraints.positive,
        constraints.interval(-2.0, 5.0),
        constraints.less_than(1.0),
        constraints.simplex,
        constraints.independent(constraints.positive, 1),
    ):
        transform = d.biject_to(constraint)
        y = transform(x)
        assert constraint.check(y).all(), constraint
        np.testing.assert_allclose(transform.inv(y), x, atol=1e-6)
        assert d.transform_to(constraint)(x).shape[:-1] == y.shape[:-1]
    low = d.biject_to(constraints.lower_cholesky)(torch.randn(3, 3))
    assert constraints.lower_cholesky.check(low)
    kept = transforms.TanhTransform(cache_size=1)
    y = kept(x)
    assert kept.inv(y) is x


# --- DTensors -------------------------------------------------------------------------


def test_parameters_may_be_cut(ranks):
    loc = torch.linspace(-1, 1, 15).reshape(5, 3)

    def made(loc):
        scale = torch.exp(loc)
        yield d.Normal(loc, scale), d.Normal(0.0, scale), loc * 2
        yield d.Gamma(scale, 2.0), d.Gamma(1.0, scale), scale
        yield d.Bernoulli(logits=loc), d.Bernoulli(torch.sigmoid(loc)), scale * 0
        yield d.Categorical(logits=loc), d.Categorical(scale), loc[:, 0] * 0 + 2
        yield d.Dirichlet(scale), d.Dirichlet(scale * 2), torch.softmax(loc, -1)
        yield d.Poisson(scale), d.Poisson(scale + 1), loc * 0 + 3
        yield d.Binomial(4, logits=loc), d.Binomial(4, logits=-loc), loc * 0 + 3
        one = d.Independent(d.LogNormal(loc, scale), 1)
        yield one, d.Independent(d.LogNormal(0.0, scale), 1), scale

    def told(p, q, value):
        torch.manual_seed(7)
        drawn = p.sample((2,))
        return [drawn, p.log_prob(value), p.mean, kl_divergence(p, q)]

    wanted = [[np.asarray(x) for x in told(*row)] for row in made(loc)]

    def body():
        for placement in (Shard(0), Shard(1)):
            whole = distribute_tensor(loc, line(), [placement])
            for row, want in zip(made(whole), wanted, strict=True):
                for got, each in zip(told(*row), want, strict=True):
                    assert isinstance(got, DTensor), row
                    full = np.asarray(got.full_tensor())
                    np.testing.assert_allclose(full, each, 1e-5, 1e-5)

    ranks(body)


# --- beside PyTorch -------------------------------------------------------------------


def near(ours, theirs):
    if isinstance(theirs, str | type(None)) or isinstance(ours, str | type(None)):
        return ours == theirs
    return np.shape(ours) == np.shape(theirs) and np.allclose(
        np.array(ours, float), np.array(theirs, float), 1e-6, 1e-9, equal_nan=True
    )


@pytest.mark.validate
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_formulas_are_those_of_pytorch(torch_python, tell):
    command = [torch_python, cases.__file__, "torch"]
    done = subprocess.run(command, check=True, capture_output=True, timeout=300)
    theirs, count, wrong = json.loads(done.stdout), 0, []
    for title, found in cases.answers(torch):
        for name in found.keys() & theirs[title].keys():
            count += 1
            ours, want = found[name], theirs[title][name]
            if not near(ours, want):
                wrong.append((title, name, ours, want))
    tell(f"{count - len(wrong)} of {count} answers of distributions are PyTorch's")
    assert not wrong and count > 650
