"""CommDebugMode counts what runs inside it, says what it sent, and changes nothing."""

import numpy as np
import pytest
from meshes import line

from dtensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    ones,
    redistribute,
)
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode, explain
from dtensor.testing import run_ranks

R, P = Replicate(), Partial()


def cut(mesh: DeviceMesh, dim: int = 0) -> DTensor:
    """Two rows, or columns, for each rank."""
    return ones(
        (2 * mesh.size(), 2 * mesh.size()), device_mesh=mesh, placements=[Shard(dim)]
    )


def test_each_move_is_counted_by_the_name_of_its_collective(ranks):
    def body():
        mesh = line()
        p = DTensor.from_local(np.ones((mesh.size(), 4)), mesh, [P])
        moves = {
            "all_gather": (cut(mesh), R),
            "all_to_all": (cut(mesh), Shard(1)),
            "reduce_scatter": (p, Shard(0)),
            "all_reduce": (p, R),
        }
        for name, (x, to) in moves.items():
            plan = explain(x, [to])
            with CommDebugMode() as comm:
                x.redistribute(placements=[to])
            if mesh.size() == 1:
                assert comm.get_comm_counts() == {} and comm.get_total_counts() == 0
                continue
            assert comm.get_comm_counts() == {name: 1} and comm.get_total_counts() == 1
            assert comm.get_comm_bytes() == {name: plan.bytes_sent}
            assert comm.get_comm_messages() == {name: plan.messages}

    ranks(body)


def test_what_sends_nothing_is_not_counted(ranks):
    def body():
        mesh = line()
        with CommDebugMode() as comm:
            x = distribute_tensor(np.ones((4, 4)), mesh, [R], src_data_rank=None)
            x = x.redistribute(placements=[Shard(0)])
            x.to_local()
            ones((3, 3), device_mesh=mesh, placements=[Shard(1)])
        assert comm.get_comm_counts() == {} == comm.get_comm_bytes()
        assert comm.get_comm_counts()["all_gather"] == 0
        assert repr(comm) == "CommDebugMode(nothing ran)"

    ranks(body)


def test_nested_blocks_count_what_runs_inside_each(ranks):
    def body():
        x, many = cut(line()), int(line().size() > 1)
        with CommDebugMode() as outer:
            x.full_tensor()
            with CommDebugMode() as inner:
                x.full_tensor()
                x.redistribute(placements=[Shard(1)])
            x.full_tensor()
        assert inner.get_total_counts() == 2 * many
        assert outer.get_total_counts() == 4 * many
        assert outer.get_comm_counts()["all_gather"] == 3 * many

    ranks(body)


def test_the_same_object_counts_from_0_when_it_is_entered_again(ranks):
    def body():
        x, many = cut(line()), int(line().size() > 1)
        comm = CommDebugMode()
        assert comm.get_comm_counts() == {}
        for _ in range(2):
            with comm:
                x.full_tensor()
                assert comm.get_total_counts() == many, "also readable inside"
            x.full_tensor()
            assert comm.get_total_counts() == many, "what comes later is not counted"
        with comm:
            x.full_tensor()
            with comm:
                x.full_tensor()
            x.full_tensor()
        assert comm.get_total_counts() == 3 * many, "a block of its own goes on"
        with comm:
            pass
        assert comm.get_total_counts() == 0

    ranks(body)


def test_an_exception_leaves_what_was_counted_until_then(ranks):
    def body():
        x, many = cut(line()), int(line().size() > 1)
        comm = CommDebugMode()
        with pytest.raises(KeyError, match="mine"), comm, comm:
            x.full_tensor()
            raise KeyError("mine")
        x.full_tensor()
        assert comm.get_total_counts() == many
        with comm:
            x.full_tensor()
        assert comm.get_total_counts() == many

    ranks(body)


def test_a_call_that_fails_on_all_ranks_is_no_collective(ranks):
    def body():
        with CommDebugMode() as comm, pytest.raises(IndexError):
            cut(line()).redistribute(placements=[Shard(5)])
        assert comm.get_total_counts() == 0

    ranks(body)


def test_arrays_that_move_together_are_one_collective(ranks):
    def body():
        xs, many = [cut(line()) for _ in range(4)], int(line().size() > 1)
        with CommDebugMode() as comm:
            redistribute(xs, placements=[Shard(1)])
        assert comm.get_total_counts() == many
        size = sum(explain(x, [Shard(1)]).bytes_sent for x in xs)
        assert comm.get_comm_bytes()["all_to_all"] == size

    ranks(body)


def test_an_asynchronous_move_is_counted_when_it_is_waited_for_at_the_latest(ranks):
    def body():
        x, many = cut(line()), int(line().size() > 1)
        with CommDebugMode() as comm:
            x.redistribute(placements=[Shard(1)], async_op=True).wait()
        assert comm.get_total_counts() == many

    ranks(body)


def test_counting_sends_nothing(ranks):
    def body():
        world = _world.current()
        before = world.counters()
        with CommDebugMode() as comm:
            comm.get_comm_counts()
            comm.get_comm_bytes()
        assert world.counters() == before

    ranks(body)


def test_all_ranks_count_the_same_calls_and_together_what_the_plan_sends():
    def body():
        x = cut(line())
        with CommDebugMode() as comm:
            x.full_tensor()
        return comm

    counted = run_ranks(3, body)
    assert {comm.get_comm_counts()["all_gather"] for comm in counted} == {1}
    assert sum(comm.get_comm_bytes()["all_gather"] for comm in counted) == 2 * 6 * 6 * 4
    assert "all_gather 1 (96 B by shared memory)" in repr(counted[0])


def test_ranks_that_are_threads_may_not_share_an_object():
    comm = CommDebugMode()

    def body():
        with comm:
            cut(line()).full_tensor()

    with pytest.raises(RuntimeError, match="need one object each"):
        run_ranks(2, body)
    assert run_ranks(1, body) == [None], "ranks that are gone do not matter"


@pytest.mark.mpi
def test_a_block_in_the_world_of_processes_does_not_see_ranks_that_are_threads():
    with CommDebugMode() as comm:
        run_ranks(2, lambda: cut(line()).full_tensor())
    assert comm.get_total_counts() == 0
