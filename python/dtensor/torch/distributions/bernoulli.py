"""``torch.distributions.bernoulli``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import (
    broadcast_all,
    torch,
    uniform_like,
    without_gradients,
)

__all__ = ["Bernoulli"]

F: Any = torch.nn.functional


class Bernoulli(Binary):
    """1 with a probability, else 0."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._given(probs, logits)
        super().__init__(self._param.shape, (), validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        found = (self.probs >= 0.5).to(self.probs.dtype)
        return torch.where(self.probs == 0.5, float("nan"), found)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "probs logits", _instance)

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = self.probs.detach()
        drawn = uniform_like(probs, shape, inside=False)
        return (drawn < probs).to(probs.dtype)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )

    def enumerate_support(self, expand: bool = True) -> Any:
        return _two(self._param, self._batch_shape, expand)


def _two(param: Any, batch_shape: Any, expand: bool) -> Any:
    values = torch.stack([param.detach() * 0, param.detach() * 0 + 1])
    ones = (slice(None), *(slice(0, 1) for _ in batch_shape))
    return values if expand else values[ones]
