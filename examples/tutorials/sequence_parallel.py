"""Sequence parallelism: each rank has its own rows of the activations between layers.
After PyTorch's example "sequence_parallel_example".

./run ranks 4 python examples/tutorials/sequence_parallel.py

Forward gathers the rows before the first layer and reduce-scatters the sums after the
second one; backward gathers the gradients of the sums (the rows themselves need none).
The result is that of one process on all rows.
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor import Shard
from dtensor.torch.distributed.tensor.debug import CommDebugMode
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

c10d_functional = torch.ops.c10d_functional


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 32)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(32, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (ranks,))
torch.manual_seed(0)
whole = ToyModel()
model = parallelize_module(
    copy.deepcopy(whole),
    mesh,
    {
        "net1": ColwiseParallel(input_layouts=Shard(0)),
        "net2": RowwiseParallel(output_layouts=Shard(0)),
    },
)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
reference = torch.optim.AdamW(whole.parameters(), lr=0.01)

losses = []
for _ in range(10):
    rows = torch.rand(20 * ranks, 10)  # equal on all ranks, for the reference
    mine = torch.chunk(rows, ranks)[rank]

    with CommDebugMode() as comm:
        output = model(mine)
        output.square().sum().backward()  # each rank sums over its own rows
    assert output.shape == (20, 5)
    optimizer.step()
    optimizer.zero_grad()

    expected = whole(rows)
    torch.testing.assert_close(output, torch.chunk(expected, ranks)[rank])
    expected.square().sum().backward()
    reference.step()
    reference.zero_grad()
    losses.append(expected.square().mean().item())

assert losses[-1] < losses[0]
counts = comm.get_comm_counts()
assert counts[c10d_functional.all_gather_into_tensor] == (2 if ranks > 1 else 0)
assert counts[c10d_functional.reduce_scatter_tensor] == (1 if ranks > 1 else 0)
assert comm.get_total_counts() == (3 if ranks > 1 else 0)
if rank == 0:
    print(f"forward and backward send {dict(counts)}")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, as one process has it")
dist.destroy_process_group()
