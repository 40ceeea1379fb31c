"""``torch.distributions.beta``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta numbers, between 0 and 1."""

    arg_constraints: ClassVar[Any] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool | None = None,
    ) -> None:
        both = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = both
        super().__init__(both[0].shape, (), validate_args)

    @property
    def _total(self) -> Any:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Any:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        inside = (a - 1) / (a + b - 2)
        found = torch.where((a < 1) & (b < 1), 1.0, inside)
        edge = torch.where(a < 1, torch.zeros_like(a), torch.ones_like(a))
        return torch.where((a < 1) ^ (b < 1), edge, found)

    @property
    def variance(self) -> Any:
        total = self._total
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = "concentration1 concentration0"
        return self._expanded(batch_shape, names, _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        one = _draws.gamma(self.concentration1, shape)
        return one / (one + _draws.gamma(self.concentration0, shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return (
            torch.xlogy(a - 1.0, value)
            + torch.xlogy(b - 1.0, 1.0 - value)
            + torch.lgamma(a + b)
            - torch.lgamma(a)
            - torch.lgamma(b)
        )

    def entropy(self) -> Any:
        a, b, total = self.concentration1, self.concentration0, self._total
        return (
            torch.lgamma(a)
            + torch.lgamma(b)
            - torch.lgamma(total)
            - (2.0 - total) * torch.digamma(total)
            - (a - 1.0) * torch.digamma(a)
            - (b - 1.0) * torch.digamma(b)
        )
