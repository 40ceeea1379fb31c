"""The functional collectives of ``torch.distributed``.

Each takes this rank's Tensor and returns a new one; nothing is written in place. They
have gradients, and `CommDebugMode` counts them. The ranks compare their calls before
data move, and all of them raise if the calls differ. Results need no `wait_tensor`.
"""

from dtensor.functional_collectives._all_to_all import (
    all_to_all_single,
    shard_dim_alltoall,
)
from dtensor.functional_collectives._collectives import (
    all_gather_tensor,
    all_reduce,
    broadcast,
    permute_tensor,
    reduce_scatter_tensor,
    wait_tensor,
)
from dtensor.functional_collectives._several import (
    all_gather_into_tensor_coalesced,
    all_reduce_coalesced,
    reduce_scatter_tensor_coalesced,
)

all_gather_tensor_autograd = all_gather_tensor
all_to_all_single_autograd = all_to_all_single
reduce_scatter_tensor_autograd = reduce_scatter_tensor

__all__ = [
    "all_gather_into_tensor_coalesced",
    "all_gather_tensor",
    "all_gather_tensor_autograd",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all_single",
    "all_to_all_single_autograd",
    "broadcast",
    "permute_tensor",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd",
    "reduce_scatter_tensor_coalesced",
    "shard_dim_alltoall",
    "wait_tensor",
]
