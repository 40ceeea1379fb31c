"""What a rank does with tests marked ``ranks``: they begin and end on all ranks alike.

A phase of a test has on all ranks the worst outcome of any. What fails is printed
before anyone is waited for. A rank that is late prints where it is. `tmp_path` is rank
0's.
"""

import contextlib
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from dtensor._core import world as _world
from dtensor._core.require import require
from dtensor._core.world import MPI
from dtensor.ops.random.generator import DEFAULT_SEED
from dtensor.random import manual_seed

__all__ = ["JOB", "SECONDS", "in_job", "seconds"]

pytest = require("pytest")

SECONDS = 60.0  # that a test may take by default
PATIENCE = 0.5  # part of it that a rank waits for another in a call
LATE = 0.75  # part of it after which a rank says where it is
END = "the end of the test"  # where ranks meet
WAITED = f"came to {END}"  # in the error of who waited for one that failed
JOB = "DTENSOR_TEST_JOB"  # set in jobs that pytest has started: its socket
RUNNERS = re.compile(r"/(_pytest|pluggy)/[^/]*$")  # files of pytest itself
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", JOB)

in_job = MPI.COMM_WORLD.size > 1 or any(name in os.environ for name in LAUNCHERS)
_screen = os.dup(2) if in_job else 2  # pytest puts other files in the place of 2
_agree: Any = None  # a communicator of its own: a failed test leaves messages behind
_watch: "_Watch | None" = None  # over the test that runs
on_wait: Callable[[bool], object] = (
    bool  # told when this rank begins to wait, and ends to
)


def seconds(item: Any) -> float:
    """Return how long a test may take."""
    return float(item.get_closest_marker("ranks").kwargs.get("timeout", SECONDS))


def _tell(text: str) -> None:
    """Print at once, in one piece, whatever pytest captures."""
    os.write(_screen, f"\n[rank {MPI.COMM_WORLD.rank}] {text.rstrip()}\n".encode())


def _exchange(mine: Any) -> list[Any]:
    """Return what each rank brings. Collective over all ranks of the job."""
    global _agree
    if _agree is None:
        _agree = MPI.COMM_WORLD.Dup()
    return list(_agree.allgather(mine))


# --- the session ----------------------------------------------------------------------


def _configure(config: Any) -> None:
    """Only rank 0 prints what pytest prints; only rank 0 makes folders."""
    rank = MPI.COMM_WORLD.rank
    if config.option.usepdb or getattr(config.option, "trace", False):
        raise pytest.UsageError(
            "--pdb and --trace need a terminal, which the ranks of mpiexec do not "
            "have: debug with dtensor.testing.run_ranks, in one process"
        )
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and (rank > 0 or JOB in os.environ):
        config.get_terminal_writer()._file = open(os.devnull, "w")  # noqa: SIM115
    if rank > 0 and config.option.basetemp:
        config._tmp_path_factory._given_basetemp = Path(
            f"{config.option.basetemp}-rank{rank}"
        ).absolute()
    config._tmp_path_factory.mktemp = _shared(config._tmp_path_factory.mktemp)


pytest_configure = pytest.hookimpl(trylast=True)(_configure)


def _shared(make: Any) -> Any:
    """Make a function that makes a folder return rank 0's on all ranks.

    Only in a marked test: all ranks run these.
    """

    def mktemp(basename: str, numbered: bool = True) -> Path:
        if _watch is None:
            return Path(make(basename, numbered))
        mine, error = b"", None
        if MPI.COMM_WORLD.rank == 0:
            try:
                mine = os.fsencode(make(basename, numbered))
            except OSError as failed:
                error = failed
        world = _world.current()
        world.agree(b"", f"a temporary folder for {basename}", error)
        return Path(os.fsdecode(world.share(mine, None, "tmp_path")[0]))

    return mktemp


def pytest_collectreport(report: Any) -> None:
    """Print what cannot be collected on this rank only, too."""
    if report.failed and MPI.COMM_WORLD.rank > 0:
        _tell(f"{report.nodeid} could not be collected:\n{report.longreprtext}")


# --- a test ---------------------------------------------------------------------------


def _of_test(stack: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """Return what comes after the last frame of pytest's."""
    runs = [k for k, frame in enumerate(stack) if RUNNERS.search(frame.filename)]
    return stack[runs[-1] + 1 if runs else 0 :] or stack


class _Watch:
    """Says where this rank is if it has not come to the end of a phase in time."""

    def __init__(self, item: Any) -> None:
        self.item = item
        self.seconds = seconds(item)
        self.end = time.monotonic() + self.seconds
        self.timers: list[threading.Timer] = []

    def start(self) -> None:
        """Watch, from now to the end of the test's time."""
        left = self.end - time.monotonic()
        self._after(left - (1 - LATE) * self.seconds, self._where)
        if JOB not in os.environ:  # or who has started the job ends it
            self._after(left, self._leave)

    def stop(self) -> None:
        """Do not watch any more."""
        while self.timers:
            self.timers.pop().cancel()

    def _after(self, delay: float, call: Any) -> None:
        timer = threading.Timer(max(delay, 0.05), call)
        timer.daemon = True
        timer.start()
        self.timers.append(timer)

    def _where(self) -> None:
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        stack = "".join(traceback.format_list(_of_test(traceback.extract_stack(frame))))
        _tell(
            f"has not come to the end of {self.item.nodeid} after "
            f"{LATE * self.seconds:g} s. It is here:\n{stack}"
        )

    def _leave(self) -> None:
        _tell(f"{self.item.nodeid} was not done after {self.seconds:g} s: all end")
        os._exit(1)


def _protocol(item: Any) -> Generator[None, Any, Any]:
    global _watch
    if item.get_closest_marker("ranks") is None:
        return (yield)
    _watch = _Watch(item)
    # A rank that waits in vain reports it before the test's time is over.
    world = _world.current()
    world.timeout = PATIENCE * _watch.seconds
    world.limit = "timeout= of the marker ranks"
    _watch.start()
    try:
        return (yield)
    finally:
        _watch.stop()
        _watch = None


pytest_runtest_protocol = pytest.hookimpl(wrapper=True, tryfirst=True)(_protocol)


def _make_report(item: Any) -> Generator[None, Any, Any]:
    """Give a phase of a test, on all ranks, the worst outcome of any rank."""
    report: Any = yield
    rank = MPI.COMM_WORLD.rank
    if report.failed and (_watch is not None or rank > 0):
        said = "\n".join(f"{name}:\n{text}" for name, text in report.sections)
        what = f"{item.nodeid} failed ({report.when}):\n{report.longreprtext}\n{said}"
        _tell(what)
    if _watch is None:
        return report
    _watch.stop()
    on_wait(True)
    # Ranks that still wait for one that has failed come here, too; those that do not in
    # time wait below.
    with contextlib.suppress(RuntimeError):
        _world.meet(END)
    mine = (
        item.nodeid,
        report.outcome,
        str(report.longrepr) if report.failed else "",
        report.sections if report.failed else [],
    )
    told = _exchange(mine)
    on_wait(False)
    failed = [rank for rank, each in enumerate(told) if each[1] == "failed"]
    causes = [rank for rank in failed if WAITED not in told[rank][2]] or failed
    if failed and rank not in causes:  # it waited in vain for one of these, or passed
        report.outcome = "failed"
        text, report.sections = told[causes[0]][2:]
        report.longrepr = f"failed on ranks {failed}; on rank {causes[0]}:\n{text}"
    elif failed:
        report.sections.append(("ranks", f"failed on ranks {failed}"))
    elif len({each[:2] for each in told}) > 1:
        report.outcome = "failed"
        report.longrepr = f"ranks disagree: {[each[:2] for each in told]}"
    if report.failed:
        manual_seed(DEFAULT_SEED)  # ranks may have drawn different numbers
    _watch.start()
    return report


pytest_runtest_makereport = pytest.hookimpl(wrapper=True)(_make_report)
