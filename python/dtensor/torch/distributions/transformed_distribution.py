"""``torch.distributions.transformed_distribution``."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import sum_rightmost, torch, without_gradients
from dtensor.torch.distributions.distribution import Distribution
from dtensor.torch.distributions.independent import Independent
from dtensor.torch.distributions.transforms import ComposeTransform, Transform

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What transforms make of numbers of another distribution."""

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Any,
        transforms: Any,
        validate_args: bool | None = None,
    ) -> None:
        alone = isinstance(transforms, Transform)
        self.transforms: list[Any] = [transforms] if alone else list(transforms)
        for each in self.transforms:
            if not isinstance(each, Transform):
                raise ValueError(
                    f"transforms must be a Transform or a list of Transforms, not "
                    f"{type(each).__name__}"
                )
        whole = ComposeTransform(self.transforms)
        base = base_distribution
        batch, event = tuple(base.batch_shape), tuple(base.event_shape)
        if len(batch + event) < whole.domain.event_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{whole.domain.event_dim}, but got {torch.Size(batch + event)}."
            )
        forward = whole.forward_shape(torch.Size(batch + event))
        expanded = whole.inverse_shape(forward)
        if tuple(expanded) != batch + event:
            base = base.expand(expanded[: len(expanded) - len(event)])
        more = whole.domain.event_dim - len(event)
        if more > 0:
            base = Independent(base, more)
        self.base_dist = base
        grown = whole.codomain.event_dim - whole.domain.event_dim
        dims = max(whole.codomain.event_dim, len(event) + grown)
        cut = len(forward) - dims
        super().__init__(forward[:cut], forward[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return bool(self.base_dist.has_rsample)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        for name in self.arg_constraints:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(tuple(batch_shape)))
        new.transforms = self.transforms
        whole = ComposeTransform(self.transforms)
        shape = torch.Size((*batch_shape, *self.event_shape))
        inner = whole.inverse_shape(shape)
        cut = len(inner) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(inner[:cut])
        Distribution.__init__(new, batch_shape, self.event_shape, False)
        new._validate_args = self._validate_args
        return new

    def _through(self, x: Any) -> Any:
        for each in self.transforms:
            x = each(x)
        return x

    @without_gradients
    def sample(self, sample_shape: Any = ()) -> Any:
        return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        dims = len(self.event_shape)
        total: Any = 0.0
        y = value
        for each in reversed(self.transforms):
            x = each.inv(y)
            dims += each.domain.event_dim - each.codomain.event_dim
            found = each.log_abs_det_jacobian(x, y)
            total = total - sum_rightmost(found, dims - each.domain.event_dim)
            y = x
        inner = self.base_dist.log_prob(y)
        return total + sum_rightmost(inner, dims - len(self.base_dist.event_shape))

    def _turned(self, value: Any) -> Any:
        sign: Any = 1
        for each in self.transforms:
            sign = sign * each.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for each in reversed(self.transforms):
            value = each.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._through(self.base_dist.icdf(self._turned(value)))
