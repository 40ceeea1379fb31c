"""Distributions of two outcomes, by a probability or its log odds."""

from typing import Any

from dtensor.torch.distributions._values import (
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Binary"]


class Binary(ExponentialFamily):
    """The base of distributions that are given `probs` or `logits`, and have both."""

    def _given(self, probs: Any, logits: Any, *more: Any) -> tuple[Any, ...]:
        if (probs is None) == (logits is None):
            raise ValueError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        *rest, found = broadcast_all(*more, logits if probs is None else probs)
        if probs is None:
            self.logits = found
        else:
            self.probs = found
        return tuple(rest)

    @lazy_property
    def logits(self) -> Any:
        """The log odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.shape
