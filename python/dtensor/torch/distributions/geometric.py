"""``torch.distributions.geometric``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import (
    broadcast_all,
    torch,
    uniform_like,
    without_gradients,
)

__all__ = ["Geometric"]

F: Any = torch.nn.functional


class Geometric(Binary):
    """The number of failures before the first success."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._given(probs, logits)
        super().__init__(self._param.shape, (), validate_args)
        if self._validate_args and probs is not None:
            if not bool((self.probs > 0).all()):
                raise ValueError(
                    "Expected parameter probs of distribution Geometric to be "
                    f"positive but found invalid values:\n{self.probs}"
                )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.probs.detach())

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "probs logits", _instance)

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = self.probs.detach()
        drawn = torch.log(uniform_like(probs, shape))
        return (drawn / torch.log1p(-probs)).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        sure = (probs == 1) & (value == 0)
        probs = torch.where(sure, 0.0, probs)
        return value * torch.log1p(-probs) + torch.log(self.probs)

    def entropy(self) -> Any:
        return (
            F.binary_cross_entropy_with_logits(
                self.logits, self.probs, reduction="none"
            )
            / self.probs
        )
