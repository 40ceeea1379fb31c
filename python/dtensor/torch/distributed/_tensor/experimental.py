"""``torch.distributed._tensor.experimental``: `dtensor.experimental`."""

from dtensor.torch.distributed.tensor.experimental import *  # noqa: F403
