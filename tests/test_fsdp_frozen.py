"""Parameters under fully_shard that are not trained: adapters, norms, first layers."""

import itertools

import numpy as np
import pytest
from fsdp_models import X, Y, part
from meshes import line

import dtensor
from dtensor import nn, no_grad, tensor
from dtensor.fsdp import FullyShardedDataParallel, fully_shard
from dtensor.testing import run_ranks
from dtensor.utils.checkpoint import checkpoint

NAMED = {fully_shard: "mesh", FullyShardedDataParallel: "device_mesh"}
NAMES = ["first.scale", "first.inner.weight", "second.scale", "second.inner.weight"]
SUBSETS = [frozen for n in range(1, 4) for frozen in itertools.combinations(NAMES, n)]


class Block(nn.Module):
    """A scale, whose gradient comes last, and a layer."""

    def __init__(self, seed):
        super().__init__()
        random = np.random.default_rng(seed)
        self.scale = nn.Parameter(random.normal(size=5))
        self.inner = nn.Linear(5, 5, bias=False)
        self.inner.weight = nn.Parameter(random.normal(size=(5, 5)))

    def forward(self, x):
        return x + self.inner(x * self.scale).tanh()


class Net(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.first, self.second = Block(1), Block(2)
        for name, p in self.named_parameters():
            p.requires_grad_(name not in frozen)
        self.how = {}

    def forward(self, x):
        for block in (self.first, self.second):
            x = checkpoint(block, x, **self.how) if self.how else block(x)
        return x


def loss_of(model, x, y):
    return ((model(x)[:, :3] - y) ** 2).mean()


def gradients(model):
    return {
        name: None if p.grad is None else np.asarray(p.grad.full_tensor())
        for name, p in model.named_parameters()
    }


def check(model, mesh, expected, *, trained_input):
    for _ in range(2):
        model.zero_grad()
        x = part(mesh, X)
        x.requires_grad_(trained_input)
        loss_of(model, x * 1, part(mesh, Y)).backward()
        found = gradients(model)
        for name, grad in expected.items():
            if grad is None:
                assert found[name] is None
            else:
                np.testing.assert_allclose(found[name], grad, rtol=1e-10)
        for module in model.modules():
            state = vars(module).get("_fsdp_state")
            assert state is None or not state.group.is_full


@pytest.mark.parametrize("how", [{}, {"use_reentrant": False}, {"use_reentrant": True}])
@pytest.mark.parametrize("frozen", SUBSETS, ids=str)
def test_gradients_pass_through_what_is_not_trained(frozen, how):
    """Whichever the parameters are, and whatever of the inputs has a gradient."""
    alone = Net(frozen)
    loss_of(alone, tensor(X), tensor(Y)).backward()
    expected = {
        name: None if p.grad is None else np.array(p.grad)
        for name, p in alone.named_parameters()
    }

    def body():
        mesh = line()
        for reshard, apart in itertools.product((True, False), (True, False)):
            model = Net(frozen)
            model.how = how
            if apart:
                for block in (model.first, model.second):
                    fully_shard(block, mesh=mesh, reshard_after_forward=reshard)
            fully_shard(model, mesh=mesh, reshard_after_forward=reshard)
            for trained_input in (True, False) if not how else (True,):
                check(model, mesh, expected, trained_input=trained_input)

    run_ranks(2, body)


def test_parameters_are_given_back_when_backward_has_left_their_module(ranks):
    def body():
        model = Net(["first.scale", "second.scale"])
        for block in (model.first, model.second):
            fully_shard(block, mesh=line())
        fully_shard(model, mesh=line())
        seen = []

        def look(grad):
            seen.append(
                [m._fsdp_state.group.is_full for m in (model.first, model.second)]
            )

        def watch(module, args, out):
            out.register_hook(look)

        model.first.inner.register_forward_hook(watch)
        x = part(line(), X)
        for leaf in (False, True):
            x.requires_grad_(leaf)
            loss_of(model, x, part(line(), Y)).backward()
        assert seen == [[True, False]] * 2

    ranks(body)


def test_inputs_keep_no_hooks_of_forwards_without_backward():
    def body():
        model = fully_shard(Net(["first.scale"]), mesh=line())
        x = part(line(), X).requires_grad_()
        for _ in range(3):
            model(x)
        assert not dtensor._C.hooks_of(x)
        assert not model._fsdp_state.group._inputs

    run_ranks(2, body)


@pytest.mark.parametrize("wrap", [fully_shard, FullyShardedDataParallel])
def test_what_is_said_of_parameters_after_a_forward_alone_is_kept(ranks, wrap):
    def body():
        model = wrap(Net([]), **{NAMED[wrap]: line()})
        mine = list(model.parameters())
        x, y = part(line(), X), part(line(), Y)

        def trained():
            for p in mine:
                p.grad = None
            loss_of(model, x, y).backward()
            return [p.grad is not None for p in model.parameters()]

        def looked():
            with no_grad():
                model(x)

        looked()
        model.first.requires_grad_(False)
        assert trained() == trained() == [False, False, True, True]
        looked()
        model.first.requires_grad_(True)
        assert trained() == trained() == [True] * 4
        looked()
        for p in mine[2:]:
            p.requires_grad_(False)
        assert trained() == trained() == [True, True, False, False]
        assert [p.requires_grad for p in mine] == [True, True, False, False]
        if wrap is fully_shard:
            coming = model.unshard(async_op=True)
            for p in mine:
                p.requires_grad_(True)
            coming.wait()
            assert trained() == trained() == [True] * 4

    ranks(body)
