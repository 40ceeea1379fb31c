"""What PyTorch's own tests of DTensor, tensor parallelism and FSDP2 ask of a tensor."""

import itertools

import numpy as np
import pytest
from meshes import line, square

import dtensor.torch as torch
import dtensor.torch.distributed._functional_collectives as funcol
from dtensor import init_device_mesh
from dtensor.torch import nn
from dtensor.torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from dtensor.torch.distributed.tensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)
from dtensor.torch.distributed.tensor._utils import (
    compute_local_shape_and_global_offset,
)
from dtensor.torch.distributed.tensor.debug import CommDebugMode
from dtensor.torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5))


def steps(net, dtype, count=3):
    """Losses of a few steps of Adam."""
    optim = torch.optim.Adam(net.parameters(), lr=0.1)
    x = torch.arange(10.0, dtype=dtype).reshape(2, 5) / 10
    losses = []
    for _ in range(count):
        optim.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        optim.step()
        losses.append(loss.item())
    return losses


# --- making ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["empty", "ones", "rand", "randn", "zeros"])
@pytest.mark.parametrize("size", [(), (3,), [2, 3]])
def test_a_size_can_be_given_by_name(name, size):
    made = getattr(torch, name)(size=size, dtype=torch.float64)
    assert made.shape == tuple(size) and made.dtype == torch.float64


@pytest.mark.parametrize("name", ["new_empty", "new_ones", "new_zeros"])
def test_a_new_tensor_takes_its_size_by_name(name):
    made = getattr(torch.ones(4, dtype=torch.int32), name)(size=(2, 3))
    assert made.shape == (2, 3) and made.dtype == torch.int32


def test_a_size_is_given_once():
    with pytest.raises(TypeError, match="twice"):
        torch.zeros(2, size=(3,))


def test_broadcast_to_keeps_the_lengths_that_are_minus_one():
    x = torch.arange(6).reshape(2, 1, 3)
    assert torch.broadcast_to(x, (-1, 4, 3)).shape == (2, 4, 3)
    assert torch.broadcast_to(x, (5, -1, 4, -1)).shape == (5, 2, 4, 3)


@pytest.mark.parametrize("op", ["sum", "avg", "product", "max", "min"])
def test_a_tensor_is_distributed_as_addends_that_combine_to_it(ranks, op):
    def body():
        x = torch.arange(15.0).reshape(5, 3) - 4
        for mesh in (line(), square()):
            kinds = [Replicate(), Shard(0), Shard(1), Partial(op)]
            for placements in itertools.product(kinds, repeat=mesh.ndim):
                for source in (0, None):
                    d = distribute_tensor(x, mesh, placements, src_data_rank=source)
                    assert d.placements == placements
                    assert torch.equal(d.full_tensor(), x)
                    assert not np.shares_memory(d.to_local().numpy(), x.numpy())

    ranks(body)


def test_integers_are_not_distributed_as_addends_of_a_mean(ranks):
    def body():
        with pytest.raises(TypeError, match="no exact value"):
            distribute_tensor(torch.arange(3), line(), [Partial("avg")])

    ranks(body)


# --- asking ---------------------------------------------------------------------------


def test_a_rank_outside_the_mesh_finds_tensors_equal(ranks):
    def body():
        mesh = DeviceMesh("cpu", [0])
        a, b = (DTensor.from_local(torch.ones(2), mesh, [Shard(0)]) for _ in "ab")
        assert a.equal(b) is True and torch.equal(a, b) is True

    ranks(body)


def test_views_share_the_storage_of_their_tensor():
    x = torch.zeros(4, 3)
    view, memory = x[1:, 1], x.untyped_storage()
    assert view.untyped_storage().data_ptr() == memory.data_ptr() == x.data_ptr()
    assert view.storage_offset() == 4 and view.data_ptr() == x.data_ptr() + 16
    assert memory.nbytes() == memory.size() == len(memory) == 48
    assert memory.device == x.device
    assert x.clone().untyped_storage().data_ptr() != memory.data_ptr()


def test_the_parts_of_ranks_are_told_under_the_newest_path(ranks):
    def body():
        mesh = line()
        shape, offset = compute_local_shape_and_global_offset((9, 2), mesh, [Shard(0)])
        d = distribute_tensor(torch.arange(18).reshape(9, 2), mesh, [Shard(0)])
        assert d.to_local().shape == shape and offset[1] == 0

    ranks(body)


def test_collectives_are_counted_under_all_their_names(ranks):
    def body():
        mesh, counted = line(), CommDebugMode()
        x = torch.ones(2 * mesh.size())
        with counted:
            part = funcol.reduce_scatter_single(x, "sum", 0, mesh)
            whole = funcol.all_gather_single(part, 0, mesh)
            funcol.all_reduce_coalesced([x], "sum", mesh)
        assert not isinstance(whole, funcol.AsyncCollectiveTensor)
        assert torch.equal(whole, x * mesh.size())
        names = torch.ops.c10d_functional
        assert counted.comm_counts == counted.get_comm_counts()
        if mesh.size() > 1:
            assert counted.comm_counts[names.all_reduce_coalesced] == 1
            assert counted.comm_counts[names.reduce_scatter_tensor] == 1

    ranks(body)


# --- fully_shard ----------------------------------------------------------------------


@pytest.mark.parametrize("reshard", [True, False])
def test_whole_parameters_have_the_dialect_of_the_module(ranks, reshard):
    def body():
        net = fully_shard(model(), reshard_after_forward=reshard)
        seen = []
        net[2].register_forward_pre_hook(lambda layer, _: seen.append(layer.weight))
        net(torch.ones(2, 5))
        assert type(seen[0]) is torch.Tensor
        assert isinstance(seen[0], nn.Parameter)
        assert all(type(p) in (torch.Tensor, DTensor) for p in net.parameters())

    ranks(body)


@pytest.mark.parametrize("policy", [None, "float64"])
def test_a_module_can_be_cast_after_it_was_sharded(ranks, policy):
    def body():
        dtype = policy and getattr(torch, policy)
        net = model()
        for layer in (net[0], net[2], net):
            fully_shard(layer, mp_policy=MixedPrecisionPolicy(param_dtype=dtype))
        first = steps(net, torch.float64 if policy else torch.float32)
        net.to(torch.float64)
        again = steps(net, torch.float64)
        assert {p.dtype for p in net.parameters()} == {torch.float64}
        assert {p.grad.dtype for p in net.parameters()} == {torch.float64}
        alone = model()
        assert np.allclose(steps(alone, torch.float32), first, rtol=1e-5)
        assert np.allclose(steps(alone.double(), torch.float64), again, rtol=1e-4)

    ranks(body)


def test_a_module_that_is_parallel_can_be_cast_after_it_was_sharded(ranks):
    def body():
        mesh = init_device_mesh("cpu", (1, line().size()), mesh_dim_names=("dp", "tp"))
        plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        net = parallelize_module(model(), mesh["tp"], plan)
        fully_shard(net, mesh=mesh["dp"]).to(torch.float64)
        expected = steps(model().double(), torch.float64)
        assert np.allclose(steps(net, torch.float64), expected)

    ranks(body)
