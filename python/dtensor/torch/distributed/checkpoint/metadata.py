"""``torch.distributed.checkpoint.metadata``: `dtensor.checkpoint.metadata`."""

from dtensor.checkpoint.metadata import *  # noqa: F403
