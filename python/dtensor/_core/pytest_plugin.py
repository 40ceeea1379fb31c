"""The pytest marker ``ranks``: a test with it runs on the ranks it needs.

`dtensor.testing` explains how to use it. Outside a job, tests on n ranks run in a job
of n ranks that is kept for the whole run (`pytest_jobs`); the reports of its rank 0 are
shown as if the test had run here. Inside a job a test runs in place (`pytest_rank`).
"""

from typing import Any

from dtensor._core import pytest_rank
from dtensor._core.pytest_jobs import Jobs
from dtensor._core.require import require
from dtensor._core.world import MPI

__all__ = ["n_ranks"]

pytest = require("pytest")


def pytest_addhooks(pluginmanager: Any) -> None:
    """Add the part of the plugin that this process needs."""
    if not pytest_rank.in_job:
        pluginmanager.register(Jobs(), "dtensor-jobs")
    elif MPI.COMM_WORLD.size > 1:
        pluginmanager.register(pytest_rank, "dtensor-rank")


def pytest_configure(config: Any) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "ranks(n, ..., timeout=60): runs on n ranks, for each n; without mpiexec it "
        "starts them itself",
    )


def _n_ranks(request: Any) -> int:
    """Return how many ranks the test runs on."""
    if not hasattr(request, "param"):
        marked = sorted({mark.name for mark in request.node.iter_markers()})
        has = f"is marked {', '.join(marked)}" if marked else "has no marker"
        raise pytest.UsageError(
            "the fixture n_ranks is for tests with the marker ranks, as in "
            f"@pytest.mark.ranks(1, 2, 4); {request.node.nodeid} {has}"
        )
    return int(request.param)


n_ranks = pytest.fixture(name="n_ranks")(_n_ranks)


def _counts(marker: Any, where: str) -> list[int]:
    counts = list(marker.args)
    whole = all(isinstance(n, int) and n > 0 for n in counts)
    if not counts or not whole or set(marker.kwargs) - {"timeout"}:
        raise pytest.UsageError(
            f"{where}: the marker ranks takes numbers of ranks and `timeout`, as in "
            f"ranks(1, 2, 4, timeout=60), not {marker.args} {marker.kwargs}"
        )
    return counts


def pytest_generate_tests(metafunc: Any) -> None:
    """Make one test for each number of ranks; in a job, only for its own number."""
    marker = metafunc.definition.get_closest_marker("ranks")
    if marker is None:
        return
    counts = _counts(marker, metafunc.definition.nodeid)
    size = MPI.COMM_WORLD.size
    marks: Any = ()
    if pytest_rank.in_job and size not in counts:
        marks = pytest.mark.skip(reason=f"for {counts} ranks; there are {size}")
    if pytest_rank.in_job:
        counts = [size]
    if "n_ranks" not in metafunc.fixturenames:
        metafunc.fixturenames.append("n_ranks")
    metafunc.parametrize(
        "n_ranks",
        [pytest.param(n, marks=marks, id=f"{n}-ranks") for n in counts],
        indirect=True,
    )
