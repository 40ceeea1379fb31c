"""``torch.distributed.tensor._random``: `dtensor.random`."""

from dtensor.random import *  # noqa: F403
