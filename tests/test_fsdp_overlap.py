"""fully_shard in a job of several nodes: it computes while data are on their way."""

from contextlib import contextmanager

import numpy as np
import pytest
from fsdp_models import check, reference, sharded, train
from meshes import line

import dtensor
from dtensor import nn, tensor
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode
from dtensor.fsdp import fully_shard
from dtensor.nn import functional as F
from dtensor.optim import SGD

X = np.random.default_rng(0).normal(size=(6, 5))


@contextmanager
def overlapping(on=True):
    """As in a job of several nodes, or as on one."""
    world = _world.current()
    before, world.overlaps = world.overlaps, on
    try:
        yield
    finally:
        world.overlaps = before


@pytest.mark.parametrize("reshard", [None, True, False])
def test_training_is_that_of_one_process(ranks, reshard):
    expected = reference()

    def body():
        with overlapping():
            model = sharded(line(), reshard_after_forward=reshard)
            check(model, train(model, line()), expected)

    ranks(body)


class Trouble(Exception):
    pass


class Layer(nn.Module):
    """Adds to its input; fails in forward or in backward if it is told to."""

    def __init__(self):
        super().__init__()
        self.inner, self.fails = nn.Linear(5, 5), None

    def fail(self, *_):
        raise Trouble("on one rank")

    def forward(self, x):
        y = F.gelu(self.inner(x))
        if self.fails == "forward":
            self.fail()
        if self.fails == "backward":
            y.register_hook(self.fail)
        return x + y


class Layers(nn.Module):
    """Goes through all layers, or through the given ones."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(4))

    def forward(self, x, which=range(4)):
        for k in which:
            x = self.layers[k](x)
        return x


def layers():
    dtensor.random.manual_seed(0)
    model = Layers().to(np.float64)
    for layer in model.layers:
        fully_shard(layer, mesh=line())
    return fully_shard(model, mesh=line())


def step(model, optimizer, *which):
    with CommDebugMode() as comm:
        (model(tensor(X + _world.current().rank), *which) ** 2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return comm.get_comm_counts()


def whole(model):
    return [np.array(p.detach().full_tensor()) for p in model.parameters()]


def coming(model):
    return [layer._state().group.is_coming for layer in model.layers]


def test_bits_and_messages_are_those_of_one_node(ranks):
    def trained():
        model = layers()
        optimizer = SGD(model.parameters(), lr=0.1)
        return [step(model, optimizer) for _ in range(4)], whole(model)

    def body():
        with overlapping(False):
            counts, values = trained()
        with overlapping():
            others, found = trained()
        assert counts == others
        for a, b in zip(found, values, strict=True):
            np.testing.assert_array_equal(a, b)

    ranks(body)


def test_layers_that_are_used_in_turns(ranks):
    ways = [(0, 1, 2, 3), (0, 1), (3, 2, 1, 0), (1, 1, 0, 1), (2,), (0, 1, 2, 3)]

    def trained():
        model = layers()
        optimizer = SGD(model.parameters(), lr=0.1)
        for way in ways:
            step(model, optimizer, way)
            assert not any(coming(model))
            with dtensor.no_grad():
                model(tensor(X), way[:1])
                model.layers[way[0]](tensor(X))
            assert not any(coming(model))
        return whole(model)

    def body():
        with overlapping(False):
            expected = trained()
        with overlapping():
            for a, b in zip(trained(), expected, strict=True):
                np.testing.assert_array_equal(a, b)

    ranks(body)


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_training_goes_on_after_an_error_of_one_rank(ranks, where):
    def body():
        world = _world.current()
        with overlapping():
            model = layers()
            optimizer = SGD(model.parameters(), lr=0.1)
            for _ in range(2):
                step(model, optimizer)
            alone = world.rank == world.size - 1
            model.layers[1].fails = where if alone else None
            with pytest.raises(Trouble if alone else RuntimeError):
                step(model, optimizer)
                dtensor.resync()
            model.layers[1].fails = None
            dtensor.resync()
            model.reset_iter_state()
            optimizer.zero_grad()
            before = whole(model)
            step(model, optimizer)
            after = whole(model)
        assert not any(np.array_equal(a, b) for a, b in zip(before, after, strict=True))

    ranks(body)
