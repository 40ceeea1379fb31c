"""``torch.distributions.transforms``: functions with inverses and log determinants."""

import math
from typing import Any

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._joined import (
    CatTransform,
    CorrCholeskyTransform,
    StackTransform,
)
from dtensor.torch.distributions._transform import (
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    Transform,
    identity_transform,
)
from dtensor.torch.distributions._values import sum_rightmost, torch

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

F: Any = torch.nn.functional


class _Rising(Transform):
    """A bijective function of numbers that rises: two of them are equal."""

    bijective = True
    domain: Any = constraints.real
    codomain: Any = constraints.real
    sign = 1

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    __hash__ = object.__hash__


class ExpTransform(_Rising):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return torch.exp(x)

    def _inverse(self, y: Any) -> Any:
        return torch.log(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(_Rising):
    """y = 1 / (1 + exp(-x))."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        limits = torch.finfo(x.dtype)
        return torch.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Any) -> Any:
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return torch.log(y) - torch.log1p(-y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Rising):
    """y = log(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return torch.log(-torch.expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x)


class TanhTransform(_Rising):
    """y = tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return torch.tanh(x)

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class CumulativeDistributionTransform(Transform):
    """y = the probability of being below x, in a distribution of numbers."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)


class PowerTransform(Transform):
    """y = x ** exponent, of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        positive = self.exponent > 0
        if isinstance(self.exponent, torch.Tensor):
            return torch.where(positive, 1.0, -1.0)
        return 1 if positive else -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _equal(
            self.exponent, other.exponent
        )

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _inverse(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return torch.log(torch.abs(self.exponent * y / x))

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.exponent)

    inverse_shape = forward_shape


def _broadcast(shape: Any, *values: Any) -> Any:
    return torch.broadcast_shapes(shape, *(getattr(x, "shape", ()) for x in values))


def _equal(a: Any, b: Any) -> bool:
    found = a == b
    return bool(found.all()) if isinstance(found, torch.Tensor) else bool(found)


class AffineTransform(Transform):
    """y = loc + scale * x, of events of `event_dim` dims."""

    bijective = True

    def __init__(
        self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        real = constraints.real
        self.domain = constraints.independent(real, event_dim) if event_dim else real
        self.codomain = self.domain

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, torch.Tensor):
            return self.scale.sign()
        return 1 if self.scale > 0 else -1 if self.scale < 0 else 0

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _equal(self.loc, other.loc)
            and _equal(self.scale, other.scale)
        )

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        none = torch.zeros_like(x.detach())
        if isinstance(self.scale, torch.Tensor):
            found = none + torch.log(torch.abs(self.scale))
        else:
            found = none + math.log(abs(self.scale))
        return sum_rightmost(found, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class AbsTransform(Transform):
    """y = |x|, whose inverse is y itself."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return torch.abs(x)

    def _inverse(self, y: Any) -> Any:
        return y


class SoftmaxTransform(Transform):
    """Probabilities of the last dim; not bijective."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return torch.log(y)


class StickBreakingTransform(Transform):
    """Probabilities of the last dim, of one number less: parts of what is left."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    def _offset(self, x: Any) -> Any:
        count = x.shape[-1]
        return torch.log(count - torch.ones_like(x.detach()).cumsum(-1) + 1)

    def _call(self, x: Any) -> Any:
        z = torch.sigmoid(x - self._offset(x))
        rest = (1 - z).cumprod(-1)
        return F.pad(z, [0, 1], value=1.0) * F.pad(rest, [1, 0], value=1.0)

    def _inverse(self, y: Any) -> Any:
        most = y[..., :-1]
        left = (1 - most.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return torch.log(most) - torch.log(left) + self._offset(most)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x)
        return (-x + F.logsigmoid(x) + torch.log(y[..., :-1])).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        return torch.Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """Lower triangular matrices with positive diagonals, of any square ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        diagonal = torch.exp(x.diagonal(dim1=-2, dim2=-1))
        return x.tril(-1) + torch.diag_embed(diagonal)

    def _inverse(self, y: Any) -> Any:
        diagonal = torch.log(y.diagonal(dim1=-2, dim2=-1))
        return y.tril(-1) + torch.diag_embed(diagonal)


class PositiveDefiniteTransform(Transform):
    """Positive definite matrices, of any square ones."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x: Any) -> Any:
        low = LowerCholeskyTransform()(x)
        return low @ low.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))
