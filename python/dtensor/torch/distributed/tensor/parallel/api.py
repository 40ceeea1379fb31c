"""``torch.distributed.tensor.parallel.api``: `dtensor.parallel.api`."""

from dtensor.parallel.api import *  # noqa: F403
