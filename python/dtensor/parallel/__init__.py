"""Tensor parallelism: the names of ``torch.distributed.tensor.parallel``."""

from dtensor.parallel.api import parallelize_module
from dtensor.parallel.fsdp import enable_2d_with_fsdp
from dtensor.parallel.input_reshard import input_reshard
from dtensor.parallel.loss import loss_parallel
from dtensor.parallel.multihead_attention_tp import TensorParallelMultiheadAttention
from dtensor.parallel.style import (
    ColwiseParallel,
    PairwiseParallel,
    PairwiseSequenceParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    make_input_replicate_1d,
    make_input_reshard_replicate,
    make_input_shard_1d,
    make_input_shard_1d_last_dim,
    make_output_replicate_1d,
    make_output_reshard_tensor,
    make_output_shard_1d,
    make_output_tensor,
    make_sharded_output_tensor,
)

__all__ = [
    "ColwiseParallel",
    "PairwiseParallel",
    "PairwiseSequenceParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "TensorParallelMultiheadAttention",
    "enable_2d_with_fsdp",
    "input_reshard",
    "loss_parallel",
    "make_input_replicate_1d",
    "make_input_reshard_replicate",
    "make_input_shard_1d",
    "make_input_shard_1d_last_dim",
    "make_output_replicate_1d",
    "make_output_reshard_tensor",
    "make_output_shard_1d",
    "make_output_tensor",
    "make_sharded_output_tensor",
    "parallelize_module",
]
