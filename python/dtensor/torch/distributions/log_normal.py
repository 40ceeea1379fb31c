"""``torch.distributions.log_normal``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import torch
from dtensor.torch.distributions.normal import Normal
from dtensor.torch.distributions.transformed_distribution import (
    TransformedDistribution,
)
from dtensor.torch.distributions.transforms import ExpTransform

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)

    @property
    def mean(self) -> Any:
        return torch.exp(self.loc + self.scale.pow(2) / 2)

    @property
    def mode(self) -> Any:
        return torch.exp(self.loc - self.scale.square())

    @property
    def variance(self) -> Any:
        squared = self.scale.pow(2)
        return torch.expm1(squared) * torch.exp(2 * self.loc + squared)

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc
