"""The styles of a plan, and the functions that PyTorch 2.0's styles use."""

from dtensor.parallel._borders import (
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
)
from dtensor.parallel._contract import ParallelStyle
from dtensor.parallel._layers import ColwiseParallel, RowwiseParallel, SequenceParallel
from dtensor.parallel._pairwise import PairwiseParallel, PairwiseSequenceParallel
from dtensor.parallel._prepare import (
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
    "make_input_replicate_1d",
    "make_input_reshard_replicate",
    "make_input_shard_1d",
    "make_input_shard_1d_last_dim",
    "make_output_replicate_1d",
    "make_output_reshard_tensor",
    "make_output_shard_1d",
    "make_output_tensor",
    "make_sharded_output_tensor",
]
