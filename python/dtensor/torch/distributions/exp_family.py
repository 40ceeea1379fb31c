"""``torch.distributions.exp_family``: the base of exponential families."""

from dtensor.torch.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of an exponential family; each has formulas of its own here."""
