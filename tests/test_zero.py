"""An optimizer whose state is spread over the ranks does what the optimizer does."""

import numpy as np
import pytest
from fsdp_models import Net, X, Y, loss_of, part, reference
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Replicate, distribute_tensor, nn, tensor
from dtensor.debug import CommDebugMode
from dtensor.fsdp import DistributedDataParallel as DDP, ZeroRedundancyOptimizer as Zero
from dtensor.optim import SGD, Adagrad, AdamW
from dtensor.optim.lr_scheduler import StepLR

MAKERS = {
    "AdamW": (AdamW, dict(lr=0.01)),
    "SGD": (SGD, dict(lr=0.1, momentum=0.9)),
    "Adagrad": (Adagrad, dict(lr=0.1)),
}


def steps(model, optimizer, n):
    for _ in range(n):
        optimizer.zero_grad()
        loss_of(model, part(line(), X), part(line(), Y)).backward()
        optimizer.step()


def one_process(make, n=3):
    """The parameters and the state of an optimizer after steps on one process."""
    model = Net()
    optimizer = make(model.parameters())
    for _ in range(n):
        optimizer.zero_grad()
        loss_of(model, tensor(X), tensor(Y)).backward()
        optimizer.step()
    return [np.array(p.detach()) for p in model.parameters()], optimizer.state_dict()


def near(params, want):
    for p, value in zip(params, want, strict=True):
        np.testing.assert_allclose(p.detach(), value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", list(MAKERS))
def test_steps_are_those_of_one_process(ranks, name):
    kind, options = MAKERS[name]
    _, state = reference(make=lambda p: kind(p, **options))

    def body():
        model = DDP(Net())
        optimizer = Zero(model.parameters(), optimizer_class=kind, **options)
        steps(model, optimizer, 3)
        near(model.parameters(), state.values())

    ranks(body)


def test_each_parameter_has_its_state_on_one_rank(ranks):
    def body():
        mesh = line()
        model = DDP(Net())
        optimizer = Zero(model.parameters(), AdamW, lr=0.01)
        steps(model, optimizer, 1)
        own = [p in optimizer.state for p in model.parameters()]
        everyone = np.array(
            dtensor.DTensor.from_local(
                tensor(np.array([own], "f")), mesh, [dtensor.Shard(0)]
            ).full_tensor()
        )
        np.testing.assert_array_equal(everyone.sum(0), np.ones(5))
        # PyTorch's order: the largest first, each to the rank that has least
        sizes, want = [0] * mesh.size(), {}
        for k, n in sorted(enumerate([35, 7, 49, 7, 21]), key=lambda kn: -kn[1]):
            rank = sizes.index(min(sizes))
            sizes[rank] += n
            want[k] = rank
        assert own == [want[k] == mesh.get_rank() for k in range(5)]

    ranks(body)


def test_a_step_sends_parameters_by_one_gather(ranks):
    def body():
        model = DDP(Net())
        optimizer = Zero(model.parameters(), SGD, lr=0.1)
        loss_of(model, part(line(), X), part(line(), Y)).backward()
        with CommDebugMode() as mode:
            optimizer.step()
        counts = mode.get_comm_counts()
        assert counts == ({"all_gather": 1} if line().size() > 1 else {})

    ranks(body)


def test_state_is_gathered_on_one_rank_and_loaded_on_all(ranks):
    want, packed = one_process(lambda p: AdamW(p, lr=0.01))
    after, _ = one_process(lambda p: AdamW(p, lr=0.01), 4)

    def body():
        mesh = line()
        to = mesh.size() - 1
        model = DDP(Net())
        optimizer = Zero(model.parameters(), AdamW, lr=0.01)
        steps(model, optimizer, 3)
        with pytest.raises(RuntimeError, match="not been consolidated on this rank"):
            optimizer.state_dict()
        with pytest.raises(ValueError, match="not a rank of a group"):
            optimizer.consolidate_state_dict(to=mesh.size())
        for rank in range(mesh.size()):
            optimizer.consolidate_state_dict(to=rank)
        if mesh.get_rank() != to:
            with pytest.raises(RuntimeError, match="not been consolidated"):
                optimizer.state_dict()
        else:
            state = optimizer.state_dict()
            assert list(state["state"]) == [0, 1, 2, 3, 4]
            assert state["param_groups"][0]["params"] == [0, 1, 2, 3, 4]
            assert state["param_groups"][0]["betas"] == (0.9, 0.999)
            for k, values in packed["state"].items():
                for key, value in values.items():
                    got = state["state"][k][key]
                    np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-14)
        # what one process saved, which is the same, goes on here
        other = DDP(Net())
        with dtensor.no_grad():
            for p, value in zip(other.parameters(), want, strict=True):
                p.detach()[...] = value
        again = Zero(other.parameters(), AdamW, lr=5.0)
        again.load_state_dict(packed)
        assert again.param_groups[0]["lr"] == 0.01
        steps(other, again, 1)
        near(other.parameters(), after)

    ranks(body)


def test_settings_and_groups_follow_what_is_exposed(ranks):
    def make(model):
        first, *others = model.parameters()
        optimizer = SGD([first], lr=0.1, momentum=0.5)
        optimizer.add_param_group({"params": others, "lr": 0.05})
        return optimizer

    def go(model, optimizer, x, y):
        scheduler = StepLR(optimizer, 1, gamma=0.5)
        for _ in range(3):
            optimizer.zero_grad()
            loss_of(model, x, y).backward()
            optimizer.step()
            scheduler.step()
        return [group["lr"] for group in optimizer.param_groups]

    plain = Net()
    rates = go(plain, make(plain), tensor(X), tensor(Y))
    want = [np.array(p.detach()) for p in plain.parameters()]

    def body():
        model = DDP(Net())
        first, *others = model.parameters()
        optimizer = Zero([first], SGD, lr=0.1, momentum=0.5)
        optimizer.add_param_group({"params": others, "lr": 0.05})
        assert len(optimizer.param_groups) == len(optimizer.optim.param_groups) == 2
        got = go(model, optimizer, part(line(), X), part(line(), Y))
        assert got == rates
        near(model.parameters(), want)
        assert optimizer.param_groups[0]["momentum"] == 0.5
        assert "nesterov" in optimizer.param_groups[0]

    ranks(body)


def test_a_closure_is_called_on_every_rank(ranks):
    losses, state = reference(steps=1)

    def body():
        model, calls = DDP(Net()), []
        optimizer = Zero(model.parameters(), SGD, lr=0.1)

        def closure():
            calls.append(1)
            loss = loss_of(model, part(line(), X), part(line(), Y))
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        assert len(calls) == 1 and float(loss) > 0
        near(model.parameters(), state.values())

    ranks(body)


def test_parameters_of_several_dtypes_are_sent_and_frozen_ones_are_not(ranks):
    def body():
        model = nn.ModuleDict(
            {"a": nn.Linear(3, 3), "b": nn.Linear(3, 3), "c": nn.Linear(2, 2)}
        )
        for k, p in enumerate(model.parameters()):
            nn.init.constant_(p, k)
        model["b"].to(np.float64)
        model["c"].requires_grad_(False)
        optimizer = Zero(model.parameters(), SGD, lr=1.0)
        for p in model.parameters():
            if p.requires_grad:
                p.grad = p.detach() * 0 + 1
        optimizer.step()
        for k, p in enumerate(model.parameters()):
            want = k - 1.0 if p.requires_grad else k
            np.testing.assert_array_equal(p.detach(), np.full(tuple(p.shape), want))

    ranks(body)


def test_what_cannot_be_is_refused_on_all_ranks(ranks):
    def body():
        mesh, model = line(), Net()
        sharded = [distribute_tensor(np.ones(4), mesh, [Replicate()])]
        sharded[0].requires_grad_()
        with pytest.raises(TypeError, match="use the optimizer directly"):
            Zero(sharded, SGD, lr=0.1)
        with pytest.raises(ValueError, match="empty parameter list"):
            Zero([], SGD, lr=0.1)
        with pytest.raises(ValueError, match="overlap_with_ddp=True is not supported"):
            Zero(model.parameters(), SGD, overlap_with_ddp=True, lr=0.1)
        if mesh.size() > 1:
            rank = mesh.get_rank()
            with pytest.raises(RuntimeError, match="ZeroRedundancyOptimizer of"):
                Zero(nn.Linear(2, 2 + rank).parameters(), SGD, lr=0.1)
            with pytest.raises(RuntimeError, match="ZeroRedundancyOptimizer of"):
                Zero(model.parameters(), SGD, lr=0.1 + rank)
            with pytest.raises(
                (TypeError, RuntimeError), match="can only optimize|Zero"
            ):
                Zero(model.parameters() if rank else [3], SGD, lr=0.1)
        Zero(model.parameters(), SGD, parameters_as_bucket_view=True, lr=0.1)

    ranks(body)


def test_a_closure_that_fails_on_one_rank_is_an_error_on_all(ranks):
    def body():
        mesh, model = line(), DDP(Net())
        optimizer = Zero(model.parameters(), SGD, lr=0.1)

        def closure():
            if mesh.get_rank() == mesh.size() - 1:
                raise FloatingPointError("not here")
            return 1.0

        with pytest.raises((FloatingPointError, RuntimeError)):
            optimizer.step(closure)
        dtensor.resync()
        optimizer.step()

    ranks(body)


def test_torchs_path_has_it_for_torchs_tensors(ranks):
    zero = torch.distributed.optim.ZeroRedundancyOptimizer
    assert zero is Zero

    def body():
        torch.manual_seed(0)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 2))
        optimizer = zero(
            model.parameters(),
            optimizer_class=torch.optim.Adam,
            parameters_as_bucket_view=True,
            lr=0.1,
        )
        before = [p.detach().clone() for p in model.parameters()]
        model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        for p, was in zip(model.parameters(), before, strict=True):
            assert torch.allclose(p, was - 0.1, atol=1e-5)
        optimizer.consolidate_state_dict()
        if line().get_rank() == 0:
            state = optimizer.state_dict()["state"]
            assert torch.equal(state[1]["exp_avg"], torch.full((2,), 0.1))

    ranks(body)
