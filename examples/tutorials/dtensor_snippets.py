"""The short examples of PyTorch's documentation of DTensor, one after the other.

./run ranks 4 python examples/tutorials/dtensor_snippets.py
"""

import copy

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn as nn
import dtensor.torch.nn.functional as F
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    zeros,
)
from dtensor.torch.distributed.tensor.debug import CommDebugMode
from dtensor.torch.distributed.tensor.experimental import (
    implicit_replication,
    register_sharding,
)
from dtensor.torch.distributed.tensor.parallel import loss_parallel

aten = torch.ops.aten


def tensors(mesh):
    """Shard a tensor, make one from existing parts, move between layouts."""
    rank, ranks = mesh.get_local_rank(), mesh.size()
    big_tensor = torch.randn(100, 12)
    cut = distribute_tensor(big_tensor, mesh, [Shard(dim=0)])
    assert torch.equal(cut.to_local(), torch.chunk(big_tensor, ranks)[rank])
    assert torch.equal(cut.full_tensor(), big_tensor)
    columns = cut.redistribute(mesh, [Shard(1)])
    assert torch.equal(columns.to_local(), torch.chunk(big_tensor, ranks, 1)[rank])

    blank = zeros(100, 12, device_mesh=mesh, placements=[Shard(0)])
    assert blank.to_local().shape == cut.to_local().shape

    local = torch.full((2, 3), rank + 1.0)
    stacked = DTensor.from_local(local, mesh, [Shard(0)])
    assert stacked.shape == (2 * ranks, 3)
    addends = DTensor.from_local(local, mesh, [Partial()])
    assert torch.all(addends == ranks * (ranks + 1) / 2)

    # Gradients flow back through operators and moves.
    weight = distribute_tensor(torch.ones(12, requires_grad=True), mesh, [Replicate()])
    torch.mv(cut, weight).sum().backward()
    gradient, expected = weight.grad.full_tensor(), torch.sum(big_tensor, 0)
    torch.testing.assert_close(gradient, expected, atol=1e-4, rtol=0.0)

    # Mixing a Tensor with a DTensor is an error unless it may count as replicated.
    try:
        cut + torch.ones(12)
    except RuntimeError as error:
        assert "got mixed" in str(error)
    with implicit_replication():
        assert (cut + torch.ones(12)).placements == (Shard(0),)


def modules(mesh):
    """Shard the layers of a module with a custom function."""

    class MyModule(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(8, 8)
            self.fc2 = nn.Linear(8, 8)
            self.relu = nn.ReLU()

        def forward(self, x):
            return self.relu(self.fc1(x) + self.fc2(x))

    def shard_params(name, module, device_mesh):
        if isinstance(module, nn.Linear):
            for key, parameter in module.named_parameters():
                cut = distribute_tensor(parameter, device_mesh, [Shard(0)])
                module.register_parameter(key, nn.Parameter(cut))

    def replicate_inputs(module, inputs, device_mesh):
        return tuple(DTensor.from_local(x, device_mesh, [Replicate()]) for x in inputs)

    def gather_outputs(module, outputs, device_mesh):
        return outputs.full_tensor()

    module = MyModule()
    x = torch.randn(3, 8)
    expected = module(x)
    sharded = distribute_module(
        copy.deepcopy(module), mesh, shard_params, replicate_inputs, gather_outputs
    )
    assert sharded.fc1.weight.placements == sharded.fc1.bias.placements == (Shard(0),)
    torch.testing.assert_close(sharded(x), expected)


def losses(mesh):
    """Compute a loss on logits that are sharded along the classes."""
    logits = torch.randn(4, 16, requires_grad=True)
    target = torch.randint(16, (4,))
    cut = distribute_tensor(logits, mesh, placements=[Shard(1)])
    with CommDebugMode() as comm, loss_parallel():
        loss = F.cross_entropy(cut, target, reduction="mean")
        loss.backward()  # inside the context, too
    gathered = torch.ops.c10d_functional.all_gather_into_tensor
    assert comm.get_comm_counts()[gathered] == 0  # no logits
    expected = F.cross_entropy(logits, target)
    expected.backward()
    torch.testing.assert_close(loss.full_tensor(), expected)
    assert cut.grad.placements == (Shard(1),)
    torch.testing.assert_close(cut.grad.full_tensor(), logits.grad)


def rules(mesh):
    """Register the input and output layouts of an operator."""
    x = distribute_tensor(torch.randn(4, 6), mesh, [Shard(0)])
    expected = torch.softmax(x.full_tensor(), dim=-1)

    @register_sharding(aten._softmax.default)
    def custom_softmax_sharding(x, dim, half_to_float):
        softmax_dim = dim if dim >= 0 else dim + x.ndim
        acceptable = [([Replicate()], [Replicate(), None, None])]
        for other in range(x.ndim):
            if other != softmax_dim:
                acceptable.append(([Shard(other)], [Shard(other), None, None]))
        return acceptable

    result = torch.softmax(x, dim=-1)
    assert result.placements == (Shard(0),)
    torch.testing.assert_close(result.full_tensor(), expected)


dist.init_process_group()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
for snippet in (tensors, modules, losses, rules):
    snippet(mesh)
    if dist.get_rank() == 0:
        print("done:", snippet.__doc__)
dist.destroy_process_group()
