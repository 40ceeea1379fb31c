"""``torch.distributions.fishersnedecor``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """Ratios of two chi-square numbers, each divided by its degrees of freedom."""

    arg_constraints: ClassVar[Any] = {
        "df1": constraints.positive,
        "df2": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        df = torch.where(self.df2 <= 2, float("nan"), self.df2)
        return df / (df - 2)

    @property
    def mode(self) -> Any:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 <= 2, float("nan"), found)

    @property
    def variance(self) -> Any:
        df = torch.where(self.df2 <= 4, float("nan"), self.df2)
        below = self.df1 * (df - 2) ** 2 * (df - 4)
        return 2 * df**2 * (self.df1 + df - 2) / below

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "df1 df2", _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        one, two = (_draws.gamma(df / 2, shape) / df for df in (self.df1, self.df2))
        tiny = torch.finfo(one.dtype).tiny
        return (one / two.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        a, b, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        scale = torch.lgamma(a + b) - torch.lgamma(a) - torch.lgamma(b)
        power = a * torch.log(ratio) + (a - 1) * torch.log(value)
        return scale + power - (a + b) * torch.log1p(ratio * value)
