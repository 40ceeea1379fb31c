"""``torch.distributions.cauchy``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch, uniform_like
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy numbers around `loc`: they have no mean."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return torch.full_like(self.loc.detach(), math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return torch.full_like(self.loc.detach(), math.inf)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc scale", _instance)

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
