"""``torch.nn.parameter``: `dtensor.nn.parameter`."""

from dtensor.nn.parameter import *  # noqa: F403
