"""Every test runs on every rank, and a test passes only if it passes on all of them.

Under mpiexec the ranks compare the outcome of every phase of a test; rank 0 prints, and
what failed elsewhere only is shown as it was there. A rank that waits for one that
failed prints where, and ends the whole run.
"""

import faulthandler
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("DTENSOR_TIMEOUT", "20")  # before the alarm, and with a sentence

import meshes  # noqa: E402
import pytest  # noqa: E402
from mpi4py import MPI  # noqa: E402

from dtensor import _C, DeviceMesh  # noqa: E402
from dtensor._core import world as _world  # noqa: E402
from dtensor.testing import run_ranks  # noqa: E402

SECONDS = 60  # that a test may take
VALIDATE_SECONDS = 3600  # the same with the marker `validate`

# A communicator of its own: a failed test may have left the others inside a collective.
AGREE = MPI.COMM_WORLD.Dup() if MPI.COMM_WORLD.size > 1 else None


@pytest.fixture(autouse=True)
def alarm(request: pytest.FixtureRequest) -> Iterator[None]:
    """A rank that waits for one that failed prints where, and ends the whole run."""
    slow = request.node.get_closest_marker("validate") is not None
    faulthandler.dump_traceback_later(
        VALIDATE_SECONDS if slow else SECONDS, exit=True, file=sys.__stderr__
    )
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A phase of a test has on all ranks the worst outcome that it had on any."""
    report = (yield).get_result()
    if AGREE is None:
        return
    mine = (report.outcome, str(report.longrepr) if report.failed else "")
    outcomes = AGREE.allgather(mine)
    failed = [rank for rank, (outcome, _) in enumerate(outcomes) if outcome == "failed"]
    if failed and not report.failed:
        text = outcomes[failed[0]][1]
        report.outcome = "failed"
        report.longrepr = f"failed on ranks {failed}; on rank {failed[0]}:\n{text}"
    elif len({outcome for outcome, _ in outcomes}) > 1 and not failed:
        report.outcome = "failed"
        report.longrepr = f"ranks disagree: {[outcome for outcome, _ in outcomes]}"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Only rank 0 prints."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if AGREE is not None and AGREE.rank > 0 and terminal is not None:
        terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115


@pytest.fixture(params=[1, 2, 3, 4, pytest.param(0, marks=pytest.mark.mpi, id="mpi")])
def ranks(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Calls a function on every rank: threads of this process, or those of mpiexec."""
    if request.param:
        return functools.partial(run_ranks, request.param)
    return lambda fn, *args: [fn(*args)]


@pytest.fixture
def world() -> _C.World:
    """All ranks of mpiexec."""
    return _world.current()


@pytest.fixture
def square() -> DeviceMesh:
    """All ranks of mpiexec in two dimensions."""
    return meshes.square()
