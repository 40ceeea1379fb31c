"""Between nodes backward computes while gradients are on their way: the same bits, and
errors on all ranks."""

from contextlib import contextmanager

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import Replicate, Shard, distribute_tensor, nn, tensor
from dtensor._core import world as _world
from dtensor.autograd import grad
from dtensor.debug import CommDebugMode
from dtensor.fsdp import fully_shard
from dtensor.nn import functional as F
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.operator import call, operator
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

R, S0 = Replicate(), Shard(0)
RNG = np.random.default_rng(5)
X, W = RNG.normal(size=(6, 5)), RNG.normal(size=(5, 5))
WIDE = 400  # whose gradient is too large to wait for others that are to be reduced


@contextmanager
def overlapping(on=True):
    """As in a job of several nodes, or as on one."""
    world = _world.current()
    before, world.overlaps = world.overlaps, on
    try:
        yield
    finally:
        world.overlaps = before


class Layers(nn.Module):
    def __init__(self, width, count=3):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(5) for _ in range(count))
        self.up = nn.ModuleList(nn.Linear(5, width) for _ in range(count))
        self.down = nn.ModuleList(nn.Linear(width, 5) for _ in range(count))

    def forward(self, x):
        for norm, up, down in zip(self.norms, self.up, self.down, strict=True):
            x = x + down(F.gelu(up(norm(x))))
        return x


def made(width=12):
    dtensor.random.manual_seed(0)
    return Layers(width).to(np.float64)


def tensor_parallel():
    """Whose inputs are plain tensors."""
    plan = {"up.*": ColwiseParallel(), "down.*": RowwiseParallel()}
    return parallelize_module(made(), line(), plan), tensor(X)


def distributed(width, rows, columns):
    """All of them DTensors."""
    model, mesh = made(width), square()

    def place(name, module, mesh):
        for key, p in module.named_parameters(recurse=False):
            cut = "up" in name or ("down" in name and p.ndim == 2)
            way = [R, Shard(int("down" in name)) if cut and columns else R]
            module.register_parameter(
                key, nn.Parameter(distribute_tensor(p.detach(), mesh, way))
            )

    model = dtensor.distribute_module(model, mesh, place)
    return model, distribute_tensor(X, mesh, [S0 if rows else R, R])


MODELS = {
    "parallelize_module": tensor_parallel,
    "tensor parallel": lambda: distributed(12, False, True),
    "data parallel": lambda: distributed(12, True, False),
    "data parallel, wide": lambda: distributed(WIDE, True, False),
    "both": lambda: distributed(12, True, True),
}


def whole(array):
    return np.asarray(getattr(array, "full_tensor", lambda: array)())


def gradients_of(name):
    model, x = MODELS[name]()
    x.requires_grad_()
    for turn in range(4):
        model.zero_grad()
        with CommDebugMode() as comm:
            (model(x) ** 2).sum().backward()
        if turn == 1:
            x.grad = None
    found = [whole(p.grad) for p in model.parameters()]
    return [*found, whole(x.grad)], comm.get_comm_counts()


@pytest.mark.parametrize("name", MODELS)
def test_gradients_and_messages_are_the_same(ranks, name):
    def body():
        with overlapping(False):
            expected, counts = gradients_of(name)
        with overlapping():
            found, others = gradients_of(name)
        assert counts == others
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)

    ranks(body)


def test_gradients_of_parameters_wait_for_what_is_sent(ranks):
    def seen():
        model, x = tensor_parallel()
        weight, order = model.down[2].weight, []
        y = model.norms[2](x.requires_grad_())
        y.register_hook(lambda g: order.append(weight.grad is not None))
        z = model.up[2](y)
        z.register_hook(lambda g: order.append(weight.grad is not None))
        model.down[2](z).sum().backward()
        return order

    def body():
        with overlapping(False):
            assert seen() == [True, True]
        with overlapping():
            assert seen() == [False, _world.current().size > 1]

    ranks(body)


def test_parameters_with_hooks_or_several_uses_have_theirs_as_ever(ranks):
    def grads():
        w = tensor(W, requires_grad=True)
        v = tensor(W, requires_grad=True)
        x, order = tensor(X, requires_grad=True), []
        w.register_hook(lambda g: order.append("w"))
        y = x @ w
        y.register_hook(lambda g: order.append("y"))
        x.register_hook(lambda g: order.append("x"))
        z = (y @ v) @ v + y @ v * 0.1
        (z**2).sum().backward(retain_graph=True)
        (z**2).sum().backward()
        return order, w.grad, v.grad, x.grad

    def body():
        with overlapping(False):
            expected = grads()
        with overlapping():
            found = grads()
        assert found[0] == expected[0]
        for a, b in zip(found[1:], expected[1:], strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))

    ranks(body)


def test_gradients_of_gradients_do_not_wait(ranks):
    def second():
        model, x = tensor_parallel()
        x.requires_grad_()
        (g,) = grad((model(x) ** 2).sum(), [x], create_graph=True)
        (g**2).sum().backward()
        return [whole(p.grad) for p in model.parameters()]

    def body():
        with overlapping(False):
            expected = second()
        with overlapping():
            for a, b in zip(second(), expected, strict=True):
                np.testing.assert_array_equal(a, b)

    ranks(body)


@operator
def product(x, y):
    """Return x * y."""
    return broadcast([x, y], "any"), call(np.multiply, x, y)


class Trouble(Exception):
    pass


def fails_on_last(grad, _out, x, _y):
    world = _world.current()
    if world.rank == world.size - 1:
        raise Trouble("on one rank alone")
    return grad * x


product.vjp(lambda grad, _out, _x, y: grad * y, fails_on_last)


def test_one_that_fails_on_one_rank_fails_on_all(ranks):
    def body():
        world, mesh = _world.current(), line()
        w = distribute_tensor(np.ones(5), mesh, [R]).requires_grad_()
        x = distribute_tensor(X, mesh, [R]).requires_grad_()
        with overlapping():
            y = (x * 2).redistribute(placements=[S0])  # whose gradient is gathered
            loss = product(y, w.redistribute(placements=[R])).sum() + (w * 0).sum()
            alone = world.rank == world.size - 1
            with pytest.raises(Trouble if alone else (Trouble, RuntimeError)):
                loss.backward()
                x.full_tensor().sum()  # at the latest here
                distribute_tensor(X, mesh, [S0]).full_tensor()
        dtensor.resync()
        assert np.array_equal(x.detach().full_tensor(), X)

    ranks(body)


@operator
def shifted(x, weight, scale):
    """Return x + weight * scale."""

    def kernel(x, weight, scale):
        return x + weight * scale

    return broadcast([x, weight, scale], "any"), call(kernel, x, weight, scale)


shifted.vjp(
    lambda grad, _out, _x, _weight, _scale: grad,
    None,
    lambda grad, _out, _x, weight, _scale: grad * weight,
)


class Shifted(nn.Module):
    """A frozen weight, scaled by a parameter that fully_shard leaves alone."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(tensor(W), requires_grad=False)
        self.scale = nn.Parameter(tensor(W[0].copy()))
        self.bias = nn.Parameter(tensor(W[1].copy()))

    def forward(self, x):
        return shifted(x + self.bias, self.weight, self.scale) * 2.0


def test_parameters_under_fully_shard_are_there_until_then(ranks):
    def grads():
        model = nn.Sequential(nn.Linear(5, 5), Shifted()).to(np.float64)
        with dtensor.no_grad():
            model[0].weight.copy_(W)
            model[0].bias.zero_()
        alone = {model[1].scale}
        fully_shard(model[1], mesh=line(), ignored_params=alone)
        fully_shard(model, mesh=line(), ignored_params=alone)
        (model(tensor(X[:5])) ** 2).sum().backward()
        return [whole(p.grad) for p in model.parameters() if p.requires_grad]

    def body():
        with overlapping(False):
            expected = grads()
        with overlapping():
            for a, b in zip(grads(), expected, strict=True):
                np.testing.assert_array_equal(a, b)

    ranks(body)
