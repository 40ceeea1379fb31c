"""``torch.distributed.tensor.experimental._func_map``."""

from dtensor.experimental.func_map import *  # noqa: F403
