"""``torch.distributions.constraint_registry``: transforms onto constraints."""

from collections.abc import Callable
from typing import Any

from dtensor.torch.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Transforms of real numbers onto what satisfies a constraint, by its type."""

    def __init__(self) -> None:
        self._registered: list[tuple[Any, Callable[[Any], Any]]] = []

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register a function that makes a transform for a constraint or its type."""
        if factory is None:
            return lambda given: self.register(constraint, given)
        self._registered.insert(0, (constraint, factory))
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return a transform onto a constraint.

        Raises
        ------
        NotImplementedError
            If there is none.
        """
        for known, factory in self._registered:
            if known is constraint or type(constraint) is known:
                return factory(constraint)
        raise NotImplementedError(
            f"Cannot transform {type(constraint).__name__} constraints"
        )


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    parts = [transforms.SigmoidTransform()]
    if isinstance(low, int | float) and (low, high) == (0, 1):
        return parts[0]
    return transforms.ComposeTransform(
        [*parts, transforms.AffineTransform(low, high - low)]
    )


def _above(constraint: Any) -> Any:
    low = constraint.lower_bound
    if isinstance(low, int | float) and low == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(low, 1)]
    )


def _below(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [
            transforms.ExpTransform(),
            transforms.AffineTransform(constraint.upper_bound, -1),
        ]
    )


for _each in (biject_to, transform_to):
    _each.register(constraints.real, lambda c: transforms.identity_transform)
    _each.register(constraints.greater_than, _above)
    _each.register(constraints.greater_than_eq, _above)
    _each.register(constraints.less_than, _below)
    _each.register(constraints.interval, _between)
    _each.register(constraints.half_open_interval, _between)
    _each.register(
        constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform()
    )
    _each.register(
        constraints.independent,
        lambda c, of=_each: transforms.IndependentTransform(
            of(c.base_constraint), c.reinterpreted_batch_ndims
        ),
    )
    _each.register(constraints.real_vector, lambda c: transforms.identity_transform)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
for _each in (biject_to, transform_to):
    _each.register(
        constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform()
    )
transform_to.register(
    constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform()
)
