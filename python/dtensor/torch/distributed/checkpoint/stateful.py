"""``torch.distributed.checkpoint.stateful``: the same of `dtensor.checkpoint`."""

from dtensor.checkpoint.stateful import *  # noqa: F403
