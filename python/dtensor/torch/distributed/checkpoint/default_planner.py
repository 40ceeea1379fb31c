"""``torch.distributed.checkpoint.default_planner``."""

from dtensor.checkpoint.default_planner import *  # noqa: F403
