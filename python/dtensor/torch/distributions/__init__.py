"""``torch.distributions``: probability distributions, of tensors and DTensors.

Begin with `distribution`, which says what all have; `kl` has the divergences.
"""

from dtensor.torch.distributions import constraints, transforms, utils as utils
from dtensor.torch.distributions.bernoulli import Bernoulli
from dtensor.torch.distributions.beta import Beta
from dtensor.torch.distributions.binomial import Binomial
from dtensor.torch.distributions.categorical import Categorical
from dtensor.torch.distributions.cauchy import Cauchy
from dtensor.torch.distributions.chi2 import Chi2
from dtensor.torch.distributions.constraint_registry import biject_to, transform_to
from dtensor.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from dtensor.torch.distributions.dirichlet import Dirichlet
from dtensor.torch.distributions.distribution import Distribution
from dtensor.torch.distributions.exp_family import ExponentialFamily
from dtensor.torch.distributions.exponential import Exponential
from dtensor.torch.distributions.fishersnedecor import FisherSnedecor
from dtensor.torch.distributions.gamma import Gamma
from dtensor.torch.distributions.generalized_pareto import GeneralizedPareto
from dtensor.torch.distributions.geometric import Geometric
from dtensor.torch.distributions.gumbel import Gumbel
from dtensor.torch.distributions.half_cauchy import HalfCauchy
from dtensor.torch.distributions.half_normal import HalfNormal
from dtensor.torch.distributions.independent import Independent
from dtensor.torch.distributions.inverse_gamma import InverseGamma
from dtensor.torch.distributions.kl import kl_divergence, register_kl

# isort: split
from dtensor.torch.distributions import _kl_pairs as _kl_pairs
from dtensor.torch.distributions.kumaraswamy import Kumaraswamy
from dtensor.torch.distributions.laplace import Laplace
from dtensor.torch.distributions.lkj_cholesky import LKJCholesky
from dtensor.torch.distributions.log_normal import LogNormal
from dtensor.torch.distributions.logistic_normal import LogisticNormal
from dtensor.torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
)
from dtensor.torch.distributions.mixture_same_family import MixtureSameFamily
from dtensor.torch.distributions.multinomial import Multinomial
from dtensor.torch.distributions.multivariate_normal import MultivariateNormal
from dtensor.torch.distributions.negative_binomial import NegativeBinomial
from dtensor.torch.distributions.normal import Normal
from dtensor.torch.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from dtensor.torch.distributions.pareto import Pareto
from dtensor.torch.distributions.poisson import Poisson
from dtensor.torch.distributions.relaxed_bernoulli import (
    LogitRelaxedBernoulli,
    RelaxedBernoulli,
)
from dtensor.torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from dtensor.torch.distributions.studentT import StudentT
from dtensor.torch.distributions.transformed_distribution import TransformedDistribution
from dtensor.torch.distributions.transforms import *  # noqa: F403
from dtensor.torch.distributions.uniform import Uniform
from dtensor.torch.distributions.von_mises import VonMises
from dtensor.torch.distributions.weibull import Weibull
from dtensor.torch.distributions.wishart import Wishart

__all__ = [
    "Wishart",
    "VonMises",
    "LogisticNormal",
    "LKJCholesky",
    "Kumaraswamy",
    "InverseGamma",
    "GeneralizedPareto",
    "FisherSnedecor",
    "ContinuousBernoulli",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "LogitRelaxedBernoulli",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "biject_to",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
]
__all__ += transforms.__all__
