"""Training on parameters that are spread over ranks is training on one process."""

import numpy as np
import pytest
from fsdp_models import Net, X, Y, check, loss_of, part, reference, sharded, train
from meshes import line

import dtensor
from dtensor import (
    DTensor,
    Replicate,
    Shard,
    nn,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.fsdp import (
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
    replicate,
)
from dtensor.optim import SGD, AdamW
from dtensor.utils.checkpoint import checkpoint


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
        assert full.device == "meta"
        assert model.first.weight.placements == (Shard(0),)
        loss.backward()
        assert full.device == "meta"
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


def test_checkpointed_modules_may_be_sharded(ranks):
    class Checkpointed(Net):
        def forward(self, x):
            x = checkpoint(self.first, x).tanh()
            x = x + checkpoint(self.second, x).tanh()
            return self.last(x)

    expected = reference()

    def body():
        model = Checkpointed()
        for module in (model.first, model.second):
            fully_shard(module, mesh=line())
        fully_shard(model, mesh=line())
        check(model, train(model, line()), expected)

    ranks(body)


@pytest.mark.parametrize("older", [False, True])
def test_parts_of_a_sharded_module_may_be_checkpointed_again_and_again(ranks, older):
    class Twice(Net):
        def forward(self, x):
            x = self.first(x).tanh()
            for _ in range(2):
                x = checkpoint(self.again, x, use_reentrant=older)
            return self.last(x)

        def again(self, x):
            return x + self.second(x).tanh()

    plain = Twice()
    loss_of(plain, tensor(X), tensor(Y)).backward()

    def body():
        model, mesh = Twice(), line()
        fully_shard(model.first, mesh=mesh)
        fully_shard(model, mesh=mesh)
        loss_of(model, part(mesh, X), part(mesh, Y)).backward()
        for p, q in zip(model.parameters(), plain.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.full_tensor(), q.grad, rtol=1e-10)

    ranks(body)


def test_a_forward_that_failed_leaves_no_old_parameters_behind(ranks):
    def body():
        model, x = sharded(line()), part(line(), X)
        optimizer = SGD(model.parameters(), lr=0.1)
        for bad in (x[:, :2], None):
            loss_of(model, x, part(line(), Y)).backward()
            with pytest.raises((RuntimeError, TypeError, AttributeError)):
                model(bad)
            optimizer.step()
            value = model(x).detach()
            model.reshard()
            assert np.array_equal(value, model(x).detach())
            with dtensor.no_grad():  # the root stays whole
                model(x)
            optimizer.step()
            value = model(x).detach()
            model.reshard()
            assert np.array_equal(value, model(x).detach())

    ranks(body)


def test_a_shared_parameter_is_gathered_once(ranks):
    def body():
        model = Net()
        model.second.weight = model.extra = nn.Parameter(np.zeros((7, 7)))
        fully_shard(model, mesh=line())
        assert model.second.weight is model.extra
        assert len(list(model.parameters())) == len(list(Net().parameters()))

    ranks(body)


class Tied(nn.Module):
    """An embedding and a head that are one matrix."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 9, bias=False)
        self.head.weight = nn.Parameter(np.cos(np.arange(36.0)).reshape(9, 4))
        self.embed.weight = self.head.weight

    def forward(self, x):
        return self.head(self.embed(x).tanh())


def train_tied(model, mesh=None):
    x, optimizer = np.arange(12) * 5 % 9, AdamW(model.parameters(), lr=0.05)
    x = tensor(x) if mesh is None else part(mesh, x)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), (x + 1) % 9).backward()
        optimizer.step()
    return model.state_dict()["embed.weight"]


@pytest.mark.parametrize("apart", [["embed", "head"], ["embed"], ["head"], []])
@pytest.mark.parametrize("way", [fully_shard, replicate])
def test_a_parameter_that_groups_share_stays_one(ranks, way, apart):
    expected = train_tied(Tied())

    def body():
        model, mesh = Tied(), line()
        for name in apart:
            way(getattr(model, name), mesh=mesh)
        way(model, mesh=mesh)
        assert model.head.weight is model.embed.weight
        np.testing.assert_allclose(
            train_tied(model, mesh).full_tensor(), expected, rtol=1e-12
        )
        again = nn.Linear(4, 9, bias=False)
        again.weight = model.embed.weight
        with pytest.raises(ValueError, match="a parameter is shared with"):
            fully_shard(again, mesh=mesh, shard_placement_fn=lambda p: Shard(1))

    ranks(body)
