"""Distributions over grids of parameters, in PyTorch and here: prints what they give.

python torch_distributions.py [module], where the module is torch or dtensor.torch.
"""

import importlib
import json
import sys

LOCS = [-1.5, 0.0, 0.3, 2.0]
SCALES = [0.1, 0.7, 1.0, 3.5]
RATES = [0.2, 0.9, 4.0, 15.0]
PROBS = [0.05, 0.4, 0.5, 0.93]
LOGITS = [-3.0, -0.2, 0.0, 2.5]
REALS = [-2.0, -0.4, 0.1, 3.0]
POSITIVE = [0.05, 0.6, 1.0, 7.0]
COUNTS = [0.0, 1.0, 2.0, 5.0]
MATRIX = [[2.0, 0.5, 0.1], [0.5, 1.5, -0.3], [0.1, -0.3, 1.0]]
TRIL = [[1.2, 0.0, 0.0], [0.5, 0.9, 0.0], [0.1, -0.3, 1.4]]
TABLE = [[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]
VECTORS = [[0.1, -0.4, 2.0], [1.0, 0.5, -1.0]]
ONES = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
FACTOR = [[0.5], [1.0], [-0.2]]
STICKS = [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]]
FACTORS = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, 0.64, 0.6]]
SQUARE = [[1.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 1.5]]

# name: class, parameters by name, values, parameters of another one.
ROWS = {
    "Normal": ("Normal", {"loc": LOCS, "scale": SCALES}, REALS),
    "Laplace": ("Laplace", {"loc": LOCS, "scale": SCALES}, REALS),
    "Cauchy": ("Cauchy", {"loc": LOCS, "scale": SCALES}, REALS),
    "Gumbel": ("Gumbel", {"loc": LOCS, "scale": SCALES}, REALS),
    "LogNormal": ("LogNormal", {"loc": LOCS, "scale": SCALES}, POSITIVE),
    "HalfNormal": ("HalfNormal", {"scale": SCALES}, POSITIVE),
    "HalfCauchy": ("HalfCauchy", {"scale": SCALES}, POSITIVE),
    "Uniform": ("Uniform", {"low": LOCS, "high": [3.5, 4.0, 5.0, 9.0]}, [3.0] * 4),
    "Exponential": ("Exponential", {"rate": RATES}, POSITIVE),
    "Gamma": ("Gamma", {"concentration": SCALES, "rate": RATES}, POSITIVE),
    "Chi2": ("Chi2", {"df": RATES}, POSITIVE),
    "Beta": ("Beta", {"concentration1": SCALES, "concentration0": RATES}, PROBS),
    "StudentT": ("StudentT", {"df": RATES, "loc": LOCS, "scale": SCALES}, REALS),
    "Dirichlet": ("Dirichlet", {"concentration": [[0.3, 2.0, 1.0]] * 2}, TABLE),
    "Pareto": ("Pareto", {"scale": [0.01] * 4, "alpha": RATES}, POSITIVE),
    "Weibull": ("Weibull", {"scale": SCALES, "concentration": RATES}, POSITIVE),
    "Bernoulli": ("Bernoulli", {"probs": PROBS}, [0.0, 1.0, 1.0, 0.0]),
    "Bernoulli logits": ("Bernoulli", {"logits": LOGITS}, [0.0, 1.0, 1.0, 0.0]),
    "Geometric": ("Geometric", {"probs": PROBS}, COUNTS),
    "Geometric logits": ("Geometric", {"logits": LOGITS}, COUNTS),
    "Poisson": ("Poisson", {"rate": RATES}, COUNTS),
    "Binomial": ("Binomial", {"total_count": [6] * 4, "probs": PROBS}, COUNTS),
    "Binomial logits": (
        "Binomial",
        {"total_count": [6] * 4, "logits": LOGITS},
        COUNTS,
    ),
    "NegativeBinomial": (
        "NegativeBinomial",
        {"total_count": RATES, "probs": PROBS},
        COUNTS,
    ),
    "Categorical": ("Categorical", {"probs": TABLE}, [2.0, 0.0]),
    "Categorical logits": ("Categorical", {"logits": VECTORS}, [2.0, 0.0]),
    "OneHotCategorical": ("OneHotCategorical", {"probs": TABLE}, ONES),
    "Multinomial": (
        "Multinomial",
        {"total_count": 4, "logits": VECTORS},
        [[1.0, 0.0, 3.0], [2.0, 1.0, 1.0]],
    ),
    "MultivariateNormal": (
        "MultivariateNormal",
        {"loc": VECTORS, "covariance_matrix": MATRIX},
        [VECTORS[::-1]] * 2,
    ),
    "MultivariateNormal precision": (
        "MultivariateNormal",
        {"loc": VECTORS[0], "precision_matrix": [MATRIX] * 2},
        VECTORS,
    ),
    "MultivariateNormal tril": (
        "MultivariateNormal",
        {"loc": VECTORS, "scale_tril": TRIL},
        VECTORS[::-1],
    ),
    "LowRankMultivariateNormal": (
        "LowRankMultivariateNormal",
        {"loc": VECTORS, "cov_factor": FACTOR, "cov_diag": [0.3, 1.0, 2.0]},
        VECTORS[::-1],
    ),
    "RelaxedBernoulli": (
        "RelaxedBernoulli",
        {"temperature": 0.7, "logits": LOGITS},
        PROBS,
    ),
    "RelaxedOneHotCategorical": (
        "RelaxedOneHotCategorical",
        {"temperature": 0.7, "probs": TABLE},
        TABLE[::-1],
    ),
    "VonMises": ("VonMises", {"loc": LOCS, "concentration": RATES}, REALS),
    "Kumaraswamy": (
        "Kumaraswamy",
        {"concentration1": SCALES, "concentration0": RATES},
        PROBS,
    ),
    "FisherSnedecor": ("FisherSnedecor", {"df1": SCALES, "df2": RATES}, POSITIVE),
    "InverseGamma": (
        "InverseGamma",
        {"concentration": SCALES, "rate": RATES},
        POSITIVE,
    ),
    "ContinuousBernoulli": ("ContinuousBernoulli", {"probs": PROBS}, PROBS[::-1]),
    "ContinuousBernoulli logits": ("ContinuousBernoulli", {"logits": LOGITS}, PROBS),
    "LogisticNormal": ("LogisticNormal", {"loc": VECTORS, "scale": TABLE}, STICKS),
    "LKJCholesky": ("LKJCholesky", {"dim": 3, "concentration": RATES}, FACTORS),
    "Wishart": ("Wishart", {"df": 4.5, "covariance_matrix": MATRIX}, SQUARE),
    "Wishart tril": ("Wishart", {"df": 3.5, "scale_tril": TRIL}, SQUARE),
    "Wishart precision": ("Wishart", {"df": 6.0, "precision_matrix": MATRIX}, SQUARE),
}
ASKED = "mean mode variance stddev batch_shape event_shape".split()
CALLED = "log_prob cdf entropy icdf grad kl".split()


def made(torch, name, params, scale=1.0):
    def tensor(x):
        if isinstance(x, int | float):
            return x if isinstance(x, int) else torch.tensor(x, dtype=torch.float64)
        return torch.tensor(x, dtype=torch.float64).requires_grad_()

    return getattr(torch.distributions, name)(
        **{k: tensor(x) for k, x in params.items()}
    )


def mixtures(torch):
    """Distributions that are made of others, and values."""
    d, t = torch.distributions, torch.distributions.transforms

    def f(x):
        return torch.tensor(x, dtype=torch.float64)

    normal = d.Normal(f(LOCS), f(SCALES))
    weights = d.Categorical(probs=f(PROBS))
    vectors = d.Independent(d.Normal(f(VECTORS), f(TABLE)), 1)
    affines = t.AffineTransform(f(LOCS[1:]), f(SCALES[1:]))
    affine = t.AffineTransform(f(LOCS), f(SCALES))
    yield "mixture", d.MixtureSameFamily(weights, normal), f(0.3)
    two = d.Categorical(logits=f([0.3, -0.3]))
    yield "mixture of vectors", d.MixtureSameFamily(two, vectors), f(VECTORS[0])
    yield "independent", vectors, f(VECTORS[1])
    for name, transforms, value in [
        ("exp", [t.ExpTransform()], 0.4),
        ("sigmoid", [t.SigmoidTransform()], 0.4),
        ("tanh", [t.TanhTransform()], 0.4),
        ("softplus", [t.SoftplusTransform()], 0.4),
        ("affine", [affine], 0.4),
        ("affine, tanh", [affine, t.TanhTransform()], -0.4),
        ("composed", t.ComposeTransform([affine, t.ExpTransform()]), 1.4),
        ("turned", [t.AffineTransform(1.0, -2.0), t.SigmoidTransform()], 0.4),
        ("inverse", [t.SigmoidTransform(), t.ExpTransform().inv], -0.4),
        ("power", [t.ExpTransform(), t.PowerTransform(f(2.0))], 0.4),
        ("wider", [t.AffineTransform(f([[0.0], [1.0]]), f(1.0))], 0.4),
        ("reshaped", [t.ReshapeTransform((4,), (2, 2))], [[0.1, 0.2], [0.3, 0.4]]),
        ("cat", [t.CatTransform([t.ExpTransform(), affines], 0, [1, 3])], PROBS),
        (
            "stack",
            [t.StackTransform([t.ExpTransform(), *[t.SigmoidTransform()] * 3])],
            PROBS,
        ),
        ("sticks", [t.StickBreakingTransform()], [0.1, 0.2, 0.2, 0.2, 0.3]),
    ]:
        yield name, d.TransformedDistribution(normal, transforms), f(value)
    shift = t.AffineTransform(f(VECTORS), f(SCALES[:3]), event_dim=1)
    both = [shift, t.TanhTransform()]
    yield "of vectors", d.TransformedDistribution(vectors, both), f([0.1, -0.4, 0.8])


def others(torch):
    """Pairs of distributions of different types."""
    d = torch.distributions

    def f(x):
        return torch.tensor(x, dtype=torch.float64)

    normal, laplace = (k(f(LOCS), f(SCALES)) for k in (d.Normal, d.Laplace))
    full = d.MultivariateNormal(f(VECTORS), f(MATRIX))
    low = d.LowRankMultivariateNormal(f(VECTORS), f(FACTOR), f(SCALES[:3]))
    yield normal, d.Laplace(f(REALS), f(RATES))
    yield laplace, d.Normal(f(REALS), f(RATES))
    yield d.Uniform(f(LOCS), f(LOCS) + 2), normal
    yield d.Exponential(f(RATES)), d.Gamma(f(SCALES), f(SCALES))
    yield d.Gamma(f(SCALES), f(SCALES)), d.Exponential(f(RATES))
    yield full, low
    yield low, full
    yield d.Independent(normal, 1), d.Independent(d.Normal(0.0, 2.0).expand([4]), 1)


def plain(x):
    return x.detach().tolist() if hasattr(x, "detach") else list(x)


def tried(act):
    try:
        return plain(act())
    except NotImplementedError:
        return "NotImplementedError"


def asked(torch, d, value, other):
    """All that a distribution gives."""
    found = {name: tried(lambda name=name: getattr(d, name)) for name in ASKED}
    found["log_prob"] = tried(lambda: d.log_prob(value))
    found["cdf"] = tried(lambda: d.cdf(value))
    found["icdf"] = tried(lambda: d.icdf(torch.full_like(value.detach(), 0.3)))
    found["entropy"] = tried(lambda: d.entropy())
    wide = d.expand((2, *d.batch_shape))
    found["expanded"] = tried(lambda: wide.log_prob(value))
    found["support"] = tried(lambda: d.support.check(value))
    if other is not None:
        found["kl"] = tried(lambda: torch.distributions.kl_divergence(d, other))
    return found


def answers(torch):
    """Yield the name of each case, and what it gives."""
    for title, (name, params, values) in ROWS.items():
        value = torch.tensor(values, dtype=torch.float64)
        d = made(torch, name, params)
        turned = {
            k: x[::-1] if isinstance(x, list) and k not in KEPT else x
            for k, x in params.items()
        }
        found = asked(torch, d, value, made(torch, name, turned))
        leaf = d.__dict__.get(next(k for k in params if k not in ("temperature",)))
        if hasattr(leaf, "requires_grad") and leaf.requires_grad:
            (slope,) = torch.autograd.grad(d.log_prob(value).sum(), [leaf])
            found["grad"] = plain(slope)
        yield title, found
    for title, d, value in mixtures(torch):
        yield title, asked(torch, d, value, None)
    for p, q in others(torch):
        found = torch.distributions.kl_divergence(p, q)
        yield f"{type(p).__name__}, {type(q).__name__}", {"kl": plain(found)}


KEPT = "covariance_matrix precision_matrix scale_tril cov_factor low high".split()

if __name__ == "__main__":
    module = sys.argv[1] if len(sys.argv) > 1 else "torch"
    torch = importlib.import_module(module)
    print(json.dumps(dict(answers(torch))))
