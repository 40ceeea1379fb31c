"""``torch.distributions.lkj_cholesky``."""

import math
from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import (
    broadcast_all,
    standard_like,
    torch,
    without_gradients,
)
from dtensor.torch.distributions.beta import Beta
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlations of `dim` numbers.

    The density of a correlation is its determinant to the power ``concentration - 1``.
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found "
                f"dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(batch_shape, "concentration", _instance)
        new.dim = self.dim
        return new

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw row by row, as layers of an onion."""
        rows = torch.arange(self.dim, dtype=self.concentration.dtype)
        before = torch.clamp(rows - 1, min=0)
        wide = self.concentration.unsqueeze(-1) + 0.5 * (self.dim - 2) - 0.5 * before
        lengths = Beta(before + 0.5, wide).sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        like = self.concentration.unsqueeze(-1).unsqueeze(-1)
        drawn = standard_like(like, shape).tril(-1)
        norm = drawn.norm(dim=-1, keepdim=True)
        low = torch.sqrt(lengths) * drawn / torch.where(norm == 0, 1.0, norm)
        tiny = torch.finfo(low.dtype).tiny
        diagonal = torch.sqrt(torch.clamp(1 - (low**2).sum(-1), min=tiny))
        return low + torch.diag_embed(diagonal)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, dtype=value.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        found = (order * torch.log(diagonal)).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        scale = torch.mvlgamma(alpha - 0.5, less) - torch.lgamma(alpha) * less
        return found - 0.5 * less * math.log(math.pi) - scale
