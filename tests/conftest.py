"""Every test runs on every rank, and a test passes only if it passes on all of them.

Under mpiexec the ranks compare the outcome of every phase of a test; rank 0 prints, and
what failed elsewhere only is shown as it was there. A rank that waits for one that
failed prints where, and ends the whole run.
"""

import contextlib
import faulthandler
import functools
import gc
import math
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

os.environ.setdefault("DTENSOR_TIMEOUT", "20")  # before the alarm, and with a sentence

import meshes  # noqa: E402
import pytest  # noqa: E402
from mpi4py import MPI  # noqa: E402
from slow import slow  # noqa: E402

import dtensor  # noqa: E402
from dtensor import _C, DeviceMesh  # noqa: E402
from dtensor._core import world as _world  # noqa: E402
from dtensor.testing import run_ranks  # noqa: E402

# Seconds that a test may take, and one with the marker `validate`: those of a machine
# that is slow or busy can be set from outside.
SECONDS = float(os.environ.get("DTENSOR_TEST_SECONDS", 60))
VALIDATE_SECONDS = max(SECONDS, 3600)

# Files with tests that take many seconds each.
LONG = (
    "test_array_api.py",
    "test_notebook.py",
    "test_operators.py",
    "test_recipes.py",
    "test_pytest_plugin.py",
    "test_gradients.py",
    "test_faults.py",
    "test_checkpoint_kills.py",
    "test_tutorials.py",
    "test_seeds.py",
    "test_training.py",
)

# A communicator of its own: a failed test may have left the others inside a collective.
AGREE = MPI.COMM_WORLD.Dup() if MPI.COMM_WORLD.size > 1 else None


def levels() -> list[int]:
    """The instruction sets that this machine has, as the kernels number them."""
    found = [level for level in range(3) if _C._set_kernel_level(level) == level]
    _C._set_kernel_level(-1)
    return found


@pytest.fixture(params=levels())
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    """Each of these in turn: what kernels compute with during the test."""
    yield _C._set_kernel_level(request.param)
    _C._set_kernel_level(-1)


@pytest.fixture(autouse=True)
def alarm(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that takes too long prints where it is, and fails.

    Under mpiexec it ends the whole run: the other ranks wait for this one. In one
    process only the test ends, by an exception where it next runs Python code.
    """
    slow = request.node.get_closest_marker("validate") is not None
    seconds = VALIDATE_SECONDS if slow else SECONDS
    faulthandler.dump_traceback_later(
        seconds, exit=AGREE is not None, file=sys.__stderr__
    )
    before = signal.signal(signal.SIGALRM, functools.partial(late, seconds))
    if AGREE is None:
        signal.alarm(math.ceil(seconds) + 1)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def forked() -> Iterator[None]:
    """No test sees what another one drew or seeded, maybe on one rank alone."""
    with dtensor.random.fork_rng():
        yield


def late(seconds: float, *_: object) -> None:
    """End a test from its signal handler."""
    pytest.fail(
        f"not done after {seconds:g} s: DTENSOR_TEST_SECONDS sets the limit",
        pytrace=False,
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", default="0/1", metavar="K/N", help="the K-th of N parts of the tests"
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Long tests come first, so that processes that share the tests end together."""
    part, parts = map(int, config.getoption("--share").split("/"))
    others = [x for x in items if crc32(x.nodeid.encode()) % parts != part]
    if others:
        config.hook.pytest_deselected(items=others)
        left = {*others}
        items[:] = [item for item in items if item not in left]
    items.sort(key=lambda item: not item.nodeid.partition("::")[0].endswith(LONG))


def pytest_collection_finish() -> None:
    """The tests stay: no collection of garbage looks at them again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A phase of a test has on all ranks the worst outcome that it had on any."""
    report = (yield).get_result()
    if AGREE is None:
        return
    with contextlib.suppress(RuntimeError):  # of a rank that does not come
        _world.meet("the end of the test")
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


@pytest.fixture
def tell(record_property: Callable[[str, Any], None]) -> Callable[[str], None]:
    """Prints a line, a count say, at the end of the run, whatever process ran it."""
    return functools.partial(record_property, "told")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = sum(terminalreporter.stats.values(), [])
    for report in reports:
        if getattr(report, "when", "") == "call":
            for name, line in report.user_properties:
                if name == "told":
                    terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Only rank 0 prints."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if AGREE is not None and AGREE.rank > 0 and terminal is not None:
        terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115


# In ./run test two and three ranks are processes.
MPI_RANKS = pytest.param(0, marks=pytest.mark.mpi, id="mpi")
RANKS = [MPI_RANKS] if AGREE is not None else [1, slow(2), slow(3), 4, MPI_RANKS]


@pytest.fixture(params=RANKS)
def ranks(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Calls a function on every rank: threads of this process, or those of mpiexec."""
    if request.param:
        return functools.partial(run_ranks, request.param)
    return lambda fn, *args: [fn(*args)]


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets how many threads share loops, for a test."""
    before = dtensor.get_num_threads()
    yield dtensor.set_num_threads
    dtensor.set_num_threads(before)


@pytest.fixture
def small_fused() -> Iterator[None]:
    """Within `fused` results of one byte are put off, too."""
    before = _C.set_fused_bytes(1)
    yield
    assert not _C.set_fusing(False)
    _C.set_fused_bytes(before)


@pytest.fixture(autouse=bool(os.environ.get("DTENSOR_TEST_FUSED")))
def everything_fused(request: pytest.FixtureRequest) -> Iterator[None]:
    """All elementwise calls of the test are put off, of whatever size."""
    if "small_fused" in request.fixturenames:
        yield
        return
    before = _C.set_fused_bytes(1)
    with dtensor.fused():
        yield
    _C.set_fused_bytes(before)


@pytest.fixture(scope="session")
def torch_python() -> str:
    """The Python that has PyTorch."""
    if python := os.environ.get("DTENSOR_TORCH_PYTHON"):
        return python
    pytest.skip("no PyTorch to compare with: ./run validate slow installs it")


@pytest.fixture
def world() -> _C.World:
    """All ranks of mpiexec."""
    return _world.current()


@pytest.fixture
def square() -> DeviceMesh:
    """All ranks of mpiexec in two dimensions."""
    return meshes.square()
