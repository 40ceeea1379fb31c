"""What ranks may do differently, or alone, is no divergence."""

import copy
import tempfile

import numpy as np
import pytest
from test_lineage import model_of, start

import dtensor
import dtensor.functional_collectives as funcol
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    checkpoint,
    init_device_mesh,
    optim,
)
from dtensor._core import world
from dtensor.amp import autocast
from dtensor.testing import run_ranks
from dtensor.utils.checkpoint import checkpoint as recomputed

pytestmark = pytest.mark.filterwarnings("ignore::dtensor.FallbackWarning")


def logging_on_one_rank():
    mesh, a, b, odd = start()
    if odd:
        str((2 * a).to_local())
        dtensor.arange(3, device_mesh=mesh)
        copy.deepcopy(b).to_local()[:] = 0
        a.detach()
        dtensor.zeros(3, device_mesh=mesh) + 1
    a *= 2
    return (a + b).full_tensor().numpy().tolist()


def numbers_that_differ():
    mesh, a, _, odd = start()
    with dtensor.differs():
        x = a * (2.0 if odd else 1.0)
        z = np.linalg.pinv(a, rcond=1e-3 if odd else 1e-2)
    y = np.sum(x).item() + np.sum(z).item()
    return y


def gradients_of_numbers_that_differ():
    _, a, _, odd = start()
    a.requires_grad_()
    with dtensor.differs():
        y = np.clip(a * (1.0 + odd), 2, 90 + odd) ** (1.0 + odd)
        y = y + recomputed(lambda v: v * (3.0 + odd), a, use_reentrant=False)
    y.sum().backward()
    return a.grad.sum().item()


def writes_into_local_parts():
    _, a, _, odd = start()
    part = a.to_local()
    if odd:
        part *= 2
    return a.full_tensor().numpy().tolist()


def stages_on_submeshes():
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "tp"))
    stage = mesh.get_coordinate()[0]
    x = dtensor.ones((4, 2), device_mesh=mesh["tp"], placements=[Shard(0)])
    for _ in range(1 + stage):
        x = x * (2.0 + stage)
        x = DTensor.from_local(x.to_local(), mesh["tp"], [Shard(0)])
    return np.sum(x).item()


def errors_swallowed_alike():
    mesh, a, _, _ = start()
    for _ in range(3):
        with pytest.raises(ValueError):
            a + dtensor.ones(7, device_mesh=mesh)
        a = a + 1
    return a.full_tensor().numpy().tolist()


def accumulation():
    mesh, a, b, _ = start()
    model = model_of(mesh)
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(4):
        model(a if step % 2 else b).sum().backward()
        if step % 2:
            sgd.step()
            sgd.zero_grad()
    return model(a).full_tensor().detach().numpy().tolist()


def moves_between_meshes():
    whole = init_device_mesh("cpu", (4,))
    half = dtensor.DeviceMesh("cpu", [0, 1])
    x = dtensor.distribute_tensor(np.arange(8.0), half, [Shard(0)])
    y = x.redistribute(whole, [Shard(0)])
    return (y + 1).full_tensor().numpy().tolist()


def async_moves():
    _, a, b, _ = start()
    x, y = (t.redistribute(placements=[Shard(1)], async_op=True) for t in (a, b))
    return (x + y).full_tensor().numpy().tolist()


def partials():
    mesh, _, _, _ = start()
    x = DTensor.from_local(np.full(3, mesh.get_rank() + 1.0), mesh, [Partial()])
    return x.full_tensor().numpy().tolist()


def uneven_last_batches():
    mesh, a, _, _ = start()
    model = model_of(mesh)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    numbers = np.arange(30.0).reshape(10, 3)
    for first in range(0, 10, 4):
        batch = numbers[first : first + 4]
        x = dtensor.distribute_tensor(batch, mesh, [Shard(0)])
        model(x).sum().backward()
        sgd.step()
        sgd.zero_grad()
    return model(a).full_tensor().detach().numpy().tolist()


def ranks_outside():
    start()
    three = dtensor.DeviceMesh("cpu", [0, 1, 2])
    x = dtensor.ones((6, 2), device_mesh=three, placements=[Shard(0)])
    y = np.cumsum(x * 2, axis=0).full_tensor()
    return y.numpy().tolist()


def checkpoint_of_a_subgroup():
    """Two stages, each in a checkpoint of its own."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "tp"))
    stage = mesh.get_local_rank("pp")
    x = dtensor.ones((4, 2), device_mesh=mesh["tp"], placements=[Shard(0)])
    x *= 2.0 + stage
    with tempfile.TemporaryDirectory() as place:
        mine = world.current().share(place.encode())[2 * stage].decode()
        group = {"process_group": mesh["tp"]}
        checkpoint.save({"x": x}, checkpoint_id=f"{mine}/x", **group)
        y = dtensor.zeros((4, 2), device_mesh=mesh["tp"], placements=[Shard(0)])
        checkpoint.load({"x": y}, checkpoint_id=f"{mine}/x", **group)
        world.current().share(b"")  # before the folders are removed
    return y.full_tensor().numpy().tolist()


def recomputation():
    mesh, a, _, _ = start()
    model = model_of(mesh)
    x = a.detach().requires_grad_()
    y = recomputed(model, x)
    y.sum().backward()
    return x.grad.full_tensor().numpy().tolist()


def functional_collectives_of_parts():
    mesh, a, _, _ = start()
    rows = funcol.all_gather_tensor(a.to_local() * (mesh.get_rank() + 1), 0, mesh)
    total = funcol.all_reduce(a.to_local(), "sum", mesh)
    return (np.asarray(rows) + np.asarray(total)).tolist()


def a_checkpoint_that_brings_ranks_together_again():
    mesh, a, b, odd = start()
    with tempfile.TemporaryDirectory() as place:
        mine = world.current().share(place.encode())[0].decode()
        checkpoint.save({"a": a}, checkpoint_id=f"{mine}/a")
        if odd:
            b *= 2
        checkpoint.load({"a": b}, checkpoint_id=f"{mine}/a")
        world.current().share(b"")
    return (a + b).full_tensor().numpy().tolist()


def hooks_that_log_on_one_rank():
    mesh, a, _, odd = start()
    model = model_of(mesh)
    for p in model.parameters() if odd else ():
        p.register_hook(lambda grad: str(grad.to_local()) and None)
        p.register_post_accumulate_grad_hook(lambda p: str(p.grad.to_local()) and None)
    model(a).sum().backward()
    return [p.grad.full_tensor().numpy().tolist() for p in model.parameters()]


def steps_of_views_some_of_which_are_empty():
    mesh, _, _, _ = start()
    x = dtensor.distribute_tensor(np.arange(12.0).reshape(2, 6), mesh, [Shard(0)])
    w = x[:, ::2].detach().requires_grad_()
    adam = optim.Adam([w], lr=0.1)
    for _ in range(2):
        adam.zero_grad()
        (w * w).sum().backward()
        adam.step()
    return w.detach().full_tensor().numpy().tolist()


def casts_that_one_rank_made_first():
    mesh, a, _, odd = start()
    weights = [
        dtensor.distribute_tensor(np.eye(3, dtype="f4") * k, mesh, [Replicate()])
        for k in (1, 2, 3)
    ]
    for w in weights:
        w.requires_grad_()
    y = a.astype("f4")
    with autocast("cpu", dtype="float16"):
        if odd:
            str((weights[2] @ weights[1]).to_local())
        for w in weights:
            y = y @ w
        loss = y.sum()
    loss.backward()
    return [w.grad.full_tensor().numpy().tolist() for w in weights]


ALIKE = [
    logging_on_one_rank, numbers_that_differ, gradients_of_numbers_that_differ,
    writes_into_local_parts,
    stages_on_submeshes, errors_swallowed_alike, accumulation, moves_between_meshes,
    async_moves, partials, uneven_last_batches, ranks_outside,
    checkpoint_of_a_subgroup, recomputation, functional_collectives_of_parts,
    a_checkpoint_that_brings_ranks_together_again, hooks_that_log_on_one_rank,
    steps_of_views_some_of_which_are_empty, casts_that_one_rank_made_first,
]  # fmt: skip
BY_RANK = [stages_on_submeshes, ranks_outside, checkpoint_of_a_subgroup]


@pytest.mark.parametrize("program", ALIKE, ids=lambda f: f.__name__)
def test_what_ranks_may_do_alone_is_no_divergence(program):
    answers = run_ranks(4, program)
    if program not in BY_RANK:
        assert all(answer == answers[0] for answer in answers)
