"""``torch.distributions.continuous_bernoulli``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import (
    broadcast_all,
    clamp_probs,
    torch,
    uniform_like,
)

__all__ = ["ContinuousBernoulli"]

F: Any = torch.nn.functional


class ContinuousBernoulli(Binary):
    """Numbers from 0 to 1 of a density ``c * probs**x * (1 - probs)**(1 - x)``.

    Between the two `lims` Taylor's series is taken, which does not divide by 0.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._given(probs, logits)
        if probs is not None:
            if validate_args and not bool(
                (self.probs >= 0).all() & (self.probs <= 1).all()
            ):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, (), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(batch_shape, "probs logits", _instance)
        new._lims = self._lims
        return new

    def _cut(self) -> tuple[Any, Any, Any]:
        """Return where formulas hold, probabilities that they are for, and how far the
        others are from a half."""
        outside = (self.probs <= self._lims[0]) | (self.probs > self._lims[1])
        cut = torch.where(outside, self.probs, self._lims[0])
        return outside, cut, self.probs - 0.5

    def _log_norm(self) -> Any:
        outside, cut, away = self._cut()
        below, above = (
            torch.where(cut <= 0.5, cut, 0.0),
            torch.where(cut >= 0.5, cut, 1.0),
        )
        log = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut)))
        log = log - torch.where(
            cut <= 0.5, torch.log1p(-2 * below), torch.log(2 * above - 1)
        )
        square = away**2
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square
        return torch.where(outside, log, series)

    @property
    def mean(self) -> Any:
        outside, cut, away = self._cut()
        found = cut / (2 * cut - 1) + 1 / (torch.log1p(-cut) - torch.log(cut))
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * away**2) * away
        return torch.where(outside, found, series)

    @property
    def variance(self) -> Any:
        outside, cut, away = self._cut()
        found = cut * (cut - 1) / (1 - 2 * cut) ** 2
        found = found + 1 / (torch.log1p(-cut) - torch.log(cut)) ** 2
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * away**2) * away**2
        return torch.where(outside, found, series)

    @property
    def stddev(self) -> Any:
        return torch.sqrt(self.variance)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return self.icdf(uniform_like(self._param, shape, inside=False))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        entropy = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_norm() - entropy

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        outside, cut, _ = self._cut()
        found = cut**value * (1 - cut) ** (1 - value) + cut - 1
        found = torch.where(outside, found / (2 * cut - 1), value)
        return torch.where(value <= 0, 0.0, torch.where(value >= 1, 1.0, found))

    def icdf(self, value: Any) -> Any:
        outside, cut, _ = self._cut()
        low, high = torch.log1p(-cut), torch.log(cut)
        found = (torch.log1p(-cut + value * (2 * cut - 1)) - low) / (high - low)
        return torch.where(outside, found, value)

    def entropy(self) -> Any:
        low, high = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (low - high) - self._log_norm() - low
