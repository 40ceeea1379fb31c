"""When a rank fails, everybody ends or raises: soon, and with the reason."""

import re
import sys
import textwrap
import time

import numpy as np
import oracle
import pytest
from jobs import run
from meshes import line

from dtensor import (
    _C,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    from_callback,
    init_device_mesh,
)
from dtensor._core import world as _world
from dtensor.testing import run_ranks

SOON = 15  # seconds in which a job must have ended, of which its start takes some

HEAD = """
import os, sys, threading, time
import numpy as np
import dtensor
from dtensor import *
mesh = init_device_mesh("cpu", (int(os.environ["OMPI_COMM_WORLD_SIZE"]),))
rank, n = mesh.get_rank(), mesh.size()
x = distribute_tensor(np.arange(24.0).reshape(6, 4), mesh, [Shard(0)])
"""


def job(body, n=3, **environment):
    """A script on n ranks: its head makes a mesh and an array `x`."""
    script = HEAD + textwrap.dedent(body)
    command = ["mpiexec", "-n", str(n), sys.executable, "-c", script]
    return run(command, **{"DTENSOR_TIMEOUT": "3", **environment})


# --- jobs -----------------------------------------------------------------------------


def test_a_job_in_which_nothing_fails_ends_well():
    code, output, _ = job("print('sum', float(np.asarray(x.full_tensor()).sum()))")
    assert code == 0 and output.count("sum 276.0") == 3, output


def test_a_rank_that_does_not_come_is_named():
    code, output, seconds = job("x.full_tensor() if rank != 1 else time.sleep(30)")
    assert code != 0 and seconds < SOON
    assert re.search(r"full_tensor.*rank 1\b", output), output


def test_ranks_that_call_different_things_are_shown_both_calls():
    code, output, seconds = job(
        """
        try:
            x.full_tensor() if rank == 2 else x.redistribute(placements=[Shard(1)])
        except RuntimeError as error:
            print(f"<<{rank}: {error}>>")
        print("still", x.full_tensor().shape)
        """
    )
    assert code == 0, output
    for rank in range(3):
        (sentence,) = re.findall(rf"<<{rank}: (.*?)>>", output, re.DOTALL)
        assert "full_tensor" in sentence and "redistribute" in sentence
    assert output.count("still (6, 4)") == 3


@pytest.mark.parametrize(
    "failure",
    [
        "raise ZeroDivisionError('on purpose')",
        "threading.Thread(target=lambda: 1 / 0).start(); time.sleep(30)",
    ],
    ids=["script", "thread"],
)
def test_an_exception_on_one_rank_ends_the_job(failure):
    body = f"""
    if rank == 1:
        {failure}
    x.full_tensor()
    """
    code, output, seconds = job(body, DTENSOR_TIMEOUT="300")
    assert code != 0 and seconds < SOON
    assert "ZeroDivisionError" in output


@pytest.mark.parametrize(
    "exit", ["sys.exit(7)", "sys.exit('a sentence')"], ids=["number", "sentence"]
)
def test_an_exit_with_a_failure_ends_the_job(exit):
    body = f"""
    if rank == 1:
        {exit}
    x.full_tensor()
    """
    code, output, seconds = job(body, DTENSOR_TIMEOUT="300")
    assert code == (7 if "7" in exit else 1) and seconds < SOON, output
    assert "7" in exit or "a sentence" in output


@pytest.mark.parametrize("exit", ["sys.exit(0)", "raise SystemExit(3)"])
def test_a_rank_that_has_ended_is_not_waited_for(exit):
    body = f"""
    if rank == 1:
        {exit}
    try:
        x.full_tensor()
    except RuntimeError as error:
        print("told:", error)
    """
    _, output, seconds = job(body, DTENSOR_TIMEOUT="300")
    assert output.count("waits for rank 1, which has ended") == 2 and seconds < 30, (
        output
    )


def test_an_exit_that_somebody_catches_ends_nothing():
    body = """
    def leave():
        try:
            sys.exit(5)
        except SystemExit as error:
            return error.code
    assert leave() == 5
    x.full_tensor()
    """
    code, output, _ = job(body)
    assert code == 0, output


def test_a_killed_rank_ends_the_job():
    body = """
    if rank == 1:
        os.kill(os.getpid(), 9)
    x.full_tensor()
    """
    code, _, seconds = job(body, DTENSOR_TIMEOUT="300")
    assert code != 0 and seconds < SOON


def test_a_waiting_rank_sees_ctrl_c():
    body = """
    import signal
    if rank == 0:
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            x.full_tensor()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            raise
    time.sleep(30)
    """
    code, output, seconds = job(body, n=2, DTENSOR_TIMEOUT="300")
    assert "interrupted" in output and code != 0 and seconds < SOON, output


def test_moves_that_nobody_waits_for_do_not_keep_a_job():
    body = """
    y = x.redistribute(placements=[Shard(1)], async_op=True)
    print("left", flush=True)
    """
    code, output, seconds = job(body)
    assert code == 0 and output.count("left") == 3 and seconds < SOON, output


# --- without a launcher ---------------------------------------------------------------


def test_without_a_launcher_there_is_a_world_of_one():
    script = """
import numpy as np
from dtensor import Shard, distribute_tensor, init_device_mesh
mesh = init_device_mesh("cpu", (1,))
print(mesh, distribute_tensor(np.ones(3), mesh, [Shard(0)]).full_tensor().shape)
"""
    code, output, _ = run([sys.executable, "-c", script])
    assert code == 0 and "DeviceMesh((1,), 'cpu', stride=(1,)) (3,)" in output, output


def test_a_launcher_of_another_mpi_is_noticed():
    script = """
import dtensor
print("imported", flush=True)
dtensor.init_device_mesh("cpu", (1,))
"""
    code, output, _ = run([sys.executable, "-c", script], PMI_SIZE="4")
    assert code != 0 and "imported" in output
    assert "there are 4 ranks, but MPI sees this one only" in output


@pytest.mark.parametrize(
    ("launcher", "variables"),
    [
        ("torchrun", {"WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "none"}),
        ("srun", {"SLURM_STEP_NUM_TASKS": "4", "SLURM_STEP_ID": "0"}),
    ],
)
def test_processes_that_are_no_ranks_are_noticed(launcher, variables):
    script = """
import dtensor
dtensor.init_device_mesh("cpu", (1,))
"""
    sentence = f"{launcher} has started 4 processes, but MPI sees this one only"
    code, output, _ = run([sys.executable, "-c", script], **variables)
    assert code == 0 and sentence in output, output
    variables[next(iter(variables))] = "1"
    code, output, _ = run([sys.executable, "-c", script], **variables)
    assert code == 0 and sentence not in output, output


def test_mpi_may_be_started_by_the_user():
    script = """
import mpi4py
mpi4py.rc.initialize = False
import dtensor
try:
    dtensor.init_device_mesh("cpu", (1,))
except RuntimeError as error:
    print(error)
from mpi4py import MPI
MPI.Init()
print(dtensor.init_device_mesh("cpu", (1,)))
MPI.Finalize()
"""
    code, output, _ = run([sys.executable, "-c", script])
    assert code == 0 and "call MPI.Init() first" in output and "DeviceMesh(" in output


# --- rank threads ---------------------------------------------------------------------


def test_run_ranks_raises_what_the_first_rank_raised_and_names_it():
    def body():
        if _world.current().rank == 2:
            raise ZeroDivisionError("on purpose")
        distribute_tensor(np.ones(4), line(), [Shard(0)])

    with pytest.raises(ZeroDivisionError, match="on purpose") as caught:
        run_ranks(4, body)
    assert "rank 2 of 4" in caught.value.__notes__[-1]
    assert run_ranks(2, lambda: _world.current().rank) == [0, 1]


def test_run_ranks_is_not_for_ranks():
    with pytest.raises(RuntimeError, match="on a rank"):
        run_ranks(2, run_ranks, 2, line)
    with pytest.raises(ValueError, match="at least 1 rank"):
        run_ranks(0, line)


def test_a_rank_thread_that_does_not_come_is_named():
    def body():
        if _world.current().rank == 1:
            time.sleep(2)
        else:
            init_device_mesh("cpu", (2,))

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"init_device_mesh.*rank 1\b"):
        run_ranks(3, body, timeout=0.5)
    assert time.monotonic() - start < 10


# --- memory ---------------------------------------------------------------------------

ARRAY = np.arange(70.0).reshape(7, 10)


def partial_sum(mesh):
    return DTensor.from_local(ARRAY, mesh, [Partial()])


CALLS = {
    "distribute": lambda mesh, x: distribute_tensor(ARRAY, mesh, [Shard(1)]),
    "all_gather": lambda mesh, x: x.redistribute(placements=[Replicate()]),
    "all_to_all": lambda mesh, x: x.redistribute(placements=[Shard(1)]),
    "all_reduce": lambda mesh, x: partial_sum(mesh).full_tensor(),
    "reduce_scatter": lambda mesh, x: partial_sum(mesh).redistribute(
        placements=[Shard(0)]
    ),
    "asynchronous": lambda mesh, x: np.asarray(
        x.redistribute(placements=[Shard(1)], async_op=True).to_local()
    ),
    "from_local": lambda mesh, x: DTensor.from_local(
        ARRAY, mesh, [Replicate()], run_check=True
    ),
    "from_callback": lambda mesh, x: from_callback(
        ARRAY.shape, mesh, [Shard(0)], ARRAY.__getitem__
    ),
    "to one rank": lambda mesh, x: x.full_tensor(root=0),
}


def fail_one_by_one(call, most=60):
    """Fail the k-th allocation of the last rank, for every k until there is none."""
    mesh = line()
    x = distribute_tensor(ARRAY, mesh, [Shard(0)])
    last = mesh.get_rank() == mesh.size() - 1
    for k in range(1, most):
        _C._fault_at("array", k if last else 0)
        try:
            call(mesh, x)
        except MemoryError:
            failed = True
        else:
            failed = False
        finally:
            _C._fault_at("array", 0)
        assert len(set(_world.current().share(bytes([failed])))) == 1, "not everywhere"
        assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)
        if not failed:
            return k
    raise AssertionError("it never works")


@pytest.mark.parametrize("name", CALLS)
def test_a_rank_without_memory_raises_everywhere_and_nothing_is_lost(ranks, name):
    ranks(fail_one_by_one, CALLS[name])


def test_a_thread_that_has_ended_is_not_waited_for():
    def body():
        x = distribute_tensor(np.arange(6.0), line(), [Shard(0)])
        if x.device_mesh.get_rank() == 0:
            x.full_tensor()

    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"waits for rank 1, which has ended"):
        run_ranks(3, body)
    assert time.monotonic() - start < SOON  # and not the time limit of 60 s
    with pytest.raises(TypeError, match=r"run_ranks\(4, f\)"):
        run_ranks(body, 3)
