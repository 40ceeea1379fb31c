"""``torch.distributions.constraints``: which values a parameter or sample may have."""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor.torch.distributions._values import torch

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


def _shown(constraint: Any) -> str:
    """Return the name of a constraint's type as PyTorch writes it."""
    words = type(constraint).__name__.strip("_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


class Constraint:
    """What values satisfy: `check` tells for each event, one of `event_dim` dims."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return a tensor of booleans, without the dims of events."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{_shown(self)}()"


class _Dependent(Constraint):
    """Depends on other parameters: it cannot be checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = 0):
        self.is_discrete, self.event_dim = is_discrete is True, event_dim

    def __call__(self, *, is_discrete: Any = False, event_dim: Any = 0) -> Any:
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):  # noqa: N801
    """A property whose value is a constraint: of instances alone."""

    def __init__(
        self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = 0
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]
        return dependent_property(
            fn, is_discrete=self.is_discrete, event_dim=self.event_dim
        )


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _Tested(Constraint):
    """A constraint that is a question about each event."""

    def __init__(
        self,
        name: str,
        test: Callable[[Any], Any],
        event_dim: int = 0,
        is_discrete: bool = False,
    ) -> None:
        self.name, self.test = name, test
        self.event_dim, self.is_discrete = event_dim, is_discrete

    def check(self, value: Any) -> Any:
        return self.test(value)

    def __repr__(self) -> str:
        return self.name


class _Bounded(Constraint):
    """A constraint by bounds, which may be tensors."""

    def _bounds(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)
        self._shown = ", ".join(f"{name}={x}" for name, x in bounds.items())

    def __repr__(self) -> str:
        return f"{_shown(self)}({self._shown})"


class greater_than(_Bounded):  # noqa: N801
    """Above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self._bounds(lower_bound=lower_bound)

    def check(self, value: Any) -> Any:
        return value > self.lower_bound  # type: ignore[attr-defined]


class greater_than_eq(greater_than):  # noqa: N801
    """At a bound, or above it."""

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound  # type: ignore[attr-defined]


class less_than(_Bounded):  # noqa: N801
    """Below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self._bounds(upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound  # type: ignore[attr-defined]


class interval(_Bounded):  # noqa: N801
    """Between two bounds, or at them."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        self._bounds(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class half_open_interval(interval):  # noqa: N801
    """At a lower bound, or above it and below an upper one."""

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class integer_interval(interval):  # noqa: N801
    """Whole numbers between two bounds, or at them."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class multinomial(_Bounded):  # noqa: N801
    """Counts of the last dim that add up to a number at most."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        self._bounds(upper_bound=upper_bound)

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class independent(Constraint):  # noqa: N801
    """Another constraint, of events that have some more dims."""

    def __init__(
        self, base_constraint: Any, reinterpreted_batch_ndims: int, /, **_: Any
    ) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        found, more = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if found.ndim < more:
            raise ValueError(
                f"Expected value.dim() >= {self.event_dim} but got {value.ndim}"
            )
        return found.all(tuple(range(-more, 0))) if more else found

    def __repr__(self) -> str:
        inner = f"{self.base_constraint!r}, {self.reinterpreted_batch_ndims}"
        return f"IndependentConstraint({inner})"


class MixtureSameFamilyConstraint(Constraint):
    """That of a mixture: the one of its components."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return found.all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Joined(Constraint):
    """Constraints of the parts of a tensor along a dim."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Any = None) -> None:
        self.cseq, self.dim = list(cseq), dim
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.cseq)
        self.is_discrete = any(c.is_discrete for c in self.cseq)
        self.event_dim = max(c.event_dim for c in self.cseq)


class cat(_Joined):  # noqa: N801
    """Constraints of parts of some lengths along a dim."""

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        pairs = zip(self.cseq, parts, strict=True)
        return torch.cat([c.check(part) for c, part in pairs], self.dim)


class stack(_Joined):  # noqa: N801
    """Constraints of the slices along a dim."""

    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        super().__init__(cseq, dim)
        self.event_dim += dim < 0

    def check(self, value: Any) -> Any:
        pairs = zip(self.cseq, value.unbind(self.dim), strict=True)
        return torch.stack([c.check(part) for c, part in pairs], self.dim)


# --- questions ------------------------------------------------------------------------


def _matrices(found: Any) -> Any:
    return found.flatten(-2).all(-1)


def _square(value: Any) -> Any:
    fits = value.shape[-2] == value.shape[-1]
    return torch.full_like(value[..., 0, 0], fits, dtype=torch.bool)


def _symmetric(value: Any) -> Any:
    if value.shape[-2] != value.shape[-1]:
        return _square(value)
    return _matrices(torch.isclose(value, value.mT, atol=1e-6))


def _definite(value: Any, least: float = 0.0) -> Any:
    symmetric = _symmetric(value)
    if value.shape[-2] != value.shape[-1]:
        return symmetric
    values = torch.linalg.eigvalsh(value.detach())
    return symmetric & (values > least).all(-1)


def _lower(value: Any) -> Any:
    return _matrices(value.tril() == value)


def _diagonal_is_positive(value: Any) -> Any:
    return (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _rows_have_length_one(value: Any) -> Any:
    tolerance = torch.finfo(value.dtype).eps * value.shape[-1] * 10
    lengths = torch.sqrt((value.detach() ** 2).sum(-1))
    return (torch.abs(lengths - 1) <= tolerance).all(-1)


def _simplex(value: Any) -> Any:
    return (value >= 0).all(-1) & (torch.abs(value.sum(-1) - 1) < 1e-6)


def _one_hot(value: Any) -> Any:
    return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


dependent = _Dependent()
boolean = _Tested("Boolean()", lambda x: (x == 0) | (x == 1), 0, True)
one_hot = _Tested("OneHot()", _one_hot, 1, True)
nonnegative_integer = _Tested(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0), 0, True
)
positive_integer = _Tested(
    "IntegerGreaterThan(lower_bound=1)", lambda x: (x % 1 == 0) & (x >= 1), 0, True
)
real = _Tested("Real()", lambda x: x == x)
real_vector = _Tested(
    "IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1), event_dim=1
)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
simplex = _Tested("Simplex()", _simplex, 1)
lower_triangular = _Tested("LowerTriangular()", _lower, 2)
lower_cholesky = _Tested(
    "LowerCholesky()", lambda x: _lower(x) & _diagonal_is_positive(x), 2
)
corr_cholesky = _Tested(
    "CorrCholesky()",
    lambda x: _lower(x) & _diagonal_is_positive(x) & _rows_have_length_one(x),
    2,
)
square = _Tested("Square()", _square, 2)
symmetric = _Tested("Symmetric()", _symmetric, 2)
positive_semidefinite = _Tested(
    "PositiveSemidefinite()", lambda x: _definite(x, -1e-6), 2
)
positive_definite = _Tested("PositiveDefinite()", _definite, 2)
