"""``torch.distributions.gamma``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Gamma numbers, of a shape `concentration` and a `rate`."""

    arg_constraints: ClassVar[Any] = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True

    def __init__(
        self, concentration: Any, rate: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate**2

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "concentration rate", _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = _draws.gamma(self.concentration, shape) / self.rate
        return torch.maximum(
            drawn, torch.full_like(drawn.detach(), torch.finfo(drawn.dtype).tiny)
        )

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return (
            torch.xlogy(self.concentration, self.rate)
            + torch.xlogy(self.concentration - 1, value)
            - self.rate * value
            - torch.lgamma(self.concentration)
        )

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        alpha = self.concentration
        return (
            alpha
            - torch.log(self.rate)
            + torch.lgamma(alpha)
            + (1.0 - alpha) * torch.digamma(alpha)
        )
