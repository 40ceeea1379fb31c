"""``torch.distributions.binomial``."""

from typing import Any, ClassVar

from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import torch

__all__ = ["Binomial"]


class Binomial(Binary):
    """The number of successes among `total_count` trials."""

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._given(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, (), validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        found = ((self.total_count + 1) * self.probs).floor()
        return torch.minimum(found, self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "total_count probs logits", _instance)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        count, probs = self.total_count.expand(shape), self.probs.expand(shape)
        return _draws.binomial(count, probs)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        ways = (
            torch.lgamma(self.total_count + 1)
            - torch.lgamma(value + 1)
            - torch.lgamma(self.total_count - value + 1)
        )
        logits = self.logits
        none = self.total_count * (
            logits.clamp(min=0) + torch.log1p(torch.exp(-torch.abs(logits)))
        )
        return value * logits - none + ways

    def _most(self) -> int:
        most = int(self.total_count.max())
        if not bool((self.total_count == most).all()):
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `entropy` and "
                "`enumerate_support`."
            )
        return most

    def entropy(self) -> Any:
        self._most()
        log_prob = self.log_prob(self.enumerate_support())
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        nothing = self._param.detach() * 0
        if not expand:
            nothing = nothing[tuple(slice(0, 1) for _ in self._batch_shape)]
        return torch.stack([nothing + float(k) for k in range(self._most() + 1)])
