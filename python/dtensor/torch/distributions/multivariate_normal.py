"""``torch.distributions.multivariate_normal``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import lazy_property, standard_like, torch
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["MultivariateNormal"]


def solve_lower(matrix: Any, vector: Any) -> Any:
    """Return L^-1 v for lower triangular matrices and vectors, batches of both."""
    return torch.triangular_solve(vector.unsqueeze(-1), matrix, upper=False)[0].squeeze(
        -1
    )


def log_diagonal(matrix: Any) -> Any:
    """Return half the logarithm of det(L L^T), for lower triangular matrices."""
    return torch.log(matrix.diagonal(dim1=-2, dim2=-1)).sum(-1)


def times(matrix: Any, vector: Any) -> Any:
    """Return M v, for batches of both."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


class MultivariateNormal(Distribution):
    """Normal vectors, by a covariance, its inverse, or its Cholesky factor."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix,
            "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }
        given = {name: x for name, x in given.items() if x is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.ndim < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(*batch, -1, -1))
        self.loc = loc.expand(*batch, -1)
        super().__init__(batch, loc.shape[-1:], validate_args)
        if name == "scale_tril":
            self._tril = matrix
        elif name == "covariance_matrix":
            self._tril = torch.linalg.cholesky(matrix)
        else:
            # P = U^T U with U upper triangular: the factor of its inverse is U^-1
            flipped = torch.linalg.cholesky(matrix.flip((-2, -1)))
            lower = flipped.flip((-2, -1)).mT
            self._tril = torch.linalg.inv(lower).tril()

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(
            batch_shape, "loc covariance_matrix precision_matrix scale_tril", _instance
        )
        new._tril = self._tril
        return new

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        shape = (*self._batch_shape, *self._event_shape, *self._event_shape)
        return self._tril.expand(shape)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        shape = (*self._batch_shape, *self._event_shape, *self._event_shape)
        return (self._tril @ self._tril.mT).expand(shape)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        shape = (*self._batch_shape, *self._event_shape, *self._event_shape)
        return torch.cholesky_inverse(self._tril).expand(shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return (self._tril**2).sum(-1).expand(*self._batch_shape, *self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = standard_like(self.loc, self._extended_shape(sample_shape))
        return self.loc + times(self._tril, drawn)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = solve_lower(self._tril, value - self.loc)
        total = self._event_shape[0] * math.log(2 * math.pi) + (away**2).sum(-1)
        return -0.5 * total - log_diagonal(self._tril)

    def entropy(self) -> Any:
        found = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        return (found + log_diagonal(self._tril)).expand(tuple(self._batch_shape))
