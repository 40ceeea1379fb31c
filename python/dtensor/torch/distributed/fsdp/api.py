"""``torch.distributed.fsdp.api``: the settings of `FullyShardedDataParallel`."""

from dtensor.fsdp.state_dict_types import *  # noqa: F403
from dtensor.fsdp.wrapper import (
    BackwardPrefetch as BackwardPrefetch,
    CPUOffload as CPUOffload,
    MixedPrecision as MixedPrecision,
    ShardingStrategy as ShardingStrategy,
)
