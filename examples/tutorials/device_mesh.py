"""Meshes: groups of ranks by name, hybrid sharding, and slices of three dimensions.
After PyTorch's recipe "Getting Started with DeviceMesh".

./run ranks 4 python examples/tutorials/device_mesh.py

It needs an even number of ranks.
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.fsdp import fully_shard
from dtensor.torch.distributed.tensor import Replicate, Shard
from dtensor.torch.distributed.tensor.debug import CommDebugMode
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(12, 16)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(16, 4)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def equals_one_process(model, data_mesh):
    """Train on one batch per data-parallel rank, and on all batches in one process."""
    parts = data_mesh.size()
    part = data_mesh.mesh.ravel().tolist().index(rank)
    batch = torch.rand(3 * parts, 12)
    expected = copy.deepcopy(whole)
    expected(batch).square().mean().backward()
    with CommDebugMode() as comm:
        model(torch.chunk(batch, parts)[part]).square().mean().backward()
    for mine, other in zip(model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(mine.grad.full_tensor(), other.grad)
    return dict(comm.get_comm_counts())


dist.init_process_group()
rank, ranks = dist.get_rank(), dist.get_world_size()
assert ranks % 2 == 0, "an even number of ranks is needed"
torch.manual_seed(0)
whole = ToyModel()

# One call makes all groups; otherwise every row and column would need a new_group().
mesh_2d = init_device_mesh(
    "cpu", (2, ranks // 2), mesh_dim_names=("replicate", "shard")
)
for name, members in (
    ("replicate", [rank % (ranks // 2), rank % (ranks // 2) + ranks // 2]),
    ("shard", [k for k in range(ranks) if k // (ranks // 2) == rank // (ranks // 2)]),
):
    group = mesh_2d.get_group(name)
    assert dist.get_process_group_ranks(group) == members
    total = torch.tensor(float(rank))
    dist.all_reduce(total, group=group)
    assert total.item() == sum(members)

# Hybrid sharding: parameters are sharded over "shard" and replicated over "replicate".
model = fully_shard(copy.deepcopy(whole), mesh=mesh_2d)
assert model.net1.weight.placements == (Replicate(), Shard(0))
hybrid = equals_one_process(model, mesh_2d)

# Three dimensions: slices by name are meshes that use the same groups.
mesh_3d = init_device_mesh(
    "cpu", (1, ranks // 2, 2), mesh_dim_names=("replicate", "shard", "tp")
)
hsdp_mesh, tp_mesh = mesh_3d["replicate", "shard"], mesh_3d["tp"]
assert hsdp_mesh.shape == (1, ranks // 2) and tp_mesh.mesh_dim_names == ("tp",)
assert tp_mesh.get_local_rank() == mesh_3d.get_local_rank("tp") == rank % 2
assert mesh_3d["shard"].mesh.tolist() == list(range(rank % 2, ranks, 2))
assert hsdp_mesh["shard"] == mesh_3d["shard"]

model = parallelize_module(
    copy.deepcopy(whole),
    tp_mesh,
    {"net1": ColwiseParallel(), "net2": RowwiseParallel()},
)
model = fully_shard(model, mesh=hsdp_mesh)
assert model.net1.weight.device_mesh == mesh_3d
with_tp = equals_one_process(model, hsdp_mesh)

flat = mesh_3d["replicate", "shard"]._flatten("dp")
assert flat.size() == mesh_3d["dp"].size() == ranks // 2
if rank == 0:
    print(f"{mesh_2d}: forward and backward send {hybrid}")
    print(f"{mesh_3d}: {with_tp}")
dist.destroy_process_group()
