"""``torch.distributions.wishart``."""

import math
from typing import Any

from dtensor._core.caller import warn
from dtensor.torch import _draws
from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import (
    lazy_property,
    standard_like,
    torch,
)
from dtensor.torch.distributions.exp_family import ExponentialFamily

__all__ = ["Wishart"]

LOG_2 = math.log(2)


class Wishart(ExponentialFamily):
    """Sums of squares and products of `df` normal vectors.

    Of `covariance_matrix`, `precision_matrix` and `scale_tril`, the Cholesky factor of
    the covariance, one is given.
    """

    has_rsample = True

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: x for name, x in given.items() if x is not None}
        if len(given) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.ndim < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading "
                "batch dimensions"
            )
        if not isinstance(df, torch.Tensor):
            df = torch.full_like(matrix.detach()[..., 0, 0], df)
        lead = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        size = matrix.shape[-1]
        self.df = df.expand(lead)
        if bool((self.df.detach() <= size - 1).any()):
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {size - 1}."
            )
        if bool((self.df.detach() < size).any()):
            warn(
                "Low df values detected. Singular samples are highly likely to occur "
                "for ndim - 1 < df < ndim."
            )
        setattr(self, name, matrix.expand((*lead, size, size)))
        self._tril = matrix
        if name == "covariance_matrix":
            self._tril = torch.linalg.cholesky(matrix)
        elif name == "precision_matrix":
            flipped = torch.linalg.cholesky(matrix.flip((-2, -1)))
            self._tril = torch.linalg.inv(flipped.flip((-2, -1)).mT).tril()
        super().__init__(lead, (size, size), validate_args)

    support = constraints.positive_definite

    @property
    def arg_constraints(self) -> Any:
        """What parameters must fulfil."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        names = "df covariance_matrix precision_matrix scale_tril"
        new = self._expanded(batch_shape, names, _instance)
        new._tril = self._tril
        return new

    def _whole(self, x: Any) -> Any:
        return x.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower Cholesky factor of the covariance."""
        return self._whole(self._tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors."""
        return self._whole(self._tril @ self._tril.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._whole(torch.cholesky_inverse(self._tril))

    def _df(self) -> Any:
        return self.df.reshape((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Any:
        return self._df() * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self._df() - self._event_shape[-1] - 1
        factor = torch.where(factor <= 0, float("nan"), factor)
        return factor * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._df() * (v**2 + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw the Cholesky factor: normal numbers, chi-square ones on the diagonal."""
        size = self._event_shape[-1]
        places = torch.arange(size, dtype=self._tril.dtype)
        half = (self.df.unsqueeze(-1) - places) / 2
        shape = (*tuple(sample_shape), *self._batch_shape, size)
        diagonal = torch.sqrt(2 * _draws.gamma(half, shape))
        diagonal = diagonal.clamp(min=torch.finfo(diagonal.dtype).eps)
        like = self._df().expand((*self._batch_shape, size, size))
        noise = standard_like(like, (*shape, size)).tril(-1)
        factor = self._tril @ (noise + torch.diag_embed(diagonal))
        return factor @ factor.mT

    def _log_volume(self) -> Any:
        size = self._event_shape[-1]
        logs = torch.log(self._tril.diagonal(dim1=-2, dim2=-1)).sum(-1)
        return size * LOG_2 / 2 + logs

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        size = self._event_shape[-1]
        solved = torch.cholesky_solve(value, self._tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        log = torch.linalg.slogdet(value)[1]
        found = (self.df - size - 1) / 2 * log - trace / 2
        return found - self.df * self._log_volume() - torch.mvlgamma(self.df / 2, size)

    def entropy(self) -> Any:
        size = self._event_shape[-1]
        half = self.df / 2
        places = torch.arange(size, dtype=self.df.dtype) / 2
        slopes = torch.digamma(half.unsqueeze(-1) - places).sum(-1)
        return (
            (size + 1) * self._log_volume()
            + torch.mvlgamma(half, size)
            - (self.df - size - 1) / 2 * slopes
            + self.df * size / 2
        )
