"""``torch.distributed.tensor.experimental.func_map``."""

from dtensor.experimental.func_map import *  # noqa: F403
