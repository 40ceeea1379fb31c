"""Distributions of real numbers that are moved by `loc` and stretched by `scale`."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import broadcast_all
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["Located"]


class Located(Distribution):
    """The base of such distributions; those with one peak have it at `loc`."""

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def mode(self) -> Any:
        return self.loc

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(batch_shape, "loc scale", _instance)
