"""``torch.distributions.relaxed_bernoulli``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._binary import Binary
from dtensor.torch.distributions._values import (
    broadcast_all,
    clamp_probs,
    torch,
    uniform_like,
)
from dtensor.torch.distributions.transformed_distribution import (
    TransformedDistribution,
)
from dtensor.torch.distributions.transforms import SigmoidTransform

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Binary):
    """The log odds of `RelaxedBernoulli`."""

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._given(probs, logits)
        super().__init__(self._param.shape, (), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(batch_shape, "probs logits", _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        drawn = clamp_probs(uniform_like(probs, shape))
        odds = torch.log(drawn) - torch.log1p(-drawn)
        return (odds + torch.log(probs) - torch.log1p(-probs)) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        away = logits - value * self.temperature
        logs = torch.log(torch.as_tensor(self.temperature))
        return logs + away - 2 * torch.log1p(torch.exp(away))


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1 that have gradients; near 0 and 1 at low temperature."""

    arg_constraints: ClassVar[Any] = LogitRelaxedBernoulli.arg_constraints
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)
