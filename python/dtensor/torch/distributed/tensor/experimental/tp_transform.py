"""``torch.distributed.tensor.experimental.tp_transform``."""

from dtensor.experimental.tp_transform import *  # noqa: F403
