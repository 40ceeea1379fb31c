"""``torch.distributed.checkpoint.filesystem``: the same of `dtensor.checkpoint`."""

from dtensor.checkpoint.filesystem import *  # noqa: F403
