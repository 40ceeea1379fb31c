"""What fails on one rank before the ranks meet in a call is told to the others, who are
not left waiting for it."""

import time
import warnings

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch.distributed as dist
from dtensor import Replicate, Shard, distribute_tensor
from dtensor._core import world as _world
from dtensor.testing import run_ranks

SOON = 2.0  # seconds; the time limit is 60


def fails_everywhere(call, kind=Exception, n=3):
    """Make a call on all ranks, which all raise, at once."""

    def body():
        begin = time.monotonic()
        with pytest.raises(kind):
            call(_world.current().rank)
            np.asarray(distribute_tensor(np.ones(6), line(), [Shard(0)]).full_tensor())
        return time.monotonic() - begin

    assert max(run_ranks(n, body)) < SOON


@pytest.mark.parametrize("placement", [Shard(0), Replicate()])
def test_a_rank_whose_own_array_is_refused(placement):
    def call(rank):
        array = np.array([object()] * 6) if rank == 1 else np.ones(6)
        distribute_tensor(array, line(), [placement], src_data_rank=None)

    fails_everywhere(call, TypeError)


EXCHANGES = {
    "all_gather_object": lambda bad: dist.all_gather_object(
        [None] * 3, (lambda: 0) if bad else 0
    ),
    "gather_object": lambda bad: dist.gather_object(0, [None] * 3 if bad else None, 0),
    "broadcast_object_list": lambda bad: dist.broadcast_object_list(
        None if bad else [1], 1
    ),
    "gather": lambda bad: dist.gather(np.ones(2), [np.ones(2)] * 3 if bad else None, 0),
    "scatter": lambda bad: dist.scatter(
        np.ones(2), [np.ones(2), np.ones(3), np.ones(2)] if bad else None, 1
    ),
    "reduce_scatter": lambda bad: dist.reduce_scatter(
        np.ones(2), [np.ones(2), np.ones(3 if bad else 2), np.ones(2)]
    ),
    "all_to_all": lambda bad: dist.all_to_all(
        [np.empty(2)] * 3, None if bad else [np.ones(2)] * 3
    ),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_arguments_of_a_collective_that_are_wrong_on_one_rank(name):
    fails_everywhere(lambda rank: EXCHANGES[name](rank == 1))


def test_a_warning_that_is_an_error_on_one_rank():
    def show(*args, **kwargs):
        if _world.current().rank == 1:
            raise RuntimeError("no warnings here")

    def call(rank):
        np.linalg.eig(distribute_tensor(np.eye(6), line(), [Shard(0)]))

    before = dtensor.set_gather_bytes(8)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            fails_everywhere(call, RuntimeError)
    finally:
        dtensor.set_gather_bytes(before)


def test_a_write_to_what_did_not_arrive():
    def call(rank):
        x = distribute_tensor(np.arange(6.0), line(), [Shard(0)])
        w = distribute_tensor(np.ones(6), line(), [Replicate()]).requires_grad_()
        moved = x.redistribute(
            placements=[Replicate() if rank else Shard(0)], async_op=True
        )
        moved *= w

    fails_everywhere(call, RuntimeError)


def test_messages_that_nobody_took_end_with_their_ranks():
    def leaves():
        if dist.get_rank() == 0:
            dist.send(np.full(2, 7.0), 1)

    def takes():
        x = np.zeros(2)
        if dist.get_rank() == 0:
            dist.send(np.ones(2), 1)
        if dist.get_rank() == 1:
            dist.recv(x, 0)
        return x.sum()

    run_ranks(2, leaves)
    assert run_ranks(2, takes)[1] == 2
