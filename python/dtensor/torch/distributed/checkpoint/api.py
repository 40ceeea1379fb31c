"""``torch.distributed.checkpoint.api``."""

from dtensor.checkpoint.api import *  # noqa: F403
