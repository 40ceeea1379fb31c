"""``torch.distributions.studentT``."""

import math
from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, standard_like, torch
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t numbers of `df` degrees of freedom, around `loc`."""

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        df: Any,
        loc: Any = 0.0,
        scale: Any = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return torch.where(self.df <= 1, math.nan, self.loc)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        many = self.df > 2
        safe = torch.where(many, self.df, 3.0)
        found = torch.where(many, self.scale**2 * safe / (safe - 2), math.inf)
        return torch.where(self.df <= 1, math.nan, found)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "df loc scale", _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        squares = 2 * _draws.gamma(self.df / 2, shape)
        drawn = standard_like(self.df, shape) * torch.rsqrt(squares / self.df)
        return self.loc + self.scale * drawn

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        norm = (
            torch.log(self.scale)
            + 0.5 * torch.log(self.df)
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - norm

    def entropy(self) -> Any:
        half = 0.5 * self.df
        beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(half + 0.5)
        slope = torch.digamma(half + 0.5) - torch.digamma(half)
        return (
            torch.log(self.scale)
            + 0.5 * (self.df + 1) * slope
            + 0.5 * torch.log(self.df)
            + beta
        )
