"""``torch.distributed.fsdp.fully_sharded_data_parallel``: the wrapper."""

from dtensor.fsdp.wrapper import FullyShardedDataParallel as FullyShardedDataParallel

# isort: split
from dtensor.torch.distributed.fsdp.api import *  # noqa: F403
