"""dtensor.torch: PyTorch's names, and PyTorch's meaning of arguments."""

import importlib
import re

import numpy as np
import pytest
from meshes import line
from torch_rows import MODULES, NAMES, ROWS, TENSOR

import dtensor
import dtensor.torch as torch
import dtensor.torch.distributed as dist
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode

# --- modules --------------------------------------------------------------------------


def same(theirs, ours):
    """Our own, or what gives the same in PyTorch's dialect: a subclass, a wrapper."""
    if isinstance(ours, type):
        return issubclass(theirs, ours)
    if theirs is ours:
        return True
    return getattr(theirs, "__wrapped__", theirs).__name__ == ours.__name__


@pytest.mark.parametrize("path, ours, names", MODULES, ids=[row[0] for row in MODULES])
def test_a_module_of_torch_has_our_names(path, ours, names):
    theirs = importlib.import_module(f"dtensor.torch.{path}")
    module = importlib.import_module(f"dtensor.{ours}")
    for name in names.split():
        assert same(getattr(theirs, name), getattr(module, name)), name
    assert f"torch.{path}" in theirs.__doc__ or "tensor.parallel" in theirs.__doc__


@pytest.mark.parametrize("path", ["distributed.tensor", "distributed._tensor"])
def test_torch_distributed_tensor_is_dtensor(path):
    theirs = importlib.import_module(f"dtensor.torch.{path}")
    for name in TENSOR.split():
        assert same(getattr(theirs, name), getattr(dtensor, name)), name
    assert theirs.distribute_module.__module__ == "dtensor.nn._distribute"
    assert theirs.parallel.parallelize_module and theirs.debug.CommDebugMode


def test_modules_are_reached_by_attributes_too():
    assert torch.relu is dtensor.relu and torch.nn.functional.relu
    assert torch.distributed.tensor.parallel.style.ColwiseParallel
    assert torch.utils.data.DataLoader and torch.optim.lr_scheduler.StepLR
    assert issubclass(torch.Tensor, dtensor.Tensor)
    assert isinstance(torch.ones(2), torch.Tensor)
    assert torch.no_grad is dtensor.no_grad


# --- meaning --------------------------------------------------------------------------


def plain(value):
    """Numbers in lists and tuples, of a call's result."""
    if isinstance(value, tuple):
        return tuple(plain(each) for each in value)
    if isinstance(value, torch.Tensor):
        if isinstance(value, dtensor.DTensor):
            value = value.full_tensor()
        return value.detach().tolist()
    return value


def close(got, want):
    got, want = plain(got), plain(want)
    if isinstance(want, tuple):
        return len(got) == len(want) and all(map(close, got, want))
    return np.shape(got) == np.shape(want) and np.allclose(got, want, atol=1e-6)


@pytest.mark.parametrize("call, want", ROWS, ids=[row[0] for row in ROWS])
def test_a_function_means_what_it_means_in_torch(call, want):
    assert close(eval(call, NAMES), want)


def test_functions_mean_the_same_of_sharded_tensors(ranks):
    rows = [row for row in ROWS if re.search(r"\b[xyzb]\b", row[0])]

    def body():
        mesh = line()
        for placement in (Shard(0), Shard(1)):
            names = {"torch": torch, "np": np} | {
                name: distribute_tensor(NAMES[name], mesh, [placement])
                for name in ("x", "y", "z", "b")
            }
            for call, want in rows:
                got = eval(call.replace("torch.tensor", "np.array"), names)
                assert close(got, want), (call, placement)

    ranks(body)


def test_the_gradient_of_max_goes_to_the_element_that_is_given():
    x = torch.tensor([[1.0, 1.0, 0.0]], requires_grad=True)
    torch.max(x, 1).values.sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0, 0.0]]
    x.grad = None
    torch.amax(x, 1).sum().backward()
    assert x.grad.tolist() == [[0.5, 0.5, 0.0]]


def test_a_new_tensor_is_of_this_rank_and_of_the_default_dtype():
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn):
        x = make(2, 3, requires_grad=True)
        assert type(x) is torch.Tensor and x.shape == (2, 3) and x.requires_grad
        assert x.dtype == torch.get_default_dtype() == torch.float32
        assert make((2,), dtype=torch.float64).dtype == torch.float64
        assert make([2], device="meta").device == "meta"
    with torch.device("meta"):
        assert torch.zeros(3).device == "meta"
    assert torch.zeros_like(torch.ones(2), requires_grad=True).requires_grad
    assert torch.ones_like(torch.zeros(2, device="meta")).device == "meta"
    above = torch.tensor([1, -1]) > 0
    for pair, kind in (((1.0, 0), torch.float32), ((1, 2), torch.int64)):
        assert torch.where(above, *pair).dtype == kind
    array = np.ones(3)
    torch.from_numpy(array)[0] = 5.0
    assert array[0] == 5.0 and torch.tensor(array)[0] == 5.0
    with pytest.raises(TypeError, match="expected np.ndarray"):
        torch.from_numpy([1.0])
    with pytest.raises(RuntimeError, match="cuda"):
        torch.zeros(3, device="cuda")


def test_random_tensors_are_those_of_the_seed():
    for draw in (
        lambda **g: torch.rand(4, **g),
        lambda **g: torch.randn((2, 2), **g),
        lambda **g: torch.randint(0, 9, (5,), **g),
        lambda **g: torch.randperm(6, **g),
        lambda **g: torch.normal(0.0, 2.0, size=(3,), **g),
    ):
        torch.manual_seed(5)
        first = draw()
        torch.manual_seed(5)
        assert torch.equal(first, draw())
        assert torch.equal(first, draw(generator=torch.Generator().manual_seed(5)))


def test_what_is_not_there_says_so():
    with pytest.raises(AttributeError, match="docs/torch_parity.md"):
        torch.no_such_name  # noqa: B018
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        torch.narrow(NAMES["x"], 1, 2, 2)


def test_bfloat16_is_there_with_ml_dtypes():
    pytest.importorskip("ml_dtypes")
    x = torch.ones(3, dtype=torch.bfloat16)
    assert x.dtype == torch.bfloat16 and torch.is_floating_point(x)
    assert x.to(torch.float32).tolist() == [1.0, 1.0, 1.0]


def test_assert_close_compares_as_torch_does():
    x = NAMES["x"]
    torch.testing.assert_close(x, x + 1e-7)
    torch.testing.assert_close({"a": [x, 1.0]}, {"a": [x, 1.0 + 1e-9]})
    for wrong in (x + 1e-3, x[0], x.double(), [x]):
        with pytest.raises(AssertionError):
            torch.testing.assert_close(x, wrong)
    with pytest.raises(AssertionError, match="mine"):
        torch.testing.assert_close(x, x + 1, msg="mine")
    with pytest.raises(ValueError, match="rtol and atol"):
        torch.testing.assert_close(x, x, rtol=0.1)


# --- torch.distributed ----------------------------------------------------------------


def test_collectives_work_in_place(ranks):
    def body():
        dist.init_process_group("gloo")
        assert dist.is_initialized() and dist.get_backend() == "mpi"
        rank, n = dist.get_rank(), dist.get_world_size()
        x = torch.tensor([rank + 1.0, 2.0])
        assert dist.all_reduce(x) is None
        assert x.tolist() == [n * (n + 1) / 2, 2.0 * n]
        x = torch.tensor(float(rank))
        assert dist.all_reduce(x, op=dist.ReduceOp.MAX, async_op=True).wait()
        assert dist.ReduceOp.BOR == "bitwise_or" and "SUM" in dir(dist.ReduceOp)
        assert x.item() == n - 1
        array = np.full(3, rank)
        dist.broadcast(array, src=n - 1)
        assert (array == n - 1).all()
        parts = [torch.zeros(2) for _ in range(n)]
        dist.all_gather(parts, torch.full((2,), float(rank)))
        assert plain(tuple(parts)) == tuple([float(k)] * 2 for k in range(n))
        joined = torch.zeros(2 * n)
        dist.all_gather_into_tensor(joined, torch.full((2,), float(rank)))
        assert joined.tolist() == [float(k // 2) for k in range(2 * n)]
        part = torch.zeros(2)
        dist.reduce_scatter_tensor(part, joined)
        assert part.tolist() == [float(n * rank)] * 2
        dist.barrier(dist.group.WORLD)
        dist.destroy_process_group()

    ranks(body)


def test_a_group_is_a_mesh_of_one_dimension(ranks):
    def body():
        dist.init_process_group()
        first = dist.new_group([0])
        rank = dist.get_rank()
        assert dist.get_rank(first) == (0 if rank == 0 else -1)
        assert dist.get_world_size(first) == (1 if rank == 0 else -1)
        x = torch.tensor(rank + 5.0)
        dist.all_reduce(x, group=first)
        assert x.item() == rank + 5.0
        dist.barrier(first)
        with pytest.raises(ValueError, match="rank 7 of 8"):
            dist.init_process_group(rank=7, world_size=8)
        with pytest.raises(ValueError, match="src or group_src"):
            dist.broadcast(x)

    ranks(body)


def test_broadcast_takes_the_number_of_a_rank_among_all(ranks):
    def body():
        dist.init_process_group()
        rank, n = dist.get_rank(), dist.get_world_size()
        group = dist.new_group(list(range(n))[::-1][:2])
        if dist.get_rank(group) < 0:
            return
        x = torch.tensor([rank + 1.0], requires_grad=True)
        got = dist.nn.functional.broadcast(x, n - 1, group)
        assert got.tolist() == [float(n)]
        got.sum().backward()
        assert x.grad.item() == (dist.get_world_size(group) if rank == n - 1 else 0.0)
        for broadcast in (dist.broadcast, dist.nn.functional.broadcast):
            with pytest.raises(ValueError, match=f"rank {n} is not part of group"):
                broadcast(torch.ones(2), n, group)

    ranks(body)


@pytest.mark.mpi
def test_a_communicator_of_a_mesh_is_a_group(square):
    dist.init_process_group()
    for dim in (0, 1):
        group = square.get_group(dim)
        members = square.mesh.take(square.get_coordinate()[1 - dim], axis=1 - dim)
        assert dist.get_process_group_ranks(group) == members.tolist()
        x = torch.tensor(float(dist.get_rank()))
        dist.all_reduce(x, group=group)
        assert x.item() == members.sum()
        dist.broadcast(x, group_src=0, group=group)


# --- torch.ops ------------------------------------------------------------------------


def test_register_sharding_takes_the_names_of_aten(ranks):
    op = torch.ops.aten._softmax.default
    seen = []

    @torch.distributed.tensor.experimental.register_sharding(op)
    def whole(x, dim, half_to_float):
        seen.append((x.ndim, dim, half_to_float))
        return [([Replicate()], [Replicate(), None, None])]

    def body():
        x = distribute_tensor(torch.ones(4, 6), line(), [Shard(0)])
        return torch.softmax(x, dim=-1).placements

    try:
        assert set(ranks(body)) == {(Replicate(),)}
    finally:
        op.operator.replace_rule(None)
    assert set(seen) == {(2, -1, False)} and repr(op) == (
        "<OpOverload(op='aten._softmax.default')>"
    )


def test_aten_tells_what_it_has():
    with pytest.raises(AttributeError, match="aten has _log_softmax"):
        torch.ops.aten.no_such_operator  # noqa: B018
    with pytest.raises(AttributeError, match="add has Scalar, Tensor"):
        torch.ops.aten.add.out  # noqa: B018


def test_collectives_are_counted_under_the_names_of_c10d(ranks):
    def body():
        mesh = line()
        x = dtensor.DTensor.from_local(torch.ones(4), mesh, [Partial()])
        with CommDebugMode() as comm:
            x.full_tensor()
        name = torch.ops.c10d_functional.all_reduce
        assert comm.get_comm_counts()[name] == (mesh.size() > 1)

    ranks(body)


def test_kernels_of_attention_can_be_named():
    kernels = torch.nn.attention
    x = torch.randn(1, 2, 3, 4)
    attend = torch.nn.functional.scaled_dot_product_attention
    expected = attend(x, x, x)
    for backends in (kernels.SDPBackend.MATH, [*kernels.SDPBackend]):
        with kernels.sdpa_kernel(backends):
            assert torch.equal(attend(x, x, x), expected)
    with pytest.raises(AssertionError, match="SDPBackend"):
        kernels.sdpa_kernel("math").__enter__()


def test_a_module_is_checkpointed_in_place():
    wrapper = torch.distributed.algorithms._checkpoint.checkpoint_wrapper
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    names = [name for name, _ in model.named_parameters()]
    x = torch.rand(2, 3)
    model(x).sum().backward()
    want = model[0].weight.grad.tolist()
    calls, forward = [], model[0].forward
    model[0].forward = lambda x: calls.append(None) or forward(x)
    wrapper.apply_activation_checkpointing(
        model, check_fn=lambda module: isinstance(module, torch.nn.Linear)
    )
    model.zero_grad()
    model(x).sum().backward()
    assert len(calls) == 2 and model[0].weight.grad.tolist() == want
    assert [name for name, _ in model.named_parameters()] == names


def test_older_paths_are_there():
    from dtensor.torch.distributed import _composable  # noqa: PLC0415

    old = importlib.import_module("dtensor.torch.distributed._tensor._utils")
    for folder in ("_tensor", "tensor"):
        path = f"dtensor.torch.distributed.{folder}.placement_types"
        assert importlib.import_module(path)._Partial() == Partial()
    mesh = dtensor.init_device_mesh("cpu", (1,))
    assert old.compute_local_shape((5, 2), mesh, [Shard(0)]) == (5, 2)
    assert old.compute_local_offset((5, 2), mesh, [Shard(0)]) == (0, 0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    kept, options = net[1].weight, {"device_ids": None, "bucket_cap_mb": 1}
    found = _composable.replicate(net, [net[1]], device_mesh=mesh, **options)
    assert found is net and isinstance(net[0].weight, DTensor)
    assert net[1].weight is kept
    with pytest.raises(TypeError, match="unexpected keyword argument 'buckets'"):
        _composable.replicate(torch.nn.Linear(2, 2), device_mesh=mesh, buckets=1)
    layer = torch.nn.Linear(2, 2)
    assert _composable.checkpoint(layer) is layer
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad is not None
    with pytest.raises(NotImplementedError, match="use_reentrant"):
        _composable.checkpoint(layer, use_reentrant=True)


def test_operators_by_pytorchs_names_can_be_called():
    aten = torch.ops.aten
    x = torch.tensor([[1.0, -2.0], [3.0, 0.5]])
    assert torch.equal(aten.mul.Scalar(x, 2), x * 2)
    assert torch.equal(aten.div.Tensor(x, x), torch.ones(2, 2))
    assert torch.equal(aten.sum.dim_IntList(x, [0], True), x.sum(0, keepdim=True))
    assert torch.equal(aten._softmax.default(x, 1, False), x.softmax(1))
    assert torch.equal(aten.gelu(x), torch.nn.functional.gelu(x))
    with pytest.raises(NotImplementedError, match="scaled_dot_product_attention"):
        aten._scaled_dot_product_flash_attention(x, x, x)
    with pytest.raises(TypeError):
        aten(x)
