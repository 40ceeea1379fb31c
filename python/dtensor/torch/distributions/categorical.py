"""``torch.distributions.categorical``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import (
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    torch,
    uniform_like,
    without_gradients,
)
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The index of one of some categories, which are the last dim of the parameter.

    `probs` need not add up to 1, nor the exponentials of `logits`.
    """

    arg_constraints: ClassVar[Any] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        if probs is not None:
            if probs.ndim < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.ndim < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.shape[-1]
        super().__init__(self._param.shape[:-1], (), validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.shape

    @property
    def mean(self) -> Any:
        return torch.full_like(self._param.detach()[..., 0], float("nan"))

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Any:
        return torch.full_like(self._param.detach()[..., 0], float("nan"))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(batch_shape, "probs logits", _instance)
        new._num_events = self._num_events
        return new

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        steps = self.probs.detach().to(torch.float64).cumsum(-1)
        steps = steps / steps[..., -1:]
        drawn = uniform_like(steps[..., 0], shape, inside=False).unsqueeze(-1)
        return (steps <= drawn).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        least = torch.finfo(self.logits.dtype).min
        logits = self.logits.clamp(min=least)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        nothing = (self._param.detach()[..., 0] * 0).long()
        if not expand:
            nothing = nothing[tuple(slice(0, 1) for _ in self._batch_shape)]
        return torch.stack([nothing + k for k in range(self._num_events)])
