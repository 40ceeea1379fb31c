"""``torch.distributions.cauchy``."""

import math
from typing import Any

from dtensor.torch.distributions._located import Located
from dtensor.torch.distributions._values import torch, uniform_like

__all__ = ["Cauchy"]


class Cauchy(Located):
    """Cauchy numbers around `loc`: they have no mean."""

    @property
    def mean(self) -> Any:
        return torch.full_like(self.loc.detach(), math.nan)

    @property
    def variance(self) -> Any:
        return torch.full_like(self.loc.detach(), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = uniform_like(self.loc, self._extended_shape(sample_shape))
        return self.icdf(drawn)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - torch.log(self.scale) - torch.log1p(away)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + torch.log(self.scale)
