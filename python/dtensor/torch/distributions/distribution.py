"""``torch.distributions.distribution``: what all distributions have."""

from typing import Any, ClassVar

from dtensor.torch.distributions import constraints
from dtensor.torch.distributions._values import lazy_property, torch

__all__ = ["Distribution"]


class Distribution:
    """A distribution of events of `event_shape`, with parameters of `batch_shape`.

    Parameters may be DTensors: what is drawn and computed of them is then cut as they
    are, and calls are collective over their mesh. Numbers that are drawn depend on the
    seed and on the place of an element, not on the layout.

    Parameters
    ----------
    batch_shape : tuple of int
        The shape of the parameters, without the dims of events.
    event_shape : tuple of int
        The shape of one event.
    validate_args : bool, optional
        Whether parameters and values are checked, which of DTensors is one small
        message; default: yes, unless Python runs with ``-O``.

    Raises
    ------
    ValueError
        If a parameter has values that it cannot have. On all ranks of the mesh.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: ClassVar[Any] = {}
    support: Any = None
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions that are made from now on check their values."""
        if value not in (True, False):
            raise ValueError("expected a bool")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                self._check(name, constraint)

    def _check(self, name: str, constraint: Any) -> None:
        derived = isinstance(getattr(type(self), name, None), lazy_property)
        if constraints.is_dependent(constraint) or (
            derived and name not in self.__dict__
        ):
            return
        value = getattr(self, name)
        if not bool(constraint.check(value.detach()).all()):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) of distribution {self!r} to satisfy the "
                f"constraint {constraint!r}, but found invalid values:\n{value}"
            )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its parameters expanded to a batch shape."""
        raise NotImplementedError

    def _expanded(self, batch_shape: Any, names: str, _instance: Any = None) -> Any:
        """Expand the parameters that are there, which have no dims of events."""
        new = self._get_checked_instance(None, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in names.split():
            if name in self.__dict__:
                value = getattr(self, name)
                more = value.shape[len(self._batch_shape) :]
                setattr(new, name, value.expand(tuple(batch_shape) + tuple(more)))
        Distribution.__init__(new, batch_shape, self._event_shape, False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Any:
        """The shape of the parameters, without the dims of events."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one event."""
        return self._event_shape

    @property
    def mean(self) -> Any:
        """The mean, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable event."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance of each element of events."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation of each element of events."""
        return torch.sqrt(self.variance)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draw events, of shape ``sample_shape + batch_shape + event_shape``."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw events that have gradients with respect to the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """Draw `n` events for each of the batch: PyTorch's older name."""
        return self.sample((n,))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density, or probability, at a value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """Return the probability of being at a value or below."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """Return the value that has a probability to be below."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """Return all events of a discrete distribution, along a new first dim."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """Return the entropy in nats, of `batch_shape`."""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """Return the exponential of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return torch.Size(
            (*tuple(sample_shape), *self._batch_shape, *self._event_shape)
        )

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError where a value cannot be drawn."""
        if not self._validate_args:
            return
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        first = value.ndim - len(self._event_shape)
        if tuple(value.shape[max(first, 0) :]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        wanted = (*self._batch_shape, *self._event_shape)
        for i, j in zip(reversed(value.shape), reversed(wanted), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {torch.Size(wanted)}."
                )
        try:
            support = self.support
        except NotImplementedError:
            return
        if support is None or constraints.is_dependent(support):
            return
        if not bool(support.check(value.detach()).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        return type(self).__new__(type(self)) if _instance is None else _instance

    def __repr__(self) -> str:
        names = [n for n in self.arg_constraints if n in self.__dict__]
        shown = ", ".join(
            f"{n}: {getattr(self, n)}"
            if getattr(self, n).numel() == 1
            else f"{n}: {getattr(self, n).shape}"
            for n in names
        )
        return f"{self.__class__.__name__}({shown})"
