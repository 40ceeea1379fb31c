"""Transforms of parts of a tensor, and of matrices."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._transform import Transform
from dtensor.torch.distributions._values import (
    sum_rightmost,
    torch,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)

__all__ = ["CatTransform", "CorrCholeskyTransform", "StackTransform"]

F: Any = torch.nn.functional


class CorrCholeskyTransform(Transform):
    """Cholesky factors of correlations, of vectors with an element for each below the
    diagonal."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(-1 + eps, 1 - eps), diag=-1)
        left = torch.sqrt(1 - r**2).cumprod(-1)
        one = torch.eye(r.shape[-1], dtype=r.dtype)
        return (r + one) * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = F.pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        below, rest = (tril_matrix_to_vec(each, diag=-1) for each in (y, left))
        t = below / torch.sqrt(rest)
        return (torch.log1p(t) - torch.log1p(-t)) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        slopes = -2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return 0.5 * torch.log(left).sum(-1) + slopes

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return torch.Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return torch.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class _Joined(Transform, ABC):
    """Transforms, each of one part of a tensor."""

    def __init__(self, tseq: Sequence[Any], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        kept = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.transforms: list[Any] = kept
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    @abstractmethod
    def _length(self) -> int:
        """Return how long the dim of parts is."""

    @abstractmethod
    def _parts(self, x: Any) -> list[Any]:
        """Return the parts of a tensor, one for each transform."""

    @abstractmethod
    def _join(self, parts: list[Any]) -> Any:
        """Return the tensor of its parts."""

    def _checked(self, x: Any) -> list[Any]:
        if not -x.ndim <= self.dim < x.ndim:
            raise AssertionError(
                f"dim {self.dim} out of range for tensor with {x.ndim} dimensions"
            )
        if x.shape[self.dim] != self._length():
            raise AssertionError(
                f"x.size({self.dim}) = {x.shape[self.dim]} must equal {self._length()}"
            )
        return self._parts(x)

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._checked(x), strict=True)
        return self._join([t(part) for t, part in pairs])

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._checked(y), strict=True)
        return self._join([t.inv(part) for t, part in pairs])

    def _slopes(self, x: Any, y: Any) -> list[Any]:
        both = zip(self.transforms, self._checked(x), self._checked(y), strict=True)
        return [t.log_abs_det_jacobian(*pair) for t, *pair in both]


class CatTransform(_Joined):
    """Transforms of parts along a dim, of the `lengths` given; default: of length 1."""

    def __init__(
        self,
        tseq: Sequence[Any],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        given = [1] * len(self.transforms) if lengths is None else lengths
        self.lengths = list(given)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms "
                f"({len(self.transforms)})"
            )

    @property
    def event_dim(self) -> int:
        dims: int = max(t.event_dim for t in self.transforms)
        return dims

    @property
    def length(self) -> int:
        """The length of all parts."""
        return sum(self.lengths)

    def _length(self) -> int:
        return self.length

    def _parts(self, x: Any) -> list[Any]:
        return list(torch.split(x, self.lengths, self.dim))

    def _join(self, parts: list[Any]) -> Any:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = [
            sum_rightmost(slope, self.event_dim - t.event_dim)
            for t, slope in zip(self.transforms, self._slopes(x, y), strict=True)
        ]
        dim = (self.dim - x.ndim if self.dim >= 0 else self.dim) + self.event_dim
        return torch.cat(found, dim=dim) if dim < 0 else sum(found)

    @constraints.dependent_property
    def domain(self) -> Any:
        """What it takes."""
        of = [t.domain for t in self.transforms]
        return constraints.cat(of, self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """What it gives."""
        of = [t.codomain for t in self.transforms]
        return constraints.cat(of, self.dim, self.lengths)


class StackTransform(_Joined):
    """Transforms of the parts along a dim, one for each."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _length(self) -> int:
        return len(self.transforms)

    def _parts(self, x: Any) -> list[Any]:
        return list(torch.unbind(x, self.dim))

    def _join(self, parts: list[Any]) -> Any:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self._join(self._slopes(x, y))

    @constraints.dependent_property
    def domain(self) -> Any:
        """What it takes."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """What it gives."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
