"""``torch.distributions.kumaraswamy``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.gumbel import EULER
from dtensor.torch.distributions.transformed_distribution import (
    TransformedDistribution,
)
from dtensor.torch.distributions.transforms import AffineTransform, PowerTransform
from dtensor.torch.distributions.uniform import Uniform

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1, much as beta numbers: powers of uniform ones."""

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
        zero = torch.zeros_like(both[0].detach())
        transforms = [
            PowerTransform(exponent=both[1].reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=both[0].reciprocal()),
        ]
        base = Uniform(zero, zero + 1, validate_args=validate_args)
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        for name in self.arg_constraints:
            setattr(new, name, getattr(self, name).expand(tuple(batch_shape)))
        return super().expand(batch_shape, _instance=new)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        first = 1 + n / a
        log = torch.lgamma(first) + torch.lgamma(b) - torch.lgamma(first + b)
        return b * torch.exp(log)

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1)
        log = torch.log1p(-b) / b - torch.log1p(-a * b)
        return torch.where(inside, torch.exp(log), float("nan"))

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean**2

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + EULER
        return 1 - 1 / b + (1 - 1 / a) * harmonic - torch.log(a) - torch.log(b)
