"""``torch.distributions.generalized_pareto``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all, torch, uniform_like
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers above `loc`, with a tail as heavy as the `concentration` says."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        scale: Any,
        concentration: Any,
        validate_args: bool | None = None,
    ) -> None:
        found = broadcast_all(loc, scale, concentration)
        self.loc, self.scale, self.concentration = found
        super().__init__(self.loc.shape, (), validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From `loc` on, to a limit if the concentration is negative."""
        last = self.loc - self.scale / self.concentration
        last = torch.where(self.concentration < 0, last, float("inf"))
        return constraints.interval(self.loc, last)

    def _shape(self) -> tuple[Any, Any]:
        """Return where the concentration is 0, and it with ones there."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, 1.0, self.concentration)

    @property
    def mean(self) -> Any:
        valid = self.concentration < 1
        found = self.loc + self.scale / (
            1 - torch.where(valid, self.concentration, 0.5)
        )
        return torch.where(valid, found, float("nan"))

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        valid = self.concentration < 0.5
        shape = torch.where(valid, self.concentration, 0.25)
        found = self.scale**2 / ((1 - shape) ** 2 * (1 - 2 * shape))
        return torch.where(valid, found, float("nan"))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc scale concentration", _instance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(uniform_like(self.loc, shape, inside=False))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, shape = self._shape()
        power = 1 / shape + torch.ones_like(z)
        other = torch.where(power == 0, power, power * torch.log1p(shape * z))
        return -torch.log(self.scale) - torch.where(zero, z, other)

    def log_survival_function(self, value: Any) -> Any:
        """Return the logarithm of the probability of being above a value."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        zero, shape = self._shape()
        return torch.where(zero, -z, -torch.log1p(shape * z) / shape)

    def log_cdf(self, value: Any) -> Any:
        """Return the logarithm of `cdf`."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        zero, shape = self._shape()
        log = torch.log1p(-value)
        other = self.loc + self.scale / shape * torch.expm1(-shape * log)
        return torch.where(zero, self.loc - self.scale * log, other)

    def entropy(self) -> Any:
        return torch.log(self.scale) + self.concentration + 1
