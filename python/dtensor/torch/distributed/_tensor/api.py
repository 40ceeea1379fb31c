"""``torch.distributed._tensor.api``: `dtensor.torch.distributed.tensor.api`."""

from dtensor.torch.distributed.tensor.api import *  # noqa: F403
