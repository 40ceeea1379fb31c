"""The program of a rank that runs tests for a pytest elsewhere: see `pytest_jobs`."""

import json
import os
import queue
import shutil
import socket
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from dtensor._core import pytest_rank, world as _world
from dtensor._core.require import require
from dtensor._core.world import MPI

pytest = require("pytest")


class Rank:
    """The plugin of this rank's pytest: runs the tests that it is told."""

    def __init__(self, caller: Connection, paths: list[str]) -> None:
        self.caller, self.paths = caller, paths
        self.orders: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.errors: list[str] = []
        self.config: Any = None

    def listen(self) -> None:
        """Hear what to run: the body of a thread. A rank without a caller ends."""
        try:
            while order := json.loads(self.caller.recv_bytes()):
                self.orders.put(order)
        except (EOFError, OSError):
            folder = os.path.dirname(os.environ[pytest_rank.JOB])
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(1)
        self.orders.put({})

    def tell(self, **message: Any) -> None:
        """Send the caller a message."""
        self.caller.send_bytes(json.dumps(message).encode())

    def pytest_configure(self, config: Any) -> None:
        """Keep what reports are made into data with."""
        self.config = config

    def pytest_collectreport(self, report: Any) -> None:
        """Keep what could not be collected."""
        if report.failed:
            self.errors.append(report.longreprtext)

    def _collect(self, session: Any) -> bool:
        """Collect the files that have tests for this many ranks."""
        try:
            session.perform_collect(self.paths)
        except pytest.UsageError as error:
            self.errors.append(str(error))
        session.testsfailed = 0  # each of the tests tells
        return True

    def _loop(self, session: Any) -> bool:
        """Run what the caller asks for, until it has no more."""
        items = {item.nodeid: item for item in session.items}
        rank = MPI.COMM_WORLD.rank
        self.tell(rank=rank, tests=[*items], errors="\n".join(self.errors))
        while order := self.orders.get():
            item, then = items[order["test"]], items.get(order["next"])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=then)
            self.tell(done=item.nodeid)
        return True

    def _setup(self, item: Any) -> None:
        """End fixtures that were kept for a test that has not come."""
        item.session._setupstate.teardown_exact(item)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Send the report to the caller."""
        if MPI.COMM_WORLD.rank == 0:
            hook = self.config.hook.pytest_report_to_serializable
            self.tell(report=hook(config=self.config, report=report))

    pytest_collection = pytest.hookimpl(tryfirst=True)(_collect)
    pytest_runtestloop = pytest.hookimpl(tryfirst=True)(_loop)
    pytest_runtest_setup = pytest.hookimpl(tryfirst=True)(_setup)


def _measure(told: dict[str, Any]) -> Any:
    """Start to measure coverage as the caller does."""
    coverage = require("coverage")
    cover = coverage.Coverage(
        data_file=told["file"], data_suffix=True, config_file=told["config"]
    )
    for name, value in told["options"].items():
        cover.set_option(name, value)
    cover.start()
    return cover


def main() -> int:
    """Run pytest for the process that has started this job; return the exit status."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ[pytest_rank.JOB])
        caller = Connection(line.detach())
    told = json.loads(caller.recv_bytes())
    sys.path[:] = told["sys.path"]
    cover = told["coverage"] and _measure(told["coverage"])
    _world.current()  # collective: from now on each test can set its timeout
    config = pytest.Config.fromdictargs(told["options"], told["args"])
    config.workerinput = {  # as of pytest-xdist: plugins leave files to the caller
        "workerid": told["worker"],
        "testrunuid": os.environ.get("PYTEST_XDIST_TESTRUNUID", ""),
        "mainargv": sys.argv,
    }
    rank = Rank(caller, told["paths"])
    config.pluginmanager.register(rank, "dtensor-job")
    pytest_rank.on_wait = lambda waits: rank.tell(waits=waits)
    threading.Thread(target=rank.listen, daemon=True).start()
    config.hook.pytest_cmdline_main(config=config)
    if cover:
        cover.stop()
        cover.save()
    return 0


if __name__ == "__main__":
    sys.exit(main())
