"""``torch.distributions.gumbel``."""

import math
from typing import Any

from dtensor.torch.distributions._located import Located
from dtensor.torch.distributions._values import torch, uniform_like

__all__ = ["Gumbel"]

EULER = 0.57721566490153286060


class Gumbel(Located):
    """Gumbel numbers: the largest of many."""

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def stddev(self) -> Any:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = uniform_like(self.loc, self._extended_shape(sample_shape))
        eps = torch.finfo(drawn.dtype).eps
        return self.icdf(drawn.clamp(max=1 - eps))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - torch.exp(y)) - torch.log(self.scale)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.exp(-torch.exp((self.loc - value) / self.scale))

    def icdf(self, value: Any) -> Any:
        return self.loc - self.scale * torch.log(-torch.log(value))

    def entropy(self) -> Any:
        return torch.log(self.scale) + (1 + EULER)
