"""fully_shard on meshes of two dims, beside tensor parallelism, and as a wrapper."""

from contextlib import nullcontext

import numpy as np
import pytest
from fsdp_models import Net, X, Y, check, loss_of, part, reference, sharded, train
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
    nn,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.fsdp import (
    FullyShardedDataParallel,
    ModuleWrapPolicy,
    ShardingStrategy,
    StateDictType,
    fully_shard,
)
from dtensor.parallel import ColwiseParallel, parallelize_module


@pytest.mark.parametrize("shape", [(2, 2), (1, 2), (4, 1), (2, 3)])
def test_hybrid_meshes_shard_within_and_replicate_between(shape):
    expected = reference()

    def body():
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=("replicate", "shard"))
        model = sharded(mesh)
        assert model.first.weight.placements == (Replicate(), Shard(0))
        check(model, train(model, mesh), expected)
        model.set_requires_all_reduce(False)
        model.zero_grad()
        x, y = part(mesh, X), part(mesh, Y)
        with CommDebugMode() as mode:
            loss_of(model, x, y).backward()
        assert "all_reduce" not in mode.get_comm_counts()
        assert all(p.grad is None for p in model.parameters())
        model.set_requires_all_reduce(True)
        loss_of(model, x, y).backward()
        twice = [np.array(p.grad.full_tensor()) for p in model.parameters()]
        model.zero_grad()
        loss_of(model, x, y).backward()
        for p, g in zip(model.parameters(), twice, strict=True):
            np.testing.assert_allclose(2 * p.grad.full_tensor(), g, rtol=1e-11)

    dtensor.testing.run_ranks(int(np.prod(shape)), body)


@pytest.mark.parametrize("rows", [1, 2])
def test_an_int_keeps_parameters_spread_over_fewer_ranks(rows):
    expected = reference()

    def body():
        mesh = init_device_mesh("cpu", (rows, 4), mesh_dim_names=("row", "column"))
        mesh = mesh["column"]
        model = sharded(mesh, reshard_after_forward=2)
        check(model, train(model, mesh), expected)
        loss_of(model, part(mesh, X), part(mesh, Y))
        held = model.first._fsdp_state.group.parameters[0].held
        assert held.device_mesh.shape == (2, 2)
        assert held.placements == (Replicate(), Shard(0))
        with pytest.raises(ValueError, match="must be a factor"):
            fully_shard(Net(), mesh=mesh, reshard_after_forward=3)

    dtensor.testing.run_ranks(4 * rows, body)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 1)])
def test_tensor_parallel_parameters_are_cut_a_second_time(shape):
    expected = reference()

    def body():
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
        model = Net()
        first, second = model.first, model.second
        tp = mesh["tp"]
        for module, place in ((first, Shard(0)), (second, Shard(1))):
            module.weight = nn.Parameter(
                distribute_tensor(module.weight.detach(), tp, [place])
            )
            bias = Shard(0) if place.dim == 0 else Replicate()
            module.bias = nn.Parameter(
                distribute_tensor(module.bias.detach(), tp, [bias])
            )
            module.register_forward_pre_hook(lambda m, args: (replicated(args[0], tp),))
            module.register_forward_hook(lambda m, args, out: out.full_tensor())
            fully_shard(module, mesh=mesh["dp"])
        fully_shard(model, mesh=mesh["dp"])
        assert first.weight.device_mesh == mesh
        assert first.weight.placements[1] == Shard(0)
        if shape[1] > 1:
            assert dict(first.weight.layout.shard_order)[0] == (1, 0)
        dp = mesh["dp"]
        losses = train(model, dp)
        check(model, losses, expected)

    dtensor.testing.run_ranks(int(np.prod(shape)), body)


@pytest.mark.parametrize("strategy", list(ShardingStrategy)[:3])
def test_the_wrapper_trains_as_one_process(ranks, strategy):
    expected = reference()

    def body():
        model = FullyShardedDataParallel(
            Net(),
            device_mesh=line(),
            sharding_strategy=strategy,
            auto_wrap_policy=ModuleWrapPolicy([nn.Linear]),
        )
        losses = train(model, line())
        kind = StateDictType.SHARDED_STATE_DICT
        with FullyShardedDataParallel.state_dict_type(model, kind):
            check(model, losses, expected)
        with model.no_sync():
            loss_of(model, part(line(), X), part(line(), Y)).backward()
        with FullyShardedDataParallel.summon_full_params(model):
            assert np.array_equal(model.first.weight.shape, (7, 5))
            with dtensor.no_grad():
                model.first.weight[...] = 3.0
        assert np.array_equal(model.first.weight.full_tensor(), np.full((7, 5), 3.0))

    ranks(body)


def test_whether_a_parameter_is_trained_can_change(ranks):
    def body():
        model, x = fully_shard(Net(), mesh=line()), part(line(), X)
        model.first.weight.requires_grad_(False)
        loss_of(model, x, part(line(), Y)).backward()
        assert model.first.weight.grad is None and model.last.weight.grad is not None
        model.first.weight.requires_grad_()
        loss_of(model, x, part(line(), Y)).backward()
        assert model.first.weight.grad is not None

    ranks(body)


def test_hooks_of_a_parameter_are_called_when_its_gradient_is_reduced(ranks):
    def body():
        model, seen = sharded(line()), []
        for p in model.parameters():
            p.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.layout))
        loss_of(model, part(line(), X), part(line(), Y)).backward()
        assert {*seen} == {p.layout for p in model.parameters()} and len(seen) == 5

    ranks(body)


def test_gradients_that_come_by_no_output_are_reduced_or_refused(ranks):
    class Hidden(Net):
        def forward(self, x):
            return {super().forward(x)}  # no container whose tensors are found

    def run(model, x):
        for y in model(x):
            y.sum().backward()
        return model.first.weight.grad

    expected = run(Hidden(), tensor(X))

    def body():
        x = part(line(), X)
        with pytest.raises(RuntimeError, match="fully_shard is given back"):
            run(fully_shard(Hidden(), mesh=line(), reshard_after_forward=True), x)
        grad = run(fully_shard(Hidden(), mesh=line()), x).full_tensor()
        np.testing.assert_allclose(line().size() * grad, expected, rtol=1e-12)

    ranks(body)


def test_gradients_of_gradients_need_parameters_that_stay(ranks):
    def penalty(model, x):
        x.requires_grad_()
        (grad,) = dtensor.autograd.grad(model(x).sum(), x, create_graph=True)
        (grad**2).sum().backward()

    plain = Net()
    penalty(plain, tensor(X))

    def body():
        model, x = sharded(line()), part(line(), X)
        with pytest.raises(RuntimeError, match="set_reshard_after_backward"):
            penalty(model, x)
        model.reset_iter_state()
        model.set_reshard_after_backward(False)
        penalty(model, x)
        for module in (model, model.first, model.second):
            module.reshard()
        for p, q in zip(model.parameters(), plain.parameters(), strict=True):
            if q.grad is not None:
                grad = line().size() * p.grad.full_tensor()
                np.testing.assert_allclose(grad, q.grad, rtol=1e-9, atol=1e-12)

    ranks(body)


def test_bad_input_is_refused_before_anything_changes(ranks):
    def body():
        mesh = line()
        with pytest.raises(ValueError, match="do not implement forward"):
            fully_shard(nn.ModuleList([nn.Linear(2, 2)]), mesh=mesh)
        with pytest.raises(ValueError, match="must return a Shard"):
            fully_shard(Net(), mesh=mesh, shard_placement_fn=lambda p: Replicate())
        model = fully_shard(Net(), mesh=mesh)
        with pytest.raises(AssertionError, match="only be applied to a module once"):
            fully_shard(model, mesh=mesh)
        cube = init_device_mesh("cpu", (1, 1, mesh.size()))
        with pytest.raises(ValueError, match="1D or 2D DeviceMesh"):
            fully_shard(Net(), mesh=cube)

    ranks(body)


def replicated(x, mesh):
    return x if isinstance(x, DTensor) else DTensor.from_local(x, mesh, [Replicate()])


def test_what_is_wrong_on_one_rank_is_an_error_on_all(ranks):
    def body():
        mesh = line()
        last = mesh.get_rank() == mesh.size() - 1
        with pytest.raises(ValueError, match="must return a Shard"):
            fully_shard(
                Net(),
                mesh=mesh,
                shard_placement_fn=lambda p: Replicate() if last else None,
            )
        with pytest.raises(NotImplementedError, match="only support nn.Linear"):
            model = nn.LayerNorm(4) if last else nn.Linear(4, 4)
            parallelize_module(model, mesh, ColwiseParallel())
        assert sharded(mesh)(part(mesh, X)).shape[1] == 3

    ranks(body)


def test_a_forward_needs_parameters_with_data(ranks):
    def body():
        def hollow(nn):
            with dtensor.device("meta"):
                model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
            for module in (model[0], model):
                fully_shard(module, mesh=line())
            return model

        def sharded_state(nn):
            model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
            fully_shard(model, mesh=line())
            return model.state_dict()

        model = hollow(torch.nn)
        words = r"still on meta device: \['1\.weight', '1\.bias'\]"
        for _ in range(2):  # it stays an error
            with pytest.raises(RuntimeError, match=words):
                model(torch.ones(2, 3))
        state = sharded_state(torch.nn)
        for name, x in state.items():
            model.load_state_dict({name: x}, assign=True, strict=False)
        assert model(torch.ones(2, 3)).device == "cpu"
        # a dry run, in NumPy's dialect with inputs that have data, too
        model = hollow(torch.nn)
        assert model(torch.ones(2, 3, device="meta")).device == "meta"
        x = dtensor.tensor(np.ones((2, 3), np.float32))
        assert hollow(nn)(x).device == "meta"

    ranks(body)


@pytest.mark.parametrize("frozen", [False, True])
def test_outputs_whose_gradients_come_apart_leave_nothing_gathered(ranks, frozen):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)
            self.right.weight.requires_grad_(not frozen)

        def forward(self, x):
            return self.left(x).tanh(), self.right(x).tanh()

    def body():
        dtensor.random.manual_seed(1)
        model = Two()
        fully_shard(model.left, mesh=line())
        fully_shard(model, mesh=line())
        for _ in range(2):
            x = tensor(np.ones((2, 4), np.float32))
            left, right = model(x)
            (left * right).sum().backward()
            for name, p in model.named_parameters():
                assert isinstance(p, DTensor) and p.placements == (Shard(0),)
                assert (p.grad is None) == (frozen and name == "right.weight")

    ranks(body)


def test_steps_after_a_backward_that_failed_send_what_others_send(ranks):
    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x, fails):
            x = self.first(x)
            if fails:
                x.register_hook(lambda grad: 1 / 0)
            return self.last(x)

    def body():
        model = Fails()
        for module in (model.last, model):
            fully_shard(module, mesh=line())
        x, counts = tensor(np.ones((2, 4), np.float32)), []
        for fails in (False, True, False, False):
            with CommDebugMode() as mode:
                loss = model(x, fails).sum()
                with pytest.raises(ZeroDivisionError) if fails else nullcontext():
                    loss.backward()
            counts.append(mode.get_total_counts())
            model.zero_grad()
        # the first one finds gathered what the failed one has gathered
        assert counts[0] == counts[3]

    ranks(body)
