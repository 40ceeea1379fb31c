"""``torch.distributed.tensor.parallel.fsdp``: `dtensor.parallel.fsdp`."""

from dtensor.parallel.fsdp import *  # noqa: F403
