"""What fails on one rank in calls without DTensors is raised on the ranks that it next
communicates with, unless it was that rank's own affair."""

import contextlib
import time
from functools import partial

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import (
    DeviceMesh,
    Replicate,
    Shard,
    distribute_tensor,
    functional_collectives as func,
    nn,
    optim,
)
from dtensor._core import world as _world
from dtensor.fsdp import fully_shard
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import _fault, run_ranks

A = np.arange(1.0, 13.0).reshape(3, 4)
INPUT = A.astype("f4")


def total(x, mesh):
    return func.all_reduce(x, "sum", (mesh, 0))


@np.errstate(all="raise")
def divided(x, alone):
    """Fails on one rank."""
    return x / (0.0 if alone else 2.0)


def is_last(mesh):
    return mesh.size() > 1 and mesh.get_rank() == mesh.size() - 1


def network():
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))


def told_everywhere(mesh, function, kind, call):
    """Whether a function that fails on the last rank is raised on all in the next call:
    at once there, in a second elsewhere, if it does not come."""
    start = time.monotonic()
    try:
        function()
        raised = None
    except kind as error:
        raised = error.args[0]
    if is_last(mesh):
        assert raised is not None and " failed in " not in raised
    if raised is None or is_last(mesh):
        with pytest.raises(kind, match=f"rank {mesh.size() - 1} failed in {call}: "):
            total(dtensor.tensor(A), mesh)
    else:
        assert raised.startswith(f"rank {mesh.size() - 1} failed in {call}: ")
    assert time.monotonic() - start < 10
    for _ in range(3):
        assert np.array_equal(total(dtensor.tensor(A), mesh), A * mesh.size())


# --- where it may fail ----------------------------------------------------------------


def test_an_operator_on_tensors_of_a_rank(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        x = total(dtensor.tensor(A), mesh)

        def step():
            return total(divided(x, is_last(mesh)), mesh)

        told_everywhere(mesh, step, FloatingPointError, "divide")

    ranks(body)


def models():
    mesh = line()
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    yield parallelize_module(network(), mesh, plan)
    yield fully_shard(network(), mesh=mesh)


def raising(alone):
    def hook(*_):
        if alone:
            raise KeyError("not here")

    return hook


def test_a_hook_of_a_parallel_module(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        for model in models():
            model[1].register_forward_hook(raising(is_last(mesh)))
            told_everywhere(mesh, partial(model, INPUT), KeyError, "a hook")

    ranks(body)


def test_the_memory_of_a_loss_of_tensors_of_a_rank(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        for model in models():
            model(INPUT)  # fills caches

            def step(model=model):
                y = model(INPUT)
                with _fault("array", 1 if is_last(mesh) else 0):
                    nn.functional.mse_loss(y, INPUT[:, :2]).backward()

            told_everywhere(mesh, step, MemoryError, "number_loss")

    ranks(body)


def test_a_hook_of_a_gradient(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return

        def step():
            x = dtensor.tensor(A, requires_grad=True)
            x.register_hook(raising(is_last(mesh)))
            (x * x).sum().backward()
            total(x.grad, mesh)

        told_everywhere(mesh, step, KeyError, "a hook")

    ranks(body)


def test_a_step_of_an_optimizer(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        p = nn.Parameter(distribute_tensor(A, mesh, [Shard(1)]))
        p.grad = p.detach()
        optimizer = optim.AdamW([p])
        optimizer.register_step_pre_hook(raising(is_last(mesh)))
        told_everywhere(mesh, optimizer.step, KeyError, "AdamW.step")

    ranks(body)


def test_the_clipping_of_gradients(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        p = nn.Parameter(distribute_tensor(np.ones((64, 4)), mesh, [Shard(0)]))
        p.grad = p.detach()
        nn.utils.clip_grad_norm_([p], 1.0, 1.0)  # fills caches

        def clip():
            with _fault("numpy", 1 if is_last(mesh) else 0):
                nn.utils.clip_grad_norm_([p], 1.0, 1.0)

        told_everywhere(mesh, clip, MemoryError, "get_total_norm")

    ranks(body)


def test_where_calls_are_not_compared(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        _world.current().check = False

        def step():
            return total(divided(dtensor.tensor(A), is_last(mesh)), mesh)

        told_everywhere(mesh, step, FloatingPointError, "divide")
        x = distribute_tensor(A, mesh, [Replicate()])

        def move():  # which sends nothing
            with _fault("array", 1 if is_last(mesh) else 0):
                x.redistribute(placements=[Shard(0)])

        told_everywhere(mesh, move, MemoryError, "redistribute")
        _world.current().check = True

    ranks(body)


# --- whom it concerns -----------------------------------------------------------------


def test_ranks_that_wait_hear_of_it_in_a_second():
    def body():
        mesh = line()
        x = dtensor.tensor(A)
        start = time.monotonic()
        try:
            x = divided(x, is_last(mesh))
        except FloatingPointError:
            return None  # and does nothing more
        with pytest.raises(FloatingPointError, match="rank 2 failed in divide"):
            total(x, mesh)
        return time.monotonic() - start

    waited = run_ranks(3, body)
    assert waited[2] is None and all(seconds < 3 for seconds in waited[:2])


def test_ranks_of_all_meshes_hear_of_it():
    """Ranks 1 and 2 share a mesh each with rank 3, on which it fails; rank 0 waits for
    rank 2, which has raised because of it."""

    def body():
        mesh = DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("data", "model"))
        data, model = mesh["data"], mesh["model"]
        x = total(total(dtensor.tensor(A), data), model)
        if mesh.get_rank() == 3:
            with pytest.raises(FloatingPointError):
                divided(x, True)
            return None
        x = divided(x, False)
        start = time.monotonic()
        with pytest.raises(FloatingPointError, match="^rank 3 failed in divide"):
            total(total(x, model), data)
        return time.monotonic() - start

    waited = run_ranks(4, body)
    assert waited[3] is None and all(seconds < 6 for seconds in waited[:3])


def test_a_rank_that_computes_while_the_exception_is_raised_is_not_waited_for():
    def body():
        mesh = line()
        x = dtensor.tensor(A)
        if is_last(mesh):
            try:
                divided(x, True)
            except FloatingPointError:
                assert (x * 2).sum() > 0
                return
        x = divided(x * 2, False)
        with pytest.raises(FloatingPointError, match="rank 1 failed in divide"):
            total(x, mesh)

    run_ranks(2, body)


# --- what concerns nobody -------------------------------------------------------------


def test_what_fails_alike_on_all_ranks(ranks):
    def body():
        mesh = line()
        for _ in range(3):
            with pytest.raises(FloatingPointError):
                divided(dtensor.tensor(A), True)
        assert np.array_equal(total(dtensor.tensor(A), mesh), A * mesh.size())

    ranks(body)


def test_what_one_rank_computes_for_itself(ranks):
    """Though all compute the same before and after it."""

    def body():
        mesh = line()
        for _ in range(3):
            x = divided(total(dtensor.tensor(A), mesh), False)
            if mesh.get_rank() == 0:
                with contextlib.suppress(FloatingPointError):
                    divided(x, True)
            y = total(divided(x, False), mesh)
            assert np.allclose(y, A * mesh.size() ** 2 / 4)

    ranks(body)


def test_what_one_rank_computes_for_itself_for_a_long_time():
    def body():
        mesh = line()
        x = dtensor.tensor(A)
        if mesh.get_rank() == 0:
            with contextlib.suppress(FloatingPointError):
                divided(x, True)
            (x * 3).sum()  # it goes on
            time.sleep(1.6)
        y = divided(divided(x, False), False)
        assert np.allclose(total(y, mesh), A / 4 * mesh.size())

    run_ranks(3, body)


def test_what_is_tried_again(ranks):
    def body():
        mesh = line()
        x = dtensor.tensor(A)
        with contextlib.suppress(FloatingPointError):
            y = divided(x, is_last(mesh))
        y = divided(x, False) if is_last(mesh) else y
        assert np.allclose(total(y, mesh), A * mesh.size() / 2)

    ranks(body)
