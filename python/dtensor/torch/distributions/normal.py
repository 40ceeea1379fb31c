"""``torch.distributions.normal``."""

import math
from typing import Any

from dtensor.torch.distributions._located import Located
from dtensor.torch.distributions._values import standard_like, torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Normal"]


class Normal(Located, ExponentialFamily):
    """Normal numbers of a mean `loc` and a standard deviation `scale`."""

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_like(self.loc, shape) * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        squared = (value - self.loc) ** 2 / (2 * self.variance)
        return -squared - torch.log(self.scale) - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        away = (value - self.loc) / (self.scale * math.sqrt(2))
        return 0.5 * (1 + torch.erf(away))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)
