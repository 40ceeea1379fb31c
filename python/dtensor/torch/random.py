"""``torch.random``: `dtensor.random`."""

from dtensor.random import *  # noqa: F403
