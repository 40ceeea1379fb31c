"""``torch.distributions.exp_family``: the base of exponential families."""

from typing import Any

from dtensor.torch.distributions._values import torch
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution whose density is exp(t(x) . theta - F(theta) + k(x)).

    Those of this package have formulas of their own (`Poisson` has no entropy, as in
    PyTorch). One that a user makes gives theta and F, for `kl_divergence`, and the mean
    of k, for `entropy`, which follow from the gradient of F: Nielsen and Nock,
    Entropies and cross-entropies of exponential families, ICIP 2010. What is not given
    is a NotImplementedError.
    """

    def _is_not_given(self, name: str) -> NotImplementedError:
        return NotImplementedError(
            f"{type(self).__name__} gives no {name}, which entropy or kl_divergence "
            "is made of"
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        """theta, one tensor each"""
        raise self._is_not_given("_natural_params")

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """Return F(theta)."""
        raise self._is_not_given("_log_normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of k(x)"""
        raise self._is_not_given("_mean_carrier_measure")

    def entropy(self) -> Any:
        """Return the entropy in nats, by the gradient of what normalizes."""
        params = [x.detach().requires_grad_() for x in self._natural_params]
        norm = self._log_normalizer(*params)
        slopes = torch.autograd.grad(norm.sum(), params, create_graph=True)
        found = norm - self._mean_carrier_measure
        for theta, slope in zip(params, slopes, strict=True):
            found = found - (theta * slope).reshape(self._batch_shape + (-1,)).sum(-1)
        return found
