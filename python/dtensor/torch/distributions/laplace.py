"""``torch.distributions.laplace``."""

from typing import Any

from dtensor.torch.distributions._located import Located
from dtensor.torch.distributions._values import torch, uniform_like

__all__ = ["Laplace"]


class Laplace(Located):
    """Laplace numbers around `loc`: densities fall exponentially on both sides."""

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale**2

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = uniform_like(self.loc, self._extended_shape(sample_shape))
        return self.icdf(drawn)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * torch.expm1(-away.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self) -> Any:
        return 1 + torch.log(2 * self.scale)
