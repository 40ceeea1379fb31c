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
from dtensor.fsdp.state_dict_types import (
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    OptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)
from dtensor.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    always_wrap_policy,
    enable_wrap,
    lambda_auto_wrap_policy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
)
from dtensor.fsdp.wrapper import (
    BackwardPrefetch,
    CPUOffload,
    FullyShardedDataParallel,
    MixedPrecision,
    ShardingStrategy,
)
from dtensor.fsdp.zero import ZeroRedundancyOptimizer

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "CPUOffloadPolicy",
    "CustomPolicy",
    "DistributedDataParallel",
    "FSDPModule",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "Join",
    "JoinHook",
    "Joinable",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "MixedPrecisionPolicy",
    "ModuleWrapPolicy",
    "OffloadPolicy",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ReplicateModule",
    "ShardPlacementResult",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
    "UnshardHandle",
    "ZeroRedundancyOptimizer",
    "always_wrap_policy",
    "enable_wrap",
    "fully_shard",
    "lambda_auto_wrap_policy",
    "register_fsdp_forward_method",
    "replicate",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
]
