"""``torch.distributed._composable.fsdp``: `dtensor.fsdp`."""

from dtensor.fsdp import *  # noqa: F403
