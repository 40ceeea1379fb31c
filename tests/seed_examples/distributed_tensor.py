"""The examples of PyTorch's page on torch.distributed.tensor, with other import lines.

They are as on the page; what it leaves out (a mesh, a module) is filled in.
"""

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.distributed._functional_collectives as funcol
import dtensor.torch.nn as nn
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)
from dtensor.torch.distributed.tensor.debug import CommDebugMode, visualize_sharding
from dtensor.torch.distributed.tensor.experimental import local_map, register_sharding

aten = torch.ops.aten

dist.init_process_group()
device_mesh = mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)

# --- full_tensor ----------------------------------------------------------------------

dtensor = distribute_tensor(torch.randn(8, 6), mesh, [Shard(0)])
whole = dtensor.redistribute(placements=[Replicate()] * mesh.ndim).to_local()
assert torch.equal(whole, dtensor.full_tensor())

# --- redistribute ---------------------------------------------------------------------

local = torch.ones(4, 8)
for source, target, collective in [
    (Shard(0), Replicate(), torch.ops.c10d_functional.all_gather_into_tensor),
    (Shard(0), Shard(1), torch.ops.c10d_functional.all_to_all_single),
    (Replicate(), Shard(0), None),
    (Partial(), Replicate(), torch.ops.c10d_functional.all_reduce),
    (Partial(), Shard(0), torch.ops.c10d_functional.reduce_scatter_tensor),
]:
    before = DTensor.from_local(local, mesh, [source])
    with CommDebugMode() as comm_mode:
        after = before.redistribute(mesh, [target])
    assert after.placements == (target,) and after.shape == before.shape
    assert comm_mode.get_total_counts() == (collective is not None)
    assert collective is None or comm_mode.get_comm_counts()[collective] == 1

# --- factory functions ----------------------------------------------------------------

for factory in (zeros, ones, empty, rand, randn):
    for size in [(1, 2, 3)], [[1, 2, 3]], [1, 2, 3]:
        made = factory(
            *size,
            requires_grad=False,
            dtype=torch.float32,
            layout=torch.strided,
            device_mesh=device_mesh,
            placements=[Shard(2)],
        )
        assert made.shape == (1, 2, 3) and made.placements == (Shard(2),)
sevens = full((2, 3), 7.0, device_mesh=device_mesh, placements=[Replicate()])
assert sevens.sum().item() == 42.0

# --- distribute_module ----------------------------------------------------------------

mod = distribute_module(
    nn.Linear(6, 8, bias=False),
    device_mesh,
    partition_fn=lambda name, module, mesh: module.register_parameter(
        "weight", nn.Parameter(distribute_tensor(module.weight, mesh, [Shard(0)]))
    ),
    input_fn=lambda module, inputs, mesh: tuple(
        DTensor.from_local(x, mesh, [Replicate()]) for x in inputs
    ),
    output_fn=lambda module, outputs, mesh: outputs.full_tensor(),
)
assert mod(torch.ones(3, 6)).shape == (3, 8)

# --- CommDebugMode --------------------------------------------------------------------

mod = distribute_tensor(torch.ones(8, 6, requires_grad=True), mesh, [Shard(0)])
comm_mode = CommDebugMode()
with comm_mode:
    mod.sum().backward()
if dist.get_rank() == 0:
    print(comm_mode.get_comm_counts())
assert mod.grad.placements == (Shard(0),)

# --- visualize_sharding ---------------------------------------------------------------

visualize_sharding(dtensor, header="rows", use_rich=False)

# --- local_map ------------------------------------------------------------------------


def mm_allreduce_forward(device_mesh, W, X):
    partial_sum_tensor = torch.mm(W, X)
    reduced_tensor = funcol.all_reduce(partial_sum_tensor, "sum", device_mesh)
    return reduced_tensor


W = torch.randn(12, 8, requires_grad=False)
X = torch.randn(8, 16, requires_grad=False)
Y = torch.mm(W, X)
row_wise = [Shard(0)]  # row-wise sharding placements on 1-d mesh
col_wise = [Shard(1)]  # col-wise sharding placements on 1-d mesh

# local_mm_allreduce_forward is the function wrapped with DTensor/Tensor convertion
local_mm_allreduce_forward = local_map(
    mm_allreduce_forward,
    out_placements=[Replicate()],
    in_placements=[col_wise, row_wise],
    device_mesh=device_mesh,
)

W_dt = distribute_tensor(W, device_mesh, (col_wise))  # col-wisely sharded W tensor
X_dt = distribute_tensor(X, device_mesh, (row_wise))  # row-wisely sharded X tensor
Y_dt = local_mm_allreduce_forward(
    device_mesh, W_dt, X_dt
)  # apply local_mm_allreduce_forward to DTensors

assert Y_dt.placements == (Replicate(),)
torch.testing.assert_close(Y_dt.to_local(), Y)

# --- register_sharding ----------------------------------------------------------------


@register_sharding(aten._softmax.default)
def custom_softmax_sharding(x, dim, half_to_float):
    softmax_dim = dim if dim >= 0 else dim + x.ndim
    acceptable_shardings = []

    all_replicate = ([Replicate()], [Replicate(), None, None])
    acceptable_shardings.append(all_replicate)

    for sharding_dim in range(x.ndim):
        if sharding_dim != softmax_dim:
            all_sharded = (
                [Shard(sharding_dim)],
                [Shard(sharding_dim), None, None],
            )
            acceptable_shardings.append(all_sharded)

    return acceptable_shardings


softmax = torch.softmax(dtensor, dim=-1)
assert softmax.placements == (Shard(0),)
torch.testing.assert_close(softmax.full_tensor(), torch.softmax(whole, dim=-1))

dist.destroy_process_group()
