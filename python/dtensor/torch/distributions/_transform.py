"""Transforms, which are functions with inverses and log determinants; composed ones."""

import math
from collections.abc import Sequence
from typing import Any

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import sum_rightmost, torch

__all__ = [
    "ComposeTransform",
    "IndependentTransform",
    "ReshapeTransform",
    "Transform",
    "identity_transform",
]


class Transform:
    """A function of tensors. Subclasses define `_call` and, as far as there are such,
    `_inverse` and `log_abs_det_jacobian`.

    Parameters
    ----------
    cache_size : {0, 1}, default 0
        1: the last argument and result are kept, so that the inverse of a result is
        its argument, to the bit.
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last: tuple[Any, Any] = None, None
        self._inv: Any = None

    @property
    def event_dim(self) -> int:
        """The number of dims of events, if domain and codomain have as many."""
        if self.domain.event_dim == self.codomain.event_dim:
            dims: int = self.domain.event_dim
            return dims
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _Inverse(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 or -1: whether a function of numbers rises or falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return this transform, or one like it with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        Transform.__init__(new, cache_size)
        return new

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        if self._last[0] is not x:
            self._last = x, self._call(x)
        return self._last[1]

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        if self._last[1] is not y:
            self._last = self._inverse(y), y
        return self._last[0]

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return the logarithm of ``|dy/dx|``, without the dims of events."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the result, of that of the argument."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the argument, of that of the result."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Any) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    domain = property(lambda self: self._inv.codomain)
    codomain = property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Inverse) and bool(self._inv == other._inv)

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        self.parts = list(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def with_cache(self, cache_size: int = 1) -> Any:
        return ComposeTransform(self.parts, cache_size)

    def _ends(self, first: bool) -> Any:
        if not self.parts:
            return constraints.real
        end = self.parts[0].domain if first else self.parts[-1].codomain
        dims = (self.parts[-1].codomain if first else self.parts[0].domain).event_dim
        for part in reversed(self.parts) if first else self.parts:
            inner, outer = part.domain.event_dim, part.codomain.event_dim
            dims = (
                max(inner, dims + inner - outer)
                if first
                else max(outer, dims + outer - inner)
            )
        more = dims - end.event_dim
        return constraints.independent(end, more) if more > 0 else end

    domain = property(lambda self: self._ends(True))
    codomain = property(lambda self: self._ends(False))

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        found: Any = 1
        for part in self.parts:
            found = found * part.sign
        return found

    @property
    def inv(self) -> Any:
        if self._inv is None:
            self._inv = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return torch.zeros_like(x)
        between = [x]
        for part in self.parts[:-1]:
            between.append(part(between[-1]))
        between.append(y)
        total: Any = 0
        dims = self.domain.event_dim
        for part, a, b in zip(self.parts, between[:-1], between[1:], strict=True):
            found = part.log_abs_det_jacobian(a, b)
            total = total + sum_rightmost(found, dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(map(repr, self.parts))
        return f"ComposeTransform(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last dims of the batch are dims of events."""

    def __init__(
        self,
        base_transform: Any,
        reinterpreted_batch_ndims: int,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        more = reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, more)
        self.codomain = constraints.independent(base_transform.codomain, more)

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _call(self, x: Any) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Events in another shape."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)
        real = constraints.real
        self.domain = constraints.independent(real, len(self.in_shape))
        self.codomain = constraints.independent(real, len(self.out_shape))

    def _to(self, x: Any, before: Any, after: Any) -> Any:
        return x.reshape(*x.shape[: x.ndim - len(before)], *after)

    def _call(self, x: Any) -> Any:
        return self._to(x, self.in_shape, self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return self._to(y, self.out_shape, self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        batch = x.shape[: x.ndim - len(self.in_shape)]
        return torch.zeros_like(x.detach().reshape(*batch, -1)[..., 0])

    def forward_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._shape(shape, self.out_shape, self.in_shape)

    def _shape(self, shape: Any, before: Any, after: Any) -> Any:
        first = len(shape) - len(before)
        if first < 0 or tuple(shape[first:]) != tuple(before):
            raise ValueError(f"Shape mismatch: expected {before} but got {shape}")
        return torch.Size((*shape[:first], *after))
