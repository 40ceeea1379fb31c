"""Modules whose parameters, gradients and inputs pass through rank-local Tensors: ranks
that part there find out."""

import numpy as np
import pytest

import dtensor
from dtensor import Replicate, Shard, init_device_mesh, nn, optim
from dtensor._core import world as _world
from dtensor.checkpoint import save_npy
from dtensor.experimental import local_map
from dtensor.fsdp import fully_shard, replicate
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks

X = np.random.default_rng(0).standard_normal((4, 3)).astype("f4")
DIFFERENT = "have different values|with other arguments|not the same on all ranks"


def spread(kind=fully_shard):
    """Two layers, and their gradients."""
    mesh = init_device_mesh("cpu", (2,))
    dtensor.random.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    for layer in model:
        kind(layer, mesh=mesh)
    backward(model)
    return model


def backward(model):
    (model(dtensor.tensor(X)) ** 2).mean().backward()


def doubled(odd):
    grad = spread()[0].weight.grad
    if odd:
        grad *= 2
    grad.full_tensor()


def of_another_layer(odd):
    (spread()[int(odd)].weight.grad * 2).full_tensor()


def exchanged(odd):
    model = spread()
    a, b = model[0].weight, model[1].weight
    if odd:
        a.grad, b.grad = b.grad, a.grad
    optim.SGD(model.parameters(), lr=0.1).step()
    a.full_tensor()


def of_the_step_before(odd):
    model = spread()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    old = model[0].weight.grad
    optimizer.step()
    optimizer.zero_grad()
    backward(model)
    if odd:
        model[0].weight.grad = old
    optimizer.step()
    model[0].weight.full_tensor()


def in_another_order(odd):
    mesh = init_device_mesh("cpu", (2,))
    modules = [fully_shard(nn.Linear(3, 3), mesh=mesh) for _ in range(2)]
    losses = [(m(dtensor.tensor(X)) ** 2).mean() for m in modules]
    for loss in reversed(losses) if odd else losses:
        loss.backward()


def of_replicas(odd):
    model = spread(replicate)
    optim.SGD(model.parameters(), lr=0.2 if odd else 0.1).step()
    backward(model)


def divided():
    mesh = init_device_mesh("cpu", (2,))
    dtensor.random.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3), nn.Linear(3, 4))
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel(), "3": ColwiseParallel()}
    return parallelize_module(model, mesh, plan)


def of_a_divided_layer(odd, layer=0):
    model = divided()
    with dtensor.no_grad():
        if odd:
            model[layer].weight *= 2
        model(dtensor.tensor(X))


def of_a_last_layer(odd):
    of_a_divided_layer(odd, 3)


def of_a_divided_bias(odd):
    model = divided()
    optimizer = optim.SGD([model[0].bias], lr=0.2 if odd else 0.1)
    for _ in range(2):
        backward(model)
        optimizer.step()


def without_a_bias(odd):
    model = divided()
    backward(model)
    if not odd:
        optim.SGD(model[0].parameters(), lr=0.1).step()
    with dtensor.no_grad():
        model(dtensor.tensor(X))


def saved(odd, path):
    x = dtensor.ones(4, 2, device_mesh=init_device_mesh("cpu", (2,)))
    if odd:
        x *= 10
    save_npy(path, x)


def normed(odd):
    grid = init_device_mesh("cpu", (2, 1), mesh_dim_names=("dp", "tp"))
    grads = [
        dtensor.ones(4, 4, device_mesh=mesh, placements=[Shard(0)] * mesh.ndim)
        for mesh in (grid, grid["dp"])
    ]
    if odd:
        grads[1] *= 2
    nn.utils.get_total_norm(grads)


def of_a_number(odd):
    x = dtensor.ones(4, device_mesh=init_device_mesh("cpu", (2,)))
    times = local_map(lambda part, by: part * by, [Replicate()], ([Replicate()], None))
    (
        times(x, 3.0 if odd else 2.0).redistribute(placements=[Shard(0)]) + 1
    ).full_tensor()


PROGRAMS = [
    doubled,
    of_another_layer,
    exchanged,
    of_the_step_before,
    in_another_order,
    of_replicas,
    of_a_divided_layer,
    of_a_last_layer,
    of_a_divided_bias,
    without_a_bias,
    normed,
    of_a_number,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_rank_that_parts_is_noticed(program):
    def body(parts):
        program(parts and _world.current().rank == 1)

    run_ranks(2, body, False)
    with pytest.raises(RuntimeError, match=DIFFERENT):
        run_ranks(2, body, True)


def other_module(odd, make):
    """The second module of some has another parameter before the same one."""
    mesh = init_device_mesh("cpu", (2,))
    dtensor.random.manual_seed(0)
    models = [nn.Sequential(nn.Linear(3, 3)), nn.Sequential(nn.ReLU(), nn.Linear(3, 3))]
    for model in reversed(models) if odd else models:
        make(model, mesh)


@pytest.mark.parametrize("make", [dtensor.distribute_module, parallelize_module])
def test_parameters_of_another_module_are_refused(make):
    def spread(model, mesh):
        plan = {
            name: ColwiseParallel()
            for name, layer in model.named_children()
            if isinstance(layer, nn.Linear)
        }
        make(model, mesh, *([] if make is dtensor.distribute_module else [plan]))

    run_ranks(2, lambda: other_module(False, spread))
    with pytest.raises(RuntimeError, match=r"\(1\.weight, 1\.bias\)"):
        run_ranks(2, lambda: other_module(_world.current().rank == 1, spread))


def test_a_file_of_arrays_that_differ(tmp_path):
    def body(parts):
        saved(parts and _world.current().rank == 1, tmp_path / "x.npy")

    run_ranks(2, body, False)
    with pytest.raises(RuntimeError, match=DIFFERENT):
        run_ranks(2, body, True)
