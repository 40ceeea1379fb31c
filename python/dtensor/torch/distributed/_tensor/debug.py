"""``torch.distributed._tensor.debug``: `dtensor.debug`."""

from dtensor.debug import *  # noqa: F403
