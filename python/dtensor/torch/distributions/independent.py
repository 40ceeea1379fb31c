"""``torch.distributions.independent``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import sum_rightmost
from dtensor.torch.distributions.distribution import Distribution

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution whose last dims of the batch are dims of events."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        dims, more = len(base_distribution.batch_shape), reinterpreted_batch_ndims
        if more > dims:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= "
                f"len(base_distribution.batch_shape), actual {more} vs {dims}"
            )
        batch = base_distribution.batch_shape
        event = (*batch[dims - more :], *base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = more
        super().__init__(batch[: dims - more], event, validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        more = tuple(self.event_shape)[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand((*batch_shape, *more))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, False)
        new._validate_args = self._validate_args
        return new

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)
    stddev = property(lambda self: self.base_dist.stddev)

    @constraints.dependent_property
    def support(self) -> Any:
        support, more = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, more) if more else support

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return not self.reinterpreted_batch_ndims and bool(
            self.base_dist.has_enumerate_support
        )

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        found = self.base_dist.log_prob(value)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        found = self.base_dist.entropy()
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError(
                "Enumeration over cartesian product is not implemented"
            )
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
        )
