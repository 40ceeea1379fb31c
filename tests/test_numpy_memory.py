"""What NumPy makes inside operators comes from the pool if it is large, or others may
read it there; no other arrays do."""

import contextvars
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from mpi4py import MPI

import dtensor
import dtensor.debug
from dtensor import _C
from dtensor._core import world as _world
from dtensor.testing import run_ranks

LARGE = 1 << 14  # float64 elements: more than is left to NumPy's malloc
SMALL = 1 << 8


def used() -> int:
    gc.collect()
    return _C._memory_info()["used"]


def array(count: int = LARGE) -> np.ndarray:
    return np.arange(float(count))


def is_pooled(make) -> bool:
    """Whether what a function returns lies in blocks of the pool."""
    before = used()
    result = make()
    return used() > before and result is not None


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1,
        lambda x: np.sin(x),
        lambda x: x.reshape(128, -1) @ x.reshape(-1, 128),
        lambda x: np.where(x > 3, x, 0),
        lambda x: np.concatenate([x, x]),
        lambda x: x.reshape(-1, 2).sum(1),
        lambda x: np.sort(x),
        lambda x: x[::2],
    ],
    ids=range(8),
)
def test_a_large_result_of_numpy_is_a_block_and_is_given_back(f):
    expected = f(array())
    mesh = dtensor.init_device_mesh("cpu", (1,))
    on_mesh = dtensor.distribute_tensor(array(), mesh, [dtensor.Shard(0)])
    for x in (dtensor.tensor(array()), on_mesh):
        before = used()
        result = f(x)
        assert np.array_equal(np.asarray(result), expected)
        assert (used() > before) or expected.base is not None
        del result
        assert used() == before


def test_a_small_result_is_left_to_numpy():
    x = dtensor.tensor(array(SMALL))
    assert not is_pooled(lambda: x + 1)


@pytest.mark.mpi
def test_a_small_result_lies_where_the_other_ranks_of_the_node_read_it():
    """Twice: a call that comes again runs NumPy's loop by itself."""
    comm = MPI.COMM_WORLD
    mesh = dtensor.init_device_mesh("cpu", (comm.size,))
    whole = np.arange(float(SMALL * comm.size))
    x = dtensor.distribute_tensor(whole, mesh, [dtensor.Shard(0)])
    y = x.to_local()  # a tensor of this rank alone
    shared = dtensor.debug.explain(x + 1, [dtensor.Replicate()]).steps
    reads = comm.size > 1 and shared[0].way != "messages"
    for call in (lambda: x + 1, lambda: np.sin(x), lambda: x[::-1] * 2, lambda: y + 1):
        for _ in range(4):
            assert is_pooled(call) == reads
    assert not is_pooled(lambda: x[: comm.size] + 1)
    assert np.array_equal((x + 1).full_tensor(), whole + 1)


def test_arrays_of_other_code_stay_where_they_were():
    x = dtensor.tensor(array())
    np.asarray(x + 1)  # the handler is there now
    assert not is_pooled(lambda: array() + 1)
    assert not is_pooled(lambda: np.zeros(LARGE))


def test_the_memory_of_a_rank_is_counted_and_not_that_of_others():
    barrier = threading.Barrier(2)

    def body(rank):
        _C._count_memory(True)
        barrier.wait()
        if rank == 0:
            one = np.ones(LARGE)
            two = one * 2 + one  # the product lives as long as the sum is made
            del one
            np.empty(2 * LARGE)
            assert two.size == LARGE
        barrier.wait()
        most = _C._count_memory(False)
        assert np.ones(LARGE).sum() + _C._count_memory(False) == LARGE
        return most

    def rank():
        return body(_world.current().rank)

    assert run_ranks(2, rank) == [3 * 8 * LARGE, 0]


def test_a_result_can_be_resized():
    own = np.asarray(dtensor.tensor(array()) + 1).base
    expected = own.copy()
    before = used()
    for count in (2 * LARGE, SMALL, LARGE, 1):
        own.resize(count, refcheck=False)
        least = min(count, expected.size)
        assert np.array_equal(own[:least], expected[:least])
        assert not own[expected.size :].any()
        expected = own.copy()
    assert used() < before


def test_an_array_outlives_the_handler_and_the_thread_that_made_it():
    kept = []

    def make():
        kept.append(np.asarray(dtensor.tensor(array()) * 2))

    before = used()
    for run in (
        make,
        lambda: contextvars.Context().run(make),
        lambda: contextvars.copy_context().run(make),
    ):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert used() >= before + 3 * 8 * LARGE
    for x in kept:
        assert np.array_equal(x, 2 * array())
    del x
    kept.clear()
    assert used() == before


def test_zeros_that_come_from_a_used_block_are_zeros():
    x = dtensor.tensor(array())
    y = x + 1
    del y
    z = dtensor.zeros_like(x)
    assert not np.asarray(z).any()


def test_arrays_live_until_the_end_of_the_interpreter():
    text = """
import os
import numpy as np, dtensor
x = np.asarray(dtensor.tensor(np.arange(1e5)) + 1)
class Last:
    def __init__(self, x):
        self.x, self.write = x, os.write
    def __del__(self):
        assert self.x[0] == 1 and self.x[-1] == 100000
        self.write(1, b"still there")
last = Last(x)
"""
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "still there" in done.stdout, done.stderr


def test_a_child_process_has_its_own_copy():
    x = np.asarray(dtensor.tensor(array()) + 1).copy()
    y = dtensor.tensor(array()) + 1
    child = os.fork()
    if child == 0:
        y += 1
        z = y + 1
        os._exit(0 if np.array_equal(np.asarray(z), x + 2) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(np.asarray(y), x)
