"""``torch.distributed._tensor._utils``: `dtensor.torch.distributed.tensor._utils`."""

from dtensor.torch.distributed.tensor._utils import *  # noqa: F403
