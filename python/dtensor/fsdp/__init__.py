"""Fully sharded data parallelism: ``torch.distributed.fsdp``.

`fully_shard` shards parameters, gradients and the optimizer's state; `replicate` keeps
them whole on every rank. See S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward
Training Trillion Parameter Models", SC 2020.
"""

from dtensor.fsdp._fully_shard import (
    ReplicateModule,
    fully_shard,
    register_fsdp_forward_method,
    replicate,
)
from dtensor.fsdp._module import FSDPModule, UnshardHandle
from dtensor.fsdp.data_parallel import DistributedDataParallel
from dtensor.fsdp.join import Join, Joinable, JoinHook
from dtensor.fsdp.policies import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
    ShardPlacementResult,
)
from dtensor.fsdp.wrapper import (
    BackwardPrefetch,
    CPUOffload,
    FullyShardedDataParallel,
    MixedPrecision,
    ModuleWrapPolicy,
    ShardingStrategy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
)
from dtensor.fsdp.zero import ZeroRedundancyOptimizer

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "CPUOffloadPolicy",
    "DistributedDataParallel",
    "FSDPModule",
    "FullyShardedDataParallel",
    "Join",
    "JoinHook",
    "Joinable",
    "MixedPrecision",
    "MixedPrecisionPolicy",
    "ModuleWrapPolicy",
    "OffloadPolicy",
    "ReplicateModule",
    "ShardPlacementResult",
    "ShardingStrategy",
    "UnshardHandle",
    "ZeroRedundancyOptimizer",
    "fully_shard",
    "register_fsdp_forward_method",
    "replicate",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
]
