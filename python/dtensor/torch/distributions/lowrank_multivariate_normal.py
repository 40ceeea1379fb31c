"""``torch.distributions.lowrank_multivariate_normal``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import lazy_property, standard_like, torch
from dtensor.torch.distributions.distribution import Distribution
from dtensor.torch.distributions.multivariate_normal import (
    log_diagonal,
    solve_lower,
    times,
)

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal vectors whose covariance is ``W W^T + diag(d)``, for a narrow W."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        cov_factor: Any,
        cov_diag: Any,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.ndim < 2 or cov_factor.shape[-2:-1] != event:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event[0]} x m"
            )
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = torch.broadcast_shapes(
            loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
        )
        self.loc = loc.expand(*batch, -1)
        self.cov_factor = cov_factor.expand(*batch, -1, -1)
        self.cov_diag = cov_diag.expand(*batch, -1)
        super().__init__(batch, event, validate_args)

    @lazy_property
    def _inner(self) -> Any:
        """The Cholesky factor of I + W^T diag(d)^-1 W."""
        scaled = self.cov_factor / self.cov_diag.unsqueeze(-1)
        product = self.cov_factor.mT @ scaled
        one = torch.diag_embed(torch.ones_like(product.detach()[..., 0]))
        return torch.linalg.cholesky(product + one)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc cov_factor cov_diag", _instance)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Any:
        """The variance of each element."""
        return (self.cov_factor**2).sum(-1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + torch.diag_embed(self.cov_diag)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return torch.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return torch.linalg.inv(self.covariance_matrix)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        narrow = standard_like(self.cov_factor[..., 0, :], (*shape[:-1], self._rank))
        drawn = standard_like(self.loc, shape)
        along = times(self.cov_factor, narrow)
        return self.loc + along + torch.sqrt(self.cov_diag) * drawn

    @property
    def _rank(self) -> int:
        rank: int = self.cov_factor.shape[-1]
        return rank

    def _log_determinant(self) -> Any:
        return 2 * log_diagonal(self._inner) + torch.log(self.cov_diag).sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = value - self.loc
        scaled = away / self.cov_diag
        inner = solve_lower(self._inner, times(self.cov_factor.mT, scaled))
        squared = (away * scaled).sum(-1) - (inner**2).sum(-1)
        total = self._event_shape[0] * math.log(2 * math.pi) + squared
        return -0.5 * (total + self._log_determinant())

    def entropy(self) -> Any:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return 0.5 * (constant + self._log_determinant())
