"""``torch.distributed.tensor.experimental._tp_transform``."""

from dtensor.experimental.tp_transform import *  # noqa: F403
