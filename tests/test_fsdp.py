"""Training on parameters that are spread over ranks is training on one process."""

import numpy as np
import pytest
from meshes import line

import dtensor
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
    FSDPModule,
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    ModuleWrapPolicy,
    ShardingStrategy,
    fully_shard,
    replicate,
)
from dtensor.optim import SGD, AdamW

ROWS = 12


def weights(seed=0):
    return np.random.default_rng(seed)


class Net(nn.Module):
    """Layers whose sizes no number of ranks divides."""

    def __init__(self, seed=0):
        super().__init__()
        self.first = nn.Linear(5, 7)
        self.second = nn.Linear(7, 7)
        self.last = nn.Linear(7, 3, bias=False)
        random = weights(seed)
        for module in (self.first, self.second, self.last):
            module.to(np.float64)
        with dtensor.no_grad():
            for p in self.parameters():
                p.detach()[...] = random.normal(size=tuple(p.shape))

    def forward(self, x):
        x = self.first(x).tanh()
        x = x + self.second(x).tanh()
        return self.last(x)


X = np.random.default_rng(1).normal(size=(ROWS, 5))
Y = np.random.default_rng(2).normal(size=(ROWS, 3))


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()


def reference(steps=3, make=lambda p: SGD(p, lr=0.1), micro=1):
    model = Net()
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, tensor(X), tensor(Y))
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses, {k: np.array(v) for k, v in model.state_dict().items()}


def part(mesh, array):
    """Return this rank's rows of a batch."""
    coordinate = mesh.get_coordinate()
    flat = np.ravel_multi_index(coordinate, mesh.shape)
    return tensor(np.array_split(array, mesh.size())[flat])


def train(model, mesh, steps=3, make=lambda p: SGD(p, lr=0.1)):
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, part(mesh, X), part(mesh, Y))
        loss.backward()
        optimizer.step()
        total = DTensor.from_local(
            loss.detach().reshape(1), mesh, [dtensor.Partial("avg")] * mesh.ndim
        )
        losses.append(float(total.full_tensor()[0]))
    return losses


def check(model, losses, expected, tolerance=1e-12):
    values, state = expected
    np.testing.assert_allclose(losses, values, rtol=tolerance)
    for name, value in model.state_dict().items():
        assert isinstance(value, DTensor)
        np.testing.assert_allclose(
            value.full_tensor(), state[name], rtol=tolerance, atol=tolerance
        )


def sharded(mesh, **options):
    model = Net()
    for module in (model.first, model.second):
        fully_shard(module, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


@pytest.mark.parametrize(
    "make", [lambda p: SGD(p, lr=0.1), lambda p: AdamW(p, lr=0.01)]
)
@pytest.mark.parametrize("reshard", [None, True, False])
def test_training_is_that_of_one_process(ranks, reshard, make):
    expected = reference(make=make)

    def body():
        model = sharded(line(), reshard_after_forward=reshard)
        assert isinstance(model, FSDPModule) and isinstance(model, Net)
        assert type(model).__name__ == "FSDPNet"
        for p in model.parameters():
            assert isinstance(p, DTensor) and p.placements == (Shard(0),)
        check(model, train(model, line(), make=make), expected)

    ranks(body)


def test_parameters_can_be_spread_over_any_dim(ranks):
    expected = reference()

    def body():
        model = sharded(line(), shard_placement_fn=lambda p: Shard(p.ndim - 1))
        assert model.first.weight.placements == (Shard(1),)
        check(model, train(model, line()), expected)

    ranks(body)


def test_one_gather_forward_one_backward_one_reduction_for_each_module(ranks):
    def body():
        model, mesh = sharded(line()), line()
        train(model, mesh, steps=1)
        with CommDebugMode() as forward:
            loss = loss_of(model, part(mesh, X), part(mesh, Y))
        with CommDebugMode() as backward:
            loss.backward()
        if mesh.size() == 1:
            assert forward.get_total_counts() == backward.get_total_counts() == 0
        else:
            assert forward.get_comm_counts() == {"all_gather": 3}
            # the root stays whole between forward and backward
            assert backward.get_comm_counts() == {"all_gather": 2, "reduce_scatter": 3}

    ranks(body)


def test_parameters_take_no_memory_between_forward_and_backward(ranks):
    def body():
        model, mesh = sharded(line()), line()
        loss = loss_of(model, part(mesh, X), part(mesh, Y))
        full = model.first._fsdp_state.group.parameters[0].full
        assert set(np.asarray(full.detach()).strides) == {0}
        assert model.first.weight.placements == (Shard(0),)
        loss.backward()
        assert set(np.asarray(full.detach()).strides) == {0}
        assert model.last.weight.placements == (Shard(0),)

    ranks(body)


def test_gradients_are_accumulated_without_communication(ranks):
    def body():
        model, mesh = sharded(line()), line()
        x, y = part(mesh, X), part(mesh, Y)
        loss_of(model, x, y).backward()
        once = [np.array(p.grad.full_tensor()) for p in model.parameters()]
        model.zero_grad()
        model.set_requires_gradient_sync(False)
        with CommDebugMode() as mode:
            loss_of(model, x, y).backward()
        assert "reduce_scatter" not in mode.get_comm_counts()
        assert all(p.grad is None for p in model.parameters())
        model.set_requires_gradient_sync(True)
        loss_of(model, x, y).backward()
        for p, g in zip(model.parameters(), once, strict=True):
            np.testing.assert_allclose(p.grad.full_tensor(), 2 * g, rtol=1e-12)

    ranks(body)


def test_norms_are_clipped_by_one_reduction(ranks):
    plain = Net()
    loss_of(plain, tensor(X), tensor(Y)).backward()
    norm = nn.utils.clip_grad_norm_(plain.parameters(), 0.1)

    def body():
        model, mesh = sharded(line()), line()
        loss_of(model, part(mesh, X), part(mesh, Y)).backward()
        with CommDebugMode() as mode:
            total = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            got = float(total.full_tensor() if isinstance(total, DTensor) else total)
        assert mode.get_total_counts() == (1 if mesh.size() > 1 else 0)
        np.testing.assert_allclose(got, float(norm), rtol=1e-12)
        for p, q in zip(model.parameters(), plain.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.full_tensor(), q.grad, rtol=1e-12)

    ranks(body)


def test_replicate_averages_gradients_by_one_all_reduce(ranks):
    expected = reference()

    def body():
        model, mesh = replicate(Net(), mesh=line()), line()
        assert model.first.weight.placements == (Replicate(),)
        check(model, train(model, mesh), expected)
        loss = loss_of(model, part(mesh, X), part(mesh, Y))
        with CommDebugMode() as mode:
            loss.backward()
        assert mode.get_comm_counts() == ({"all_reduce": 1} if mesh.size() > 1 else {})

    ranks(body)


def test_mixed_precision_computes_and_reduces_in_its_dtypes(ranks):
    expected = reference()

    def body():
        policy = MixedPrecisionPolicy(np.float32, np.float64)
        model = Net()
        fully_shard(model.first, mesh=line(), mp_policy=policy)
        fully_shard(model.second, mesh=line(), mp_policy=policy)
        policy = MixedPrecisionPolicy(np.float32, np.float64, np.float64)
        fully_shard(model, mesh=line(), mp_policy=policy)
        seen = []
        model.last.register_forward_hook(
            lambda m, args, out: seen.append((args[0].dtype, m.weight.dtype, out.dtype))
        )
        losses = train(model, line())
        assert set(seen) == {(np.dtype(np.float32),) * 3}
        assert model.first.weight.dtype == model.first.weight.grad.dtype == np.float64
        check(model, losses, expected, 1e-5)

    ranks(body)


def test_state_dicts_have_sharded_parameters_and_load_again(ranks):
    def body():
        model = sharded(line())
        train(model, line(), steps=1)
        loss_of(model, part(line(), X), part(line(), Y))  # the root is whole now
        state = model.state_dict()
        assert all(v.placements == (Shard(0),) for v in state.values())
        other = sharded(line())
        other.load_state_dict(state)
        for p, q in zip(model.parameters(), other.parameters(), strict=True):
            assert np.array_equal(p.full_tensor(), q.full_tensor())

    ranks(body)


def test_a_model_without_data_takes_a_state_dict_by_assignment(ranks):
    def body():
        model = sharded(line())
        state = model.state_dict()
        with dtensor.device("meta"):
            other = nn.Sequential(nn.Linear(5, 7, dtype=np.float64))
        fully_shard(other, mesh=line())
        assert other[0].weight.device == "meta"
        mine = {name: state[f"first.{name[2:]}"] for name in other.state_dict()}
        other.load_state_dict(mine, assign=True)
        x = part(line(), X)
        assert np.array_equal(other(x).detach(), model.first(x).detach())

    ranks(body)


def test_a_shared_parameter_is_gathered_once(ranks):
    def body():
        model = Net()
        model.second.weight = model.extra = nn.Parameter(np.zeros((7, 7)))
        fully_shard(model, mesh=line())
        assert model.second.weight is model.extra
        assert len(list(model.parameters())) == len(list(Net().parameters()))

    ranks(body)


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


def test_an_int_keeps_parameters_spread_over_fewer_ranks():
    expected = reference()

    def body():
        model = sharded(line(), reshard_after_forward=2)
        check(model, train(model, line()), expected)
        loss_of(model, part(line(), X), part(line(), Y))
        held = model.first._fsdp_state.group.parameters[0].held
        assert held.device_mesh.shape == (2, 2)
        assert held.placements == (Replicate(), Shard(0))
        with pytest.raises(ValueError, match="must be a factor"):
            fully_shard(Net(), mesh=line(), reshard_after_forward=3)

    dtensor.testing.run_ranks(4, body)


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


def replicated(x, mesh):
    return x if isinstance(x, DTensor) else DTensor.from_local(x, mesh, [Replicate()])


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
        check(model, train(model, line()), expected)
        with model.no_sync():
            loss_of(model, part(line(), X), part(line(), Y)).backward()
        with FullyShardedDataParallel.summon_full_params(model):
            assert np.array_equal(model.first.weight.shape, (7, 5))
            with dtensor.no_grad():
                model.first.weight[...] = 3.0
        assert np.array_equal(model.first.weight.full_tensor(), np.full((7, 5), 3.0))

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
