"""Jobs of ranks that pytest keeps for a whole run, one for each number of ranks.

Each rank of such a job runs pytest with the options of this run (`pytest_job`),
connects to a socket here, and runs the tests whose names it is sent. Rank 0 sends back
reports. A job whose rank ends, or whose test takes too long, is ended; the next test of
that many ranks starts another. Ranks end when their socket closes: none outlives this
process.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from dtensor._core import several
from dtensor._core.pytest_rank import JOB, seconds
from dtensor._core.require import require

__all__ = ["Jobs"]

pytest = require("pytest")

START = 60.0  # seconds until all ranks have collected their tests
GRACE = 10.0  # how long mpiexec may take to end its ranks
LONGEST = 60  # bytes of a folder in which a socket can be made

# Options of this run that are not for the ranks: what chooses tests, and what is done
# once for all of them.
NOT_FOR_RANKS = {
    "maxfail": 0,
    "keyword": "",
    "markexpr": "",
    "deselect": None,
    "cov_source": [],
    "numprocesses": None,
    "dist": "no",
    "tx": [],
}
# Settings of a coverage measurement that ranks take over.
COVERAGE = ("branch", "source", "include", "omit", "concurrency", "relative_files")


class _Broken(Exception):
    """A job that cannot go on: why, and what it has printed if it has ended."""


def _mpiexec() -> str:
    beside = Path(sys.executable).with_name("mpiexec")  # Open MPI of PyPI
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise pytest.UsageError("the marker ranks needs mpiexec: it is not on the PATH")
    return found


def _plain(value: Any) -> bool:
    """Say whether JSON can carry a value."""
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _measurement() -> Any:
    """Return the measurement of coverage that runs in this process, or None."""
    coverage = sys.modules.get("coverage")
    return None if coverage is None else coverage.Coverage.current()


# --- a job ----------------------------------------------------------------------------


class _Job:
    """Ranks that wait for the names of tests."""

    def __init__(self, config: Any, n: int, paths: list[str]) -> None:
        self.n, self.config = n, config
        place = None if len(tempfile.gettempdir()) <= LONGEST else "/tmp"
        self.folder = Path(tempfile.mkdtemp(prefix="dtensor-", dir=place))
        self.ranks: dict[Connection, int] = {}
        self.tests: list[set[str]] = []  # of each rank
        self.errors: list[str] = []  # of those ranks that could not collect all
        self.told = 0  # bytes of the output that were printed or belong to tests before
        try:
            with socket.socket(socket.AF_UNIX) as door:
                door.bind(str(self.folder / "socket"))
                door.listen(n)
                self._start()
                self._let_in(door, json.dumps(self._orders(paths)).encode())
        except BaseException as error:
            output = self.end()
            if not isinstance(error, _Broken | TimeoutError):
                raise
            why = str(error) or f"{n} ranks did not start within {START:g} s"
            raise _Broken(why, output) from None

    def _start(self) -> None:
        # Sets have the same order on all ranks.
        environment = {"PYTHONHASHSEED": "0"} | several.environment() | os.environ
        environment[JOB] = str(self.folder / "socket")
        warn = [f"-W{option}" for option in sys.warnoptions]
        program = [sys.executable, *warn, "-m", "mpi4py", "-m"]
        with open(self.folder / "output", "wb") as output:
            self.process = subprocess.Popen(
                [_mpiexec(), "-n", str(self.n), *program, "dtensor._core.pytest_job"],
                cwd=self.config.invocation_params.dir,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _orders(self, paths: list[str]) -> dict[str, Any]:
        """Return what the ranks make their pytest of."""
        config = self.config
        options = {k: v for k, v in vars(config.option).items() if _plain(v)}
        options |= {k: v for k, v in NOT_FOR_RANKS.items() if k in options}
        options["rootdir"] = str(config.rootpath)
        options["inifilename"] = str(config.inipath) if config.inipath else None
        if config.option.basetemp:
            options["basetemp"] = f"{config.option.basetemp}-{self.n}-ranks"
        cover = _measurement()
        return {
            "options": options,
            "args": config.args,
            "paths": paths,
            "sys.path": sys.path,
            "worker": getattr(config, "workerinput", {}).get("workerid", "master"),
            "coverage": cover
            and {
                "file": str(self.folder / "coverage"),
                "config": cover.config.config_file or False,
                "options": {f"run:{k}": cover.get_option(f"run:{k}") for k in COVERAGE},
            },
        }

    def _let_in(self, door: socket.socket, orders: bytes) -> None:
        """Wait until all ranks have come, and have collected their tests."""
        until = time.monotonic() + START
        collected: dict[int, dict[str, Any]] = {}
        while len(collected) < self.n:
            for ready in self._ready([door, *self.ranks], until):
                if ready is door:
                    rank = Connection(door.accept()[0].detach())
                    self.ranks[rank] = -1
                    rank.send_bytes(orders)
                    continue
                told = self._hear(ready)
                self.ranks[ready] = told["rank"]
                collected[told["rank"]] = told
        self.tests = [set(collected[rank]["tests"]) for rank in range(self.n)]
        self.errors = [
            f"on rank {rank}:\n{collected[rank]['errors']}"
            for rank in range(self.n)
            if collected[rank]["errors"]
        ]

    def _ready(self, sources: list[Any], until: float) -> list[Any]:
        """Return those that have something to read."""
        while time.monotonic() < until:
            ready = wait(sources, 0.2)
            if ready:
                return ready
            if self.process.poll() is not None:
                raise _Broken(self._status())
        raise TimeoutError

    def _hear(self, rank: Connection) -> Any:
        try:
            return json.loads(rank.recv_bytes())
        except (EOFError, OSError):
            number = self.ranks.pop(rank)
            who = "a rank" if number < 0 else f"rank {number}"
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
            raise _Broken(f"{who} has ended; {self._status()}") from None

    def _status(self) -> str:
        status = self.process.poll()
        return (
            "the job did not end"
            if status is None
            else f"the job ended with status {status}"
        )

    def run(self, item: Any, nextitem: Any) -> Iterator[Any]:
        """Yield the reports of a test, made on the ranks."""
        lacking = [r for r in range(self.n) if item.nodeid not in self.tests[r]]
        if lacking:
            said = "\n".join(self.errors)
            raise LookupError(f"ranks {lacking} have not collected this test\n{said}")
        names = {"test": item.nodeid, "next": nextitem and nextitem.nodeid}
        self.output()
        limit = seconds(item)
        until = time.monotonic() + limit
        waiting = set(self.ranks)
        there: set[Connection] = set()  # those that wait for others
        try:
            for rank in self.ranks:
                rank.send_bytes(json.dumps(names).encode())
            while waiting:
                for rank in self._ready([*waiting], until):
                    told = self._hear(rank)
                    if "report" in told:
                        yield self._report(told["report"])
                    elif "waits" in told:
                        (there.add if told["waits"] else there.discard)(rank)
                    else:
                        waiting.discard(rank)
        except TimeoutError:
            late = sorted(self.ranks[rank] for rank in waiting - there or waiting)
            raise _Broken(
                f"the test was not done within its time limit of {limit:g} s: ranks "
                f"{late} have not come to its end"
            ) from None
        except OSError as error:
            raise _Broken(f"{error}; {self._status()}") from None

    def _report(self, data: dict[str, Any]) -> Any:
        hook = self.config.hook.pytest_report_from_serializable
        report = hook(config=self.config, data=data)
        if isinstance(
            report.longrepr, list
        ):  # of a test that was skipped; JSON's tuple
            report.longrepr = tuple(report.longrepr)
        return report

    def output(self) -> str:
        """Return what the ranks have printed since the last call."""
        with contextlib.suppress(OSError), open(self.folder / "output", "rb") as file:
            file.seek(self.told)
            data = file.read()
            self.told += len(data)
            return data.decode(errors="replace")
        return ""

    def dismiss(self) -> None:
        """Let the ranks end; they finish their fixtures."""
        for rank in self.ranks:
            with contextlib.suppress(OSError):
                rank.send_bytes(b"{}")

    def end(self, patience: float = 0.0) -> str:
        """End the job, by force after `patience` seconds; return what it printed."""
        process: Any = getattr(self, "process", None)
        steps = [(None, patience), (signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)]
        for number, limit in steps if process is not None else []:
            with contextlib.suppress(ProcessLookupError):
                if number == signal.SIGKILL:
                    os.killpg(process.pid, number)
                elif number is not None:
                    process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit)
                break
        for rank in self.ranks:
            rank.close()
        output = self.output()
        cover = _measurement()
        for path in self.folder.glob("coverage.*") if cover is not None else ():
            data = sys.modules["coverage"].CoverageData(str(path))
            data.read()
            cover.get_data().update(data)
        shutil.rmtree(self.folder, ignore_errors=True)
        return output


# --- all of them ----------------------------------------------------------------------


def _n_of(item: Any) -> int:
    """Return the number of ranks of a marked test; 1 for others."""
    call = getattr(item, "callspec", None)
    if call is None or item.get_closest_marker("ranks") is None:
        return 1
    return int(call.params.get("n_ranks", 1))


class Jobs:
    """The plugin of pytest that runs tests of several ranks in jobs."""

    def __init__(self) -> None:
        self.jobs: dict[int, _Job] = {}
        self.items: dict[int, list[Any]] = {}  # by number of ranks, in order

    def _collected(self, session: Any) -> None:
        """Know the tests of each number of ranks; refuse what cannot work with them."""
        self.items = {}
        for item in session.items:
            self.items.setdefault(_n_of(item), []).append(item)
        option = session.config.option
        if set(self.items) - {1} and (option.usepdb or getattr(option, "trace", False)):
            raise pytest.UsageError(
                "--pdb and --trace need a terminal, which the ranks of mpiexec do not "
                "have: debug with dtensor.testing.run_ranks, in one process, or choose "
                "tests of one rank (-k 1-ranks)"
            )

    pytest_collection_finish = _collected

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        """Run a test of several ranks in a job; all others as usual."""
        n = _n_of(item)
        if n == 1:
            return None
        hooks = item.ihook
        hooks.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in self._reports(item, n, nextitem):
            hooks.pytest_runtest_logreport(report=report)
        hooks.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _next(self, item: Any, n: int, nextitem: Any) -> Any:
        """Return the test that the job of an item will probably be asked for next."""
        if nextitem is not None and _n_of(nextitem) == n:
            return nextitem
        later = self.items[n][self.items[n].index(item) + 1 :]
        return next(iter(later), None)

    def _reports(self, item: Any, n: int, nextitem: Any) -> Iterator[Any]:
        try:
            if n not in self.jobs:
                paths = dict.fromkeys(str(each.path) for each in self.items[n])
                self.jobs[n] = _Job(item.config, n, [*paths])
            yield from self.jobs[n].run(item, self._next(item, n, nextitem))
        except LookupError as error:
            yield _failure(item, str(error))
        except _Broken as error:
            job = self.jobs.pop(n, None)
            why, output = error.args if job is None else (str(error), job.end())
            yield _failure(item, f"{why}; what the ranks have printed:\n{output}")
        except BaseException:
            self._end(0.0)
            raise
        if item.config.option.capture in ("no", "tee-sys") and n in self.jobs:
            print(self.jobs[n].output(), end="")

    def _end(self, patience: float) -> None:
        jobs, self.jobs = self.jobs, {}
        for job in jobs.values():
            job.dismiss()
        for job in jobs.values():
            job.end(patience)

    def _loop(self) -> Iterator[Any]:
        try:
            return (yield)
        finally:  # before the measurement of coverage ends
            self._end(GRACE)

    pytest_runtestloop = pytest.hookimpl(wrapper=True, trylast=True)(_loop)


def _failure(item: Any, text: str) -> Any:
    return pytest.TestReport(
        item.nodeid,
        item.location,
        {name: 1 for name in item.keywords},
        "failed",
        text,
        "call",
    )
