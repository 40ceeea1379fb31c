"""``torch.distributions.poisson``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Numbers of events of a `rate`."""

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "rate", _instance)

    def sample(self, sample_shape: Any = ()) -> Any:
        return _draws.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return torch.xlogy(value, rate) - rate - torch.lgamma(value + 1)
