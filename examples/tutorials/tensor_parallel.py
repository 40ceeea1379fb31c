"""Tensor parallelism: a two-layer model, the first layer sharded by columns, the second
by rows. After PyTorch's example "tensor_parallel_example".

./run ranks 4 python examples/tutorials/tensor_parallel.py

Every rank feeds the same batch. Forward and backward of a step send one all_reduce: it
sums the second layer's partial results. The losses are those of one process.
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor.debug import CommDebugMode
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 32)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(32, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def train_step(model, optimizer, inputs):
    optimizer.zero_grad()
    loss = model(inputs).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


dist.init_process_group()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
whole = ToyModel()
model = parallelize_module(
    copy.deepcopy(whole),
    mesh,
    {"net1": ColwiseParallel(), "net2": RowwiseParallel()},
)

# PyTorch needs foreach=True to step DTensors fast.
optimizers = [
    torch.optim.AdamW(m.parameters(), lr=0.01, foreach=True) for m in (model, whole)
]
losses = []
for step in range(10):
    torch.manual_seed(step)  # the same batch on every rank
    inputs = torch.rand(20, 10)
    with CommDebugMode() as comm:
        loss = train_step(model, optimizers[0], inputs)
    expected = train_step(whole, optimizers[1], inputs)
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-7)
    assert comm.get_total_counts() == (dist.get_world_size() > 1), comm
    losses.append(loss)

assert losses[-1] < losses[0] / 2
if dist.get_rank() == 0:
    print("net1", model.net1.weight.placements, "net2", model.net2.weight.placements)
    print(f"a step sends {dict(comm.get_comm_counts())}")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, as one process has it")
dist.destroy_process_group()
