"""Ranks with fewer inputs follow the others, under DistributedDataParallel."""

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import nn, tensor
from dtensor.fsdp import DistributedDataParallel as DDP, ZeroRedundancyOptimizer as Zero
from dtensor.fsdp.join import Join, Joinable, JoinHook
from dtensor.optim import SGD

WEIGHT = np.array([[0.5, -1.0, 2.0]])


def layer():
    model = nn.Linear(3, 1, bias=False).to(np.float64)
    with dtensor.no_grad():
        model.weight.detach()[...] = WEIGHT
    return model


def row(rank, k):
    return np.array([[1.0 + rank, k, rank - k]])


def expected(counts, by_all=True, lr=0.1):
    """The weights after training, where rank r has the first counts[r] of its rows.

    The gradient of the sum of a layer's output is its input.
    """
    weight = WEIGHT.copy()
    for k in range(max(counts)):
        on = [r for r, n in enumerate(counts) if n > k]
        total = sum(row(r, k) for r in on)
        weight -= lr * total / (len(counts) if by_all else len(on))
    return weight


def counts_of(mesh):
    return [2 + 3 * (r % 2) + r for r in range(mesh.size())]


def train(model, optimizer, mesh):
    rank = mesh.get_rank()
    for k in range(counts_of(mesh)[rank]):
        optimizer.zero_grad()
        model(tensor(row(rank, k))).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("by_all", [True, False])
def test_all_ranks_end_with_the_model_of_the_last(ranks, by_all):
    def body():
        mesh = line()
        model = DDP(layer())
        optimizer = SGD(model.parameters(), lr=0.1)
        with model.join(divide_by_initial_world_size=by_all):
            train(model, optimizer, mesh)
        want = expected(counts_of(mesh), by_all)
        np.testing.assert_allclose(model.module.weight.detach(), want, rtol=1e-12)
        # afterwards the ranks are even again
        optimizer.zero_grad()
        model(tensor(np.ones((1, 3)))).sum().backward()
        np.testing.assert_allclose(model.module.weight.grad, np.ones((1, 3)))

    ranks(body)


def test_an_optimizer_that_is_spread_over_the_ranks_goes_on_on_all(ranks):
    def body():
        mesh = line()
        model = DDP(nn.Sequential(layer()))
        optimizer = Zero(model.parameters(), SGD, lr=0.1)
        with Join([model, optimizer]):
            train(model, optimizer, mesh)
        got = model.module[0].weight.detach()
        np.testing.assert_allclose(got, expected(counts_of(mesh)), rtol=1e-12)

    ranks(body)


def test_even_inputs_and_a_block_without_effect(ranks):
    def body():
        mesh = line()
        for options in ({}, {"enable": False}, {"throw_on_early_termination": True}):
            model = DDP(layer())
            optimizer = SGD(model.parameters(), lr=0.1)
            with model.join(**options):
                for k in range(3):
                    optimizer.zero_grad()
                    model(tensor(row(mesh.get_rank(), k))).sum().backward()
                    optimizer.step()
            want = expected([3] * mesh.size())
            np.testing.assert_allclose(model.module.weight.detach(), want, rtol=1e-12)

    ranks(body)


def test_all_ranks_raise_if_they_are_asked_to(ranks):
    def body():
        mesh = line()
        model = DDP(layer())
        optimizer = SGD(model.parameters(), lr=0.1)
        if mesh.size() == 1:
            return
        with pytest.raises(RuntimeError, match="exhausted") as caught:
            with model.join(throw_on_early_termination=True):
                train(model, optimizer, mesh)
        first = counts_of(mesh)[mesh.get_rank()] == min(counts_of(mesh))
        what = f"Rank {mesh.get_rank()} exhausted all inputs" if first else "Detected"
        assert str(caught.value).startswith(what)

    ranks(body)


def test_iterations_without_reductions_and_unused_parameters(ranks):
    """Every second gradient is kept, and one branch is used by no rank in turn."""

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = layer(), layer()

        def forward(self, x, both):
            return self.a(x) + self.b(x) if both else self.a(x)

    def body():
        mesh = line()
        rank, counts = mesh.get_rank(), [2 * (1 + r) for r in range(mesh.size())]
        model = DDP(Two(), find_unused_parameters=True)
        optimizer = SGD(model.parameters(), lr=0.1)
        with model.join():
            for k in range(0, counts[rank], 2):
                with model.no_sync():
                    model(tensor(row(rank, k)), True).sum().backward()
                model(tensor(row(rank, k + 1)), False).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
        want = {"a": WEIGHT.copy(), "b": WEIGHT.copy()}
        for k in range(0, max(counts), 2):
            on = [r for r, n in enumerate(counts) if n > k]
            n = mesh.size()
            want["a"] -= 0.1 * sum(row(r, k) + row(r, k + 1) for r in on) / n
        np.testing.assert_allclose(model.module.a.weight.detach(), want["a"])

    ranks(body)


def test_buffers_are_those_of_the_last_rank(ranks):
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer()
            self.register_buffer("seen", tensor(np.zeros(1)))

        def forward(self, x):
            with dtensor.no_grad():
                self.seen.add_(1.0)
            return self.layer(x)

    def body():
        mesh = line()
        model = DDP(Counted())
        optimizer = SGD(model.parameters(), lr=0.1)
        with model.join():
            train(model, optimizer, mesh)
        assert float(model.module.seen[0]) == max(counts_of(mesh))

    ranks(body)


class Adder(Joinable):
    """A sum over the ranks in each iteration, as in PyTorch's tutorial."""

    def __init__(self, mesh):
        super().__init__()
        self.mesh, self.total, self.after = mesh, 0.0, []

    def add(self, value):
        Join.notify_join_context(self)
        x = torch.tensor([float(value)])
        torch.distributed.all_reduce(x, group=self.mesh)
        self.total += float(x[0])

    def join_hook(self, **kwargs):
        adder = self

        class Hook(JoinHook):
            def main_hook(self):
                adder.add(0.0)

            def post_hook(self, is_last_joiner):
                adder.after.append((is_last_joiner, kwargs))

        return Hook()

    @property
    def join_device(self):
        return "cpu"

    @property
    def join_process_group(self):
        return self.mesh


def test_other_classes_may_join(ranks):
    def body():
        mesh = line()
        rank, n = mesh.get_rank(), mesh.size()
        adder = Adder(mesh)
        with Join([adder], some=1):
            for _ in range(rank + 1):
                adder.add(1.0)
        assert adder.total == n * (n + 1) / 2
        assert adder.after == [(rank == n - 1, {"some": 1})]
        with pytest.raises(ValueError, match="at least one"):
            Join([])

    ranks(body)


def test_torchs_path_has_it():
    names = torch.distributed.algorithms.join
    assert names.Join is torch.distributed.algorithms.Join is Join
    assert names.Joinable is Joinable and names.JoinHook is JoinHook
