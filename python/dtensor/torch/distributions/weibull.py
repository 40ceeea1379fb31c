"""``torch.distributions.weibull``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.exponential import Exponential
from dtensor.torch.distributions.gumbel import EULER
from dtensor.torch.distributions.transformed_distribution import (
    TransformedDistribution,
)
from dtensor.torch.distributions.transforms import AffineTransform, PowerTransform

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull numbers: powers of exponential ones."""

    arg_constraints: ClassVar[Any] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive

    def __init__(
        self, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        one = torch.ones_like(self.scale.detach())
        base = Exponential(one, validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration.reciprocal()),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        inverse = self.concentration.reciprocal()
        return self.scale * torch.exp(torch.lgamma(1 + inverse))

    @property
    def mode(self) -> Any:
        inverse = self.concentration.reciprocal()
        return self.scale * (1 - inverse) ** inverse

    @property
    def variance(self) -> Any:
        inverse = self.concentration.reciprocal()
        twice = torch.exp(torch.lgamma(1 + 2 * inverse))
        return self.scale.pow(2) * (twice - torch.exp(2 * torch.lgamma(1 + inverse)))

    def entropy(self) -> Any:
        inverse = self.concentration.reciprocal()
        return EULER * (1 - inverse) + torch.log(self.scale * inverse) + 1
