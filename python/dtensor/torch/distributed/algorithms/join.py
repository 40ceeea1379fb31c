"""``torch.distributed.algorithms.join``: `dtensor.fsdp.join`."""

from dtensor.fsdp.join import *  # noqa: F403
