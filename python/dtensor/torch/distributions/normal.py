"""``torch.distributions.normal``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, standard_like, torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal numbers of a mean `loc` and a standard deviation `scale`."""

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
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc scale", _instance)

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
