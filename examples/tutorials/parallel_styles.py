"""Parallel styles: plans by pattern, inputs and outputs of modules, a custom style, and
the whole older API of PyTorch 2.0 (PairwiseParallel and related names).

./run ranks 4 python examples/tutorials/parallel_styles.py

Every module returns the same as in one process.
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
from dtensor.torch.distributed._tensor import (  # the older path
    DeviceMesh,
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
)
from dtensor.torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from dtensor.torch.distributed.tensor import distribute_module
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PairwiseParallel,
    PairwiseSequenceParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from dtensor.torch.distributed.tensor.parallel.fsdp import enable_2d_with_fsdp
from dtensor.torch.distributed.tensor.parallel.multihead_attention_tp import (
    TensorParallelMultiheadAttention,
)
from dtensor.torch.distributed.tensor.parallel.style import (
    make_input_replicate_1d,
    make_input_shard_1d_last_dim,
    make_output_replicate_1d,
    make_output_tensor,
)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(12, 24)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(24, 12)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12)
        self.mlp = MLP()

    def forward(self, x):
        return x + self.mlp(self.norm(x))


def plans_by_pattern(mesh):
    """One line of a plan for all blocks."""
    model = nn.Sequential(Block(), Block())
    parallel = parallelize_module(
        copy.deepcopy(model),
        mesh,
        {
            "*.mlp.net1": ColwiseParallel(),
            "*.mlp.net2": RowwiseParallel(),
        },
    )
    assert parallel[1].mlp.net1.weight.placements == (Shard(0),)
    x = torch.randn(4, 12)
    torch.testing.assert_close(parallel(x), model(x))


def sequences(mesh):
    """Sharded outside, whole inside: styles that only prepare inputs and outputs."""
    block = Block()
    parallel = parallelize_module(
        copy.deepcopy(block),
        mesh,
        {
            "": PrepareModuleInputOutput(
                input_layouts=(Replicate(),),
                desired_input_layouts=(Shard(0),),
                output_layouts=Shard(0),
                desired_output_layouts=Replicate(),
            ),
            "norm": SequenceParallel(sequence_dim=0),
            "mlp": PrepareModuleInput(
                input_layouts=(Shard(0),), desired_input_layouts=(Replicate(),)
            ),
            "mlp.net1": ColwiseParallel(),
            "mlp.net2": RowwiseParallel(
                output_layouts=Shard(0), use_local_output=False
            ),
        },
    )
    x = torch.randn(4 * mesh.size(), 12)
    torch.testing.assert_close(parallel(x), block(x))


class EveryColumnWhole(ParallelStyle):
    """A custom style: the columns of a layer are sharded, its output is replicated."""

    def _apply(self, module, device_mesh):
        def cut(name, module, device_mesh):
            for key, parameter in module.named_parameters():
                sharded = distribute_tensor(parameter, device_mesh, [Shard(0)])
                module.register_parameter(key, nn.Parameter(sharded))

        return distribute_module(
            module,
            device_mesh,
            cut,
            lambda _, inputs, mesh: DTensor.from_local(inputs[0], mesh, [Replicate()]),
            lambda _, output, mesh: output.full_tensor(),
        )


def a_style_of_ones_own(mesh):
    """A subclass of ParallelStyle."""
    layer, x = nn.Linear(12, 8), torch.randn(5, 12)
    parallel = parallelize_module(copy.deepcopy(layer), mesh, EveryColumnWhole())
    torch.testing.assert_close(parallel(x), layer(x))
    output = parallelize_module(
        copy.deepcopy(layer),
        mesh,
        PrepareModuleOutput(
            output_layouts=Replicate(),
            desired_output_layouts=Shard(1),
            use_local_output=False,
        ),
    )(x)
    assert output.placements == (Shard(1),)


def pairwise(mesh):
    """PyTorch 2.0: pairs of layers, attention, functions that prepare."""
    model, x = MLP(), torch.randn(4, 12)
    parallel = parallelize_module(copy.deepcopy(model), mesh, PairwiseParallel())
    torch.testing.assert_close(parallel(x), model(x))

    by_name = parallelize_module(
        copy.deepcopy(model),
        mesh,
        {
            "net1": ColwiseParallel(make_input_replicate_1d, None),
            "net2": RowwiseParallel(make_input_shard_1d_last_dim, make_output_tensor),
        },
    )
    torch.testing.assert_close(by_name(x), model(x))

    # Each rank has its own rows: gather them before, shard them after.
    rows = torch.randn(3 * mesh.size(), 12)
    mine = torch.chunk(rows, mesh.size())[mesh.get_local_rank()]
    rowwise = parallelize_module(copy.deepcopy(model), mesh, PairwiseSequenceParallel())
    expected = torch.chunk(model(rows), mesh.size())[mesh.get_local_rank()]
    torch.testing.assert_close(rowwise(mine), expected)

    whole = make_output_replicate_1d(distribute_tensor(rows, mesh, [Shard(0)]), mesh)
    assert whole.placements == (Replicate(),)


def attention(mesh):
    """PyTorch 2.0: MultiheadAttention with sharded heads."""

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.attn = nn.MultiheadAttention(24, 12, batch_first=True)

        def forward(self, x):
            output, _ = self.attn(x, x, x, need_weights=False)
            return output

    model, x = Wrapped(), torch.randn(2, 5, 24)
    parallel = parallelize_module(copy.deepcopy(model), mesh, PairwiseParallel())
    assert isinstance(parallel.attn, TensorParallelMultiheadAttention)
    torch.testing.assert_close(parallel(x), model(x))


def with_fsdp(mesh):
    """PyTorch 2.0: pairs of layers under FullyShardedDataParallel, on a 2-D mesh."""
    assert enable_2d_with_fsdp()
    ranks = mesh.size()
    tp_size = 2 if ranks % 2 == 0 else 1
    grid = torch.reshape(torch.arange(ranks), (ranks // tp_size, tp_size))
    mesh_2d = DeviceMesh("cpu", grid, mesh_dim_names=("dp", "tp"))
    model = MLP()
    tp_model = parallelize_module(
        copy.deepcopy(model), mesh_2d, PairwiseParallel(), tp_mesh_dim=1
    )
    parallel = FSDP(tp_model, process_group=mesh_2d["dp"])
    batch = torch.randn(2 * mesh_2d["dp"].size(), 12)
    mine = torch.chunk(batch, mesh_2d["dp"].size())[mesh_2d["dp"].get_local_rank()]
    parallel(mine).square().mean().backward()
    model(batch).square().mean().backward()
    gradient = parallel.module.net1.weight.grad
    torch.testing.assert_close(gradient, model.net1.weight.grad)


dist.init_process_group()
mesh = DeviceMesh("cpu", torch.arange(dist.get_world_size()))
torch.manual_seed(0)
for snippet in (
    plans_by_pattern,
    sequences,
    a_style_of_ones_own,
    pairwise,
    attention,
    with_fsdp,
):
    snippet(mesh)
    if dist.get_rank() == 0:
        print("done:", snippet.__doc__)
dist.destroy_process_group()
