"""Ranks that an error has left in different calls come back in step."""

import signal
import time

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor, resync
from dtensor._core import world as _world
from dtensor.testing import run_ranks

R, S0 = Replicate(), Shard(0)


def placed(array, placement=S0):
    return distribute_tensor(np.asarray(array), line(), [placement])


def own_rank():
    return _world.current().rank


def is_in_step(*tensors):
    """Calls of all kinds meet each other, and give the right values."""
    for k in range(3):
        x = placed(np.arange(7.0) + k)
        assert (2 * x).sum().item() == 2 * (21 + 7 * k)
        assert np.array_equal(np.asarray(x.full_tensor()), np.arange(7.0) + k)
        assert dtensor.full(5, k, device_mesh=line(), placements=[S0]).sum() == 5 * k
        y = DTensor.from_local(np.full(2, k), line(), [S0])
        assert y.sum() == 2 * k * line().size()
    for tensor in tensors:
        assert tensor.full_tensor().shape == tensor.shape


# --- errors that one rank swallows ----------------------------------------------------


class OnlyHereError(Exception):
    """What one rank raises."""


def raised_between_calls(x, alone):
    y = x + 1
    if alone:
        raise OnlyHereError
    return y.sum().item()


def raised_by_a_kernel(x, alone):
    with np.errstate(all="raise"):
        y = 1 / (x.detach() - (1 if alone else 100))
    if alone:
        raise OnlyHereError
    return y.sum().item()


def refused_argument(x, alone):
    if alone:
        x.redistribute(placements=[Shard(7)])
    return x.redistribute(placements=[R])


def raised_in_a_callback(x, alone):
    def make(index):
        if alone:
            raise OnlyHereError
        return np.zeros((7,))[index]

    y = dtensor.from_callback((7,), line(), [S0], make)
    return y.sum().item()


def extra_call(x, alone):
    if alone:
        x.full_tensor()


def skipped_calls(x, alone):
    if not alone:
        x.full_tensor()
        x.sum().item()


def other_order(x, alone):
    order = [x.full_tensor, lambda: x.sum().item()]
    for call in order[::-1] if alone else order:
        call()


KINDS = [
    raised_between_calls,
    raised_by_a_kernel,
    refused_argument,
    raised_in_a_callback,
    extra_call,
    skipped_calls,
    other_order,
]


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_ranks_are_in_step_after_an_error_that_one_has_swallowed(ranks, kind, first):
    def body():
        x = placed(np.arange(8.0))
        alone = own_rank() == (0 if first else _world.current().size - 1)
        begin = time.monotonic()
        for _ in range(2):
            try:
                kind(x, alone)
            except Exception:
                pass
        resync(x)
        assert time.monotonic() - begin < 8
        is_in_step(x)
        assert x.sum().item() == 28

    ranks(body)


def test_who_waits_in_an_old_call_is_told_who_has_called_resync(ranks):
    def body():
        x = placed(np.arange(8.0))
        if own_rank() > 0:
            with pytest.raises(RuntimeError, match=r"full_tensor.* was given up: rank"):
                x.full_tensor()
        resync()
        is_in_step(x)

    ranks(body)


def test_resync_can_be_called_at_any_time(ranks):
    def body():
        x = placed(np.arange(8.0))
        for _ in range(5):
            resync()
            resync(x, x)
            is_in_step(x)

    ranks(body)


# --- ranks that do not come -----------------------------------------------------------


def test_a_rank_that_does_not_come_is_named_and_others_refuse_all_calls_until_it_does():
    def body():
        x = placed(np.arange(8.0))
        if own_rank() == 1:
            time.sleep(1)
        else:
            with pytest.raises(RuntimeError, match="rank 1 did not call it"):
                resync()
            with pytest.raises(RuntimeError, match="all ranks must call it"):
                x.full_tensor()
        _world.current().timeout = 20
        resync()
        is_in_step(x)

    run_ranks(3, body, timeout=0.4)


# --- tensors --------------------------------------------------------------------------


def test_replicas_that_differ_are_named(ranks):
    def body():
        rank, size = own_rank(), _world.current().size
        x = placed(np.arange(6.0), R)
        y = placed(np.arange(6.0), R)
        if rank == size - 1 > 0:
            np.asarray(y.to_local())[2] = 7
        if size == 1:
            resync(x, y)
        else:
            named = (
                f"but argument 1 has other elements on rank {size - 1} than on rank 0"
            )
            with pytest.raises(RuntimeError, match=named):
                resync(x, y)
        is_in_step(x)

    ranks(body)


def test_replicas_are_compared_along_the_dims_of_the_mesh_that_have_them():
    def body():
        mesh = dtensor.init_device_mesh("cpu", (2, 2))
        x = distribute_tensor(np.arange(8.0), mesh, [R, S0])
        y = dtensor.DTensor.from_local(np.full(2, own_rank()), mesh, [S0, Partial()])
        resync(x, y)
        if own_rank() == 3:
            np.asarray(x.to_local())[0] = np.nan
        with pytest.raises(
            RuntimeError, match="argument 0 .* on rank 3 than on rank 1$"
        ):
            resync(x, y)

    run_ranks(4, body)


def test_tensors_begin_anew_and_others_keep_their_history(ranks):
    def body():
        x, y = placed(np.arange(8.0)), placed(np.arange(8.0))
        first = own_rank() == 0
        z = x * 2 if first else 2 * x
        w = y * 2 if first else 2 * y
        for tensor in (x, y):
            tensor.mul_(2) if first else np.multiply(2, tensor, out=tensor)
        resync(x, z)
        assert np.array_equal(np.asarray(z.full_tensor()), 2 * np.arange(8.0))
        assert x.sum().item() == 56
        x += 1  # also what is written from now on is the same
        assert x.sum().item() == 64
        for tensor in (y, w):
            if _world.current().size == 1:
                tensor.full_tensor()
            else:
                with pytest.raises(RuntimeError, match="different values"):
                    tensor.full_tensor()
        resync(y, w)
        is_in_step(x, y, z, w)

    ranks(body)


def test_what_only_some_ranks_bring_is_an_error_on_all(ranks):
    def body():
        x, y = placed(np.arange(6.0), R), placed(np.arange(6.0))
        if own_rank() == 0:
            with pytest.raises(TypeError, match="argument 1 is numpy.ndarray"):
                resync(x, np.zeros(3))
        else:
            with pytest.raises(
                TypeError, match="rank 0.*: .* argument 1 is numpy.ndarray"
            ):
                resync(x, x)
        if _world.current().size > 1:
            with pytest.raises(RuntimeError, match="different calls"):
                resync(*[x] * own_rank())
            with pytest.raises(RuntimeError, match="0 is another tensor on rank 1"):
                resync(y if own_rank() == 1 else x)
        resync(x)
        is_in_step(x)

    ranks(body)


# --- moves and meshes -----------------------------------------------------------------


def test_a_move_that_was_not_waited_for_is_given_up(ranks):
    def body():
        x = placed(np.arange(8.0))
        y = x.redistribute(placements=[R], async_op=True)
        z = x.redistribute(placements=[R], async_op=True) if own_rank() == 0 else None
        resync(x)
        if _world.current().size > 1 and z is not None:
            with pytest.raises(RuntimeError, match="called resync"):
                z.to_local()
        try:
            assert np.array_equal(np.asarray(y.to_local()), np.arange(8.0))
        except RuntimeError as error:
            assert "called resync" in str(error)
        is_in_step(x)

    ranks(body)


def test_meshes_of_some_ranks_are_in_step_too():
    def body():
        mesh = dtensor.init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        row = mesh["b"]
        x = distribute_tensor(np.arange(4.0), row, [S0])
        y = distribute_tensor(np.arange(own_rank() // 2 + 1.0), row, [R])
        if own_rank() in (1, 2):
            with pytest.raises(RuntimeError, match="was given up"):
                x.full_tensor()
        resync(x, y)
        for k in range(3):
            assert (x + k).sum().item() == 6 + 4 * k
        is_in_step()

    run_ranks(4, body)


def test_a_call_of_other_ranks_alone_is_not_disturbed():
    def body():
        mesh = dtensor.init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        x = distribute_tensor(np.arange(4.0), mesh["b"], [S0])
        if own_rank() == 3:
            time.sleep(0.5)  # rank 2 waits for it, while ranks 0 and 1 are in resync
        if own_rank() >= 2:
            assert x.sum().item() == 6
        resync(x)
        is_in_step(x)

    run_ranks(4, body)


# --- processes ------------------------------------------------------------------------


@pytest.mark.mpi
def test_a_rank_that_cannot_exchange_data_any_more_can_again(world):
    if world.rank == 0:
        world.abort("rank 0 has lost its way")
        with pytest.raises(RuntimeError, match="lost its way"):
            placed(np.arange(8.0))
    resync()
    is_in_step()


class Late(Exception):  # noqa: N818  of a signal
    """Raised by a signal."""


@pytest.mark.mpi
@pytest.mark.parametrize("after", [0.001, 0.01, 0.05, 0.2])
def test_moves_that_a_signal_has_ended_meet_no_later_call(world, after):
    def end(*_):
        raise Late

    def moves():  # where it jumps back, Python 3.13 has raised outside of a `try`
        while time.monotonic() - begin < 1:
            x.full_tensor()

    x = placed(np.arange(1.0e6))
    _world.MPI.COMM_WORLD.Barrier()  # or another rank is still in that call
    begin = time.monotonic()
    if world.rank == world.size - 1:
        signal.setitimer(signal.ITIMER_REAL, 0)
        timer = signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, after)
    try:
        moves()
    except (Late, RuntimeError):
        pass
    finally:
        if world.rank == world.size - 1:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, timer)
    resync(x)
    is_in_step()
    assert x.sum().item() == 1.0e6 * (1.0e6 - 1) / 2


# --- ranks that are in calls of several meshes ----------------------------------------


def test_a_rank_that_waits_for_one_that_has_waited_itself_raises_at_once():
    def body():
        rank, start = own_rank(), time.monotonic()
        pairs = [dtensor.DeviceMesh("cpu", ranks) for ranks in ([0, 1], [1, 2])]
        x, y = (distribute_tensor(np.arange(8.0), pair, [S0]) for pair in pairs)
        try:
            if rank == 2:
                raise OnlyHereError
            if rank == 1:
                y.sum().item()
            x.sum().item()
        except (OnlyHereError, RuntimeError):
            pass
        resync(x, y)
        assert time.monotonic() - start < 5
        if rank < 2:
            assert x.sum() == 28
        if rank > 0:
            assert y.sum() == 28

    run_ranks(3, body, timeout=20)


def test_ranks_of_two_dims_come_back_in_step():
    def body():
        start = time.monotonic()
        mesh = dtensor.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        x, y = (
            distribute_tensor(np.arange(8.0), mesh[name], [S0])
            for name in mesh.mesh_dim_names
        )
        try:
            if own_rank() == 3:
                raise OnlyHereError
            assert x.sum() == y.sum().item() == 28
        except (OnlyHereError, RuntimeError):
            pass
        resync(x, y)
        assert time.monotonic() - start < 5
        assert x.sum() == y.sum().item() == 28

    run_ranks(4, body, timeout=20)
