"""``torch.distributions.mixture_same_family``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import torch, without_gradients
from dtensor.torch.distributions.categorical import Categorical
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of the components that are the last dim of a batch, by a `Categorical`."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                "The Mixture distribution needs to be an instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of "
                "torch.distributions.Distribution"
            )
        outer = mixture_distribution.batch_shape
        *inner, count = component_distribution.batch_shape
        for a, b in zip(reversed(outer), reversed(inner), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({outer}) is not compatible "
                    "with `component_distribution.batch_shape`"
                    f"({component_distribution.batch_shape})"
                )
        categories = mixture_distribution.param_shape[-1]
        if categories != count:
            raise ValueError(
                f"`mixture_distribution component` ({categories}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({count})"
            )
        self._num_component = count
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(inner, event, validate_args)

    has_rsample = False
    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(
            self._component_distribution.support
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        shape = (*batch_shape, self._num_component)
        new._component_distribution = self._component_distribution.expand(shape)
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch_shape, self._event_shape, False)
        new._validate_args = self._validate_args
        return new

    def _weights(self) -> Any:
        probs = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *(1,) * self._event_ndims)

    @property
    def _dim(self) -> int:
        return -1 - self._event_ndims

    @property
    def mean(self) -> Any:
        return (self._weights() * self._component_distribution.mean).sum(self._dim)

    @property
    def variance(self) -> Any:
        probs, each = self._weights(), self._component_distribution
        inner = (probs * each.variance).sum(self._dim)
        away = each.mean - self.mean.unsqueeze(self._dim)
        return inner + (probs * away**2).sum(self._dim)

    def cdf(self, x: Any) -> Any:
        found = self._component_distribution.cdf(x.unsqueeze(self._dim))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        found = self._component_distribution.log_prob(value.unsqueeze(self._dim))
        logits = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(found + logits, dim=-1)

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        index = self._mixture_distribution.sample(sample_shape)
        drawn = self._component_distribution.sample(sample_shape)
        chosen = torch.nn.functional.one_hot(index, self._num_component)
        chosen = chosen.reshape(*chosen.shape, *(1,) * self._event_ndims) > 0
        nothing = torch.zeros_like(drawn)
        return torch.where(chosen, drawn, nothing).sum(self._dim).to(drawn.dtype)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self._mixture_distribution},\n"
            f"  {self._component_distribution})"
        )
