"""Ranks that are engines of ipyparallel, in an MPI job of their own."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from mpi4py import MPI

from dtensor._core.require import require
from dtensor._core.resync import resync
from dtensor._core.several import environment
from dtensor.notebook._ranks import Ranks, Said, is_given_up

__all__ = ["Engines"]

_SECONDS = 0.05  # between two looks at what engines do


class Engines(Ranks):
    """Ranks that are MPI processes: see `dtensor.notebook.start`."""

    are_processes = True

    def __init__(self, n: int, timeout: float) -> None:
        super().__init__(n)
        ipp = require("ipyparallel")
        # The launcher of this environment comes first, which need not be active.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        more = {"DTENSOR_TIMEOUT": str(timeout), "PATH": path}
        with _added(environment() | more):
            self._cluster = ipp.Cluster(engines="mpi", n=n, log_level=40)
            client = self._cluster.start_and_connect_sync()
        self._client = client
        try:
            self._view = client[:]
            # Engines are numbered in the order in which they came.
            ranks = self._view.apply_sync(_rank)
            self._engines = [k for _, k in sorted(zip(ranks, client.ids, strict=True))]
        except BaseException:
            self.stop()
            raise

    def __repr__(self) -> str:
        return f"<{self.n} ranks that are MPI processes>"

    def run(self, code: str, on: Iterable[int] | None = None) -> list[Said]:
        running = {
            rank: self._client[self._engines[rank]].execute(code, silent=False)
            for rank in self.chosen(on)
        }
        try:
            failed = _wait_for_one(list(running.values()))
        except KeyboardInterrupt:
            self._client.send_signal(signal.SIGINT, self._engines, block=True)
            self._end(running)
            raise
        if failed:
            self._end(running)
        return [_said(rank, cell) for rank, cell in running.items()]

    def _end(self, running: dict[int, Any]) -> None:
        """Bring the ranks back in step; this ends what some of them wait for."""
        back = self._view.apply_async(resync)  # not a cell: those are dropped now
        for cell in (*running.values(), back):
            cell.wait()

    def __getitem__(self, name: str) -> list[Any]:
        self.chosen(None)
        return [self._client[engine].pull(name, block=True) for engine in self._engines]

    def push(self, **values: Any) -> None:
        self.chosen(None)
        self._view.push(values, block=True)

    def stop(self) -> None:
        if self.stopped:
            return
        self.stopped = True
        self._cluster.stop_cluster_sync()


def _rank() -> int:
    """Run on an engine."""
    return int(MPI.COMM_WORLD.rank)


@contextlib.contextmanager
def _added(variables: dict[str, str]) -> Iterator[None]:
    """Add variables to the environment: of what is started meanwhile."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _wait_for_one(cells: list[Any]) -> bool:
    """Wait until all cells have ended or one has failed; return whether one has."""
    seen, live, left = 0, cells[:1], cells
    while left:
        ended = [cell for cell in left if cell.ready()]
        if not all(cell.successful() for cell in ended):
            return True
        left = [cell for cell in left if cell not in ended]
        if left:
            left[0].wait(_SECONDS)
        for cell in live:
            text = cell.stderr or ""
            sys.stderr.write(text[seen:])
            seen = len(text)
    return False


def _said(rank: int, cell: Any) -> Said:
    """Return what an engine has said in a cell that has ended."""
    cell.wait_for_output()
    said = Said(rank, cell.stdout, cell.stderr)
    said.shown = [output["data"] for output in cell.outputs]
    try:
        result = cell.get().execute_result
    except Exception as error:
        said.error = error
        said.given_up = is_given_up(error)
    else:
        if result is not None:
            said.shown.append(result["data"])
    return said
