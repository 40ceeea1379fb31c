"""Processes that make batches beside this one: the workers of a `DataLoader`.

They are spawned, not forked: MPI does not survive a fork. They do not see the variables
of MPI's launcher, and do not start MPI, so that no launcher counts them as ranks.
"""

import contextlib
import multiprocessing
import os
import pickle
import random
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtensor.random import manual_seed

__all__ = ["WorkerInfo", "Workers", "get_worker_info"]

LAUNCHERS = re.compile(r"(OMPI|PMIX?|PRTE|PRRTE|HYDRA?|MPIR|MPIEXEC|OPAL|ORTE|SLURM)_")
_lock = threading.Lock()


@dataclass(frozen=True)
class WorkerInfo:
    """What `get_worker_info` tells a worker about itself."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """Return this worker's number, of how many, seed and dataset; None elsewhere."""
    return _info


class _Failed:
    """An exception of a worker."""

    def __init__(self, error: Exception) -> None:
        self.text = "".join(traceback.format_exception(error))
        try:
            pickle.loads(pickle.dumps(error))
            self.kind: type[Exception] = type(error)
        except Exception:  # it cannot be made anew elsewhere
            self.kind = RuntimeError

    def again(self, number: int) -> Exception:
        """Return it for the process that waits, with the worker's traceback."""
        text = (
            f"Caught {self.kind.__name__} in DataLoader worker process {number}.\n"
            f"Original {self.text}"
        )
        try:
            return self.kind(text)
        except Exception:
            return RuntimeError(text)


_END = "end"  # what a worker answers when an IterableDataset has no more samples

# --- in the worker --------------------------------------------------------------------


def _serve(
    pipe: Any,
    info: WorkerInfo,
    fetcher: Callable[[Any], Callable[[Any], Any]],
    begin: Callable[[int], Any] | None,
) -> None:
    """Answer requests until the pipe is closed: None begins anew, others are batches.

    `fetcher` makes of a dataset a function that makes batches.
    """
    global _info
    _info = info
    random.seed(info.seed)
    np.random.seed(info.seed % 2**32)
    manual_seed(info.seed)
    fetch, failed = None, None
    try:
        if begin is not None:
            begin(info.id)
    except Exception as error:
        failed = _Failed(error)
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            asked = pipe.recv()
            if asked is None:
                fetch = None
                continue
            try:
                fetch = fetcher(info.dataset) if fetch is None else fetch
                answer = failed or fetch(asked)
            except StopIteration:
                answer = _END
            except Exception as error:
                answer = _Failed(error)
            pipe.send(answer)


# --- in this process ------------------------------------------------------------------


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """Hide MPI's launcher from the processes that are started in the block."""
    with _lock:
        hidden = {k: os.environ.pop(k) for k in list(os.environ) if LAUNCHERS.match(k)}
        before = os.environ.get("MPI4PY_RC_INITIALIZE")
        os.environ["MPI4PY_RC_INITIALIZE"] = "0"
        try:
            yield
        finally:
            del os.environ["MPI4PY_RC_INITIALIZE"]
            if before is not None:
                os.environ["MPI4PY_RC_INITIALIZE"] = before
            os.environ.update(hidden)


class Workers:
    """Spawned processes, which are asked for batches in turn.

    Parameters
    ----------
    count : int
    dataset, fetcher, begin
        What each of them gets, pickled: a dataset, a function that makes of it one
        that makes batches, and one that is called with the number of the worker.
    seed : int
        That of the first; the others have the next ones.
    ahead : int
        How many batches each of them makes before they are taken.
    timeout : float
        How many seconds a batch may take; 0: any number.
    """

    def __init__(
        self,
        count: int,
        dataset: Any,
        fetcher: Callable[..., Any],
        begin: Callable[[int], Any] | None,
        seed: int,
        ahead: int,
        timeout: float,
    ) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.ahead, self.timeout = ahead, timeout
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        self._due: list[int] = []  # the workers that have been asked, in turn
        for k in range(count):
            mine, theirs = spawn.Pipe()
            info = WorkerInfo(k, count, seed + k, dataset)
            process = spawn.Process(
                target=_serve, args=(theirs, info, fetcher, begin), daemon=True
            )
            with _apart():
                process.start()
            theirs.close()
            self.pipes.append(mine)
            self.processes.append(process)

    def batches(self, requests: Iterator[Any]) -> Iterator[Any]:
        """Yield an answer for each request, in their order.

        A worker that has no more samples is not asked any more.
        """
        self._settle()
        for pipe in self.pipes:
            self._ask(pipe, None)
        active = list(range(len(self.pipes)))
        turn = 0
        while True:
            while active and len(self._due) < self.ahead * len(self.pipes):
                request = next(requests, None)
                if request is None:
                    active = []
                    break
                number = active[turn % len(active)]
                turn += 1
                self._ask(self.pipes[number], request)
                self._due.append(number)
            if not self._due:
                return
            number = self._due.pop(0)
            answer = self._take(number)
            if isinstance(answer, _Failed):
                raise answer.again(number)
            if isinstance(answer, str) and answer == _END:
                if number in active:
                    turn = active.index(number)
                    active.remove(number)
                continue
            yield answer

    def _ask(self, pipe: Any, request: Any) -> None:
        with contextlib.suppress(OSError):  # a dead one is found when it is waited for
            pipe.send(request)

    def _take(self, number: int) -> Any:
        pipe = self.pipes[number]
        if self.timeout and not pipe.poll(self.timeout):
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        try:
            return pipe.recv()
        except (EOFError, OSError):
            process = self.processes[number]
            process.join(1)
            raise RuntimeError(
                f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly with "
                f"exit code {process.exitcode}. Scripts that use workers need `if "
                '__name__ == "__main__":` around what is not to run in these.'
            ) from None

    def _settle(self) -> None:
        """Forget answers to requests of an earlier time."""
        while self._due:
            self._take(self._due.pop(0))

    def close(self) -> None:
        """End the processes."""
        for pipe in self.pipes:
            pipe.close()
        for process in self.processes:
            process.join(5)
            if process.is_alive():
                process.terminate()
        self.pipes, self.processes = [], []
