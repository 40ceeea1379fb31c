"""What PyTorch 2.0's page on torch.distributed.tensor.parallel names, put to use.

The page has no code: every name of it is used as it says.
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor import DTensor, Replicate, Shard
from dtensor.torch.distributed.tensor.parallel import parallelize_module
from dtensor.torch.distributed.tensor.parallel.fsdp import enable_2d_with_fsdp
from dtensor.torch.distributed.tensor.parallel.multihead_attention_tp import (
    TensorParallelMultiheadAttention,
)
from dtensor.torch.distributed.tensor.parallel.style import (
    ColwiseParallel,
    PairwiseParallel,
    PairwiseSequenceParallel,
    RowwiseParallel,
    make_input_replicate_1d,
    make_input_reshard_replicate,
    make_input_shard_1d,
    make_input_shard_1d_last_dim,
    make_output_replicate_1d,
    make_output_reshard_tensor,
    make_output_shard_1d,
    make_output_tensor,
)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(8, 16)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(16, 4)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


dist.init_process_group()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
rank, ranks = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)

# --- a pair of layers -----------------------------------------------------------------

model = MLP()
inputs = torch.randn(2 * ranks, 8)
expected = model(inputs)
parts = torch.chunk(expected, ranks)

pairwise = parallelize_module(copy.deepcopy(model), mesh, PairwiseParallel())
assert pairwise.net1.weight.placements == (Shard(0),)
assert pairwise.net2.weight.placements == (Shard(1),)
torch.testing.assert_close(pairwise(inputs), expected)

sequence = parallelize_module(copy.deepcopy(model), mesh, PairwiseSequenceParallel())
mine = torch.chunk(inputs, ranks)[rank]
torch.testing.assert_close(sequence(mine), parts[rank])

plan = {
    "net1": ColwiseParallel(make_input_replicate_1d, None),
    "net2": RowwiseParallel(None, make_output_tensor),
}
planned = parallelize_module(copy.deepcopy(model), mesh, plan)
torch.testing.assert_close(planned(inputs), expected)

# --- inputs and outputs ---------------------------------------------------------------

for prepare, local, placement in [
    (make_input_replicate_1d, inputs, Replicate()),
    (make_input_reshard_replicate, mine, Replicate()),
    (make_input_shard_1d, mine, Shard(0)),
    (make_input_shard_1d_last_dim, torch.chunk(inputs, ranks, 1)[rank], Shard(1)),
]:
    prepared = prepare(local, mesh)
    assert prepared.placements == (placement,)
    assert torch.equal(prepared.full_tensor(), inputs)

output = DTensor.from_local(expected, mesh, [Replicate()])
assert make_output_replicate_1d(output, mesh).placements == (Replicate(),)
assert make_output_shard_1d(output, mesh, dim=1).placements == (Shard(1),)
assert torch.equal(make_output_tensor(output, mesh), expected)
assert torch.equal(make_output_reshard_tensor(output, mesh), parts[rank])

# --- attention ------------------------------------------------------------------------

attention = TensorParallelMultiheadAttention(8, 4, tp_size=ranks)
x = torch.randn(2, 5, 8)
alone = attention(x, x, x)
attention = parallelize_module(attention, mesh, PairwiseParallel())
torch.testing.assert_close(attention(x, x, x), alone)

assert enable_2d_with_fsdp()
dist.destroy_process_group()
