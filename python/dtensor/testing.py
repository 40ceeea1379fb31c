"""Ranks for tests: threads of one process, and a plugin for pytest.

`run_ranks` is for unit tests, doctests and notebooks. The module is also a plugin of
pytest, loaded wherever dtensor is installed (else with ``-p dtensor.testing``). It has
the marker ``ranks``::

    @pytest.mark.ranks(1, 2, 4, timeout=60)
    def test_sum(n_ranks):
        mesh = init_device_mesh("cpu", (n_ranks,))
        assert ones(n_ranks, device_mesh=mesh, placements=[Shard(0)]).sum() == n_ranks

Under plain ``pytest`` these are three tests: one on 1 rank, in the same process, and
one each on 2 and 4 ranks. These run in jobs of mpiexec, one for each number of ranks,
that are kept for the whole run and have its options. A test that takes longer than
`timeout` seconds (60 by default) fails and ends its job, as does a rank that ends; the
next test starts another one. With pytest-xdist each worker has jobs of its own. The
lines that any rank runs count for ``--cov``. ``--pdb`` is refused.

Under ``mpiexec -n 2 pytest`` the test runs in place, tests that are not for 2 ranks are
skipped, and only rank 0 prints. A test that takes too long ends the job there.

A test fails if a phase of it fails on any rank; the report shows what happened on that
rank. Ranks that wait for one that has failed are told, and all are brought back in step
before the next test. If a rank does not come, it prints where it is. `tmp_path` is rank
0's on all ranks, and so is what `tmp_path_factory` makes in such a test, where all
ranks call it. The fixture `n_ranks` is the number of ranks.
"""

import contextvars
import threading
import time
from collections.abc import Callable
from typing import Any, SupportsIndex, TypeVar

from dtensor import _C
from dtensor._core.faults import fault as _fault  # noqa: F401  for tests

__all__ = ["run_ranks"]

# For pytest, which may not be installed.
pytest_plugins = ["dtensor._core.pytest_plugin"]

T = TypeVar("T")

# What an interrupt waits for ranks that compute, and so do not hear of it.
_END_SECONDS = 5.0


class _Run:
    """The ranks of one `run_ranks`: their worlds, results, and the first failure."""

    def __init__(self, n: int, timeout: float) -> None:
        self.worlds = _C.World.threads(n)
        self.results: list[Any] = [None] * n
        self.failure: tuple[int, BaseException] | None = None
        self.lock = threading.Lock()
        self.running: set[int] = set()
        self.timeout = timeout

    def be_rank(self, rank: int, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Run `fn` as one rank: the body of its thread."""
        with self.lock:
            if self.failure is not None:
                return
            self.running.add(rank)
        try:
            self.worlds[rank].activate()
            self.worlds[rank].timeout = self.timeout
            self.worlds[rank].limit = "timeout= of run_ranks"
            self.results[rank] = fn(*args)
            self.worlds[rank].close()  # whoever waits for this rank hears of it
        except BaseException as error:
            self.fail(rank, error)
        finally:
            self.running.discard(rank)

    def fail(self, rank: int, error: BaseException) -> None:
        """Keep the first failure, and end what the other ranks wait for."""
        with self.lock:
            if self.failure is None:
                self.failure = rank, error
                sentence = f"rank {rank} raised {type(error).__name__}: {error}"
                for world in self.worlds:  # any that is open tells all ranks
                    world.abort(sentence)

    def close(self, threads: list[threading.Thread]) -> None:
        """Close the worlds, after an interrupt only those of ranks that have ended."""
        until = time.monotonic() + _END_SECONDS
        # One whose start was interrupted is not alive yet, but is listed.
        while {*threads} & {*threading.enumerate()} and time.monotonic() < until:
            time.sleep(0.01)
        for rank, world in enumerate(self.worlds):
            if rank not in self.running:
                world.close()


def run_ranks(n: int, fn: Callable[..., T], *args: Any, timeout: float = 60) -> list[T]:
    """Call ``fn(*args)`` on `n` ranks that are threads of this process.

    Meshes that `fn` makes are made of these ranks. What works under ``mpiexec -n n``
    works here, except functions that return MPI communicators.

    Parameters
    ----------
    n : int
        Number of ranks, at least 1. There may be more ranks than processors.
    fn : callable
        The function that every rank calls. The ranks share the objects passed to it.
    *args
        Its arguments.
    timeout : float
        How many seconds a rank waits for another one at most.

    Returns
    -------
    list
        What `fn` returned, by rank.

    Raises
    ------
    TypeError
        If `n` is no number or `fn` cannot be called.
    ValueError
        If `n` is below 1.
    RuntimeError
        If the caller is itself a rank of `run_ranks`.
    BaseException
        The first exception that a rank raised, with a note that names the rank. The
        other ranks are ended: whatever they wait for raises.

    Examples
    --------
    >>> from dtensor import init_device_mesh
    >>> run_ranks(3, lambda: init_device_mesh("cpu", (3,)).get_local_rank())
    [0, 1, 2]
    """
    if not isinstance(n, SupportsIndex) or not callable(fn):
        raise TypeError(
            "run_ranks needs a number of ranks and a function, run_ranks(4, f), not "
            f"{type(n).__name__} and {type(fn).__name__}"
        )
    if n < 1:
        raise ValueError(f"run_ranks needs at least 1 rank, not {n}")
    if getattr(threading.current_thread(), "dtensor_rank", None) is not None:
        raise RuntimeError("run_ranks cannot be called on a rank of run_ranks")
    run = _Run(n, timeout)
    threads = []
    for rank in range(n):
        call = contextvars.copy_context().run
        thread = threading.Thread(
            target=call, args=(run.be_rank, rank, fn, args), name=f"rank {rank}"
        )
        thread.daemon = True
        thread.dtensor_rank = rank  # type: ignore[attr-defined]
        threads.append(thread)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException as error:
        run.fail(0, error)
        raise
    finally:
        run.close(threads)
    if run.failure is not None:
        rank, first = run.failure
        first.add_note(f"raised by rank {rank} of {n} (dtensor.testing.run_ranks)")
        raise first
    return run.results
