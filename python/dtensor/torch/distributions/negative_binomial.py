"""``torch.distributions.negative_binomial``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import torch, without_gradients

__all__ = ["NegativeBinomial"]

F: Any = torch.nn.functional


class NegativeBinomial(Binary):
    """The number of successes before `total_count` failures."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._given(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * torch.exp(self.logits)).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / torch.sigmoid(-self.logits)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "total_count probs logits", _instance)

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        rate = _draws.gamma(self.total_count, shape) * torch.exp(self.logits)
        return _draws.poisson(rate)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        powers = self.total_count * F.logsigmoid(-self.logits)
        powers = powers + value * F.logsigmoid(self.logits)
        ways = (
            torch.lgamma(self.total_count + value)
            - torch.lgamma(1.0 + value)
            - torch.lgamma(self.total_count)
        )
        return powers + torch.where(self.total_count + value == 0.0, 0.0, ways)
