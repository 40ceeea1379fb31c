"""The pytest marker ``ranks``: a test with it starts the ranks it needs.

`dtensor.testing` explains how to use it. Outside a job, a test on n ranks starts
mpiexec for this test alone. Rank 0 of that job writes the reports of the test's phases,
which are then shown as if the test had run here. Inside a job the test runs in place.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dtensor._core.require import require
from dtensor._core.world import MPI, meet

__all__ = ["n_ranks"]

pytest = require("pytest")

SECONDS = 60.0  # that a test may take by default
PATIENCE = 0.5  # part of it that a rank waits for another
GRACE = 10.0  # how long mpiexec may take to start its ranks, and again to end them
REPORTS = "DTENSOR_TEST_REPORTS"  # the file that rank 0 of such a job writes to
LAUNCHERS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", REPORTS)

# What lets Open MPI 4 (OMPI_*) and 5 (PRTE_*) start more ranks than there are cores.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
ROOT_TOO = {
    f"{name}_ALLOW_RUN_AS_ROOT{end}": "1"
    for name in ("OMPI", "PRTE")
    for end in ("", "_CONFIRM")
}

_in_job = MPI.COMM_WORLD.size > 1 or any(name in os.environ for name in LAUNCHERS)
_agree: Any = None  # a communicator of its own: a failed test leaves messages behind
_config: Any = None


# --- which ranks ----------------------------------------------------------------------


def pytest_configure(config: Any) -> None:
    """Make the marker known."""
    global _config
    _config = config  # what reports are made into data with
    config.addinivalue_line(
        "markers",
        "ranks(n, ..., timeout=60): runs on n ranks, for each n; without mpiexec it "
        "starts them itself",
    )


def _n_ranks(request: Any) -> int:
    """Return how many ranks the test runs on."""
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
    if _in_job and size not in counts:
        marks = pytest.mark.skip(reason=f"for {counts} ranks; there are {size}")
    if _in_job:
        counts = [size]
    if "n_ranks" not in metafunc.fixturenames:
        metafunc.fixturenames.append("n_ranks")
    metafunc.parametrize(
        "n_ranks",
        [pytest.param(n, marks=marks, id=f"{n}-ranks") for n in counts],
        indirect=True,
    )


# --- a job of its own -----------------------------------------------------------------


def pytest_runtest_protocol(item: Any, nextitem: Any) -> bool | None:
    """Run a test of several ranks as a job; all others as usual."""
    call = getattr(item, "callspec", None)
    marker = item.get_closest_marker("ranks")
    n = None if call is None or marker is None else call.params.get("n_ranks")
    if _in_job or n is None or n == 1:
        return None
    hooks = item.ihook
    hooks.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports_of_job(item, n, marker.kwargs.get("timeout", SECONDS)):
        hooks.pytest_runtest_logreport(report=report)
    hooks.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports_of_job(item: Any, n: int, timeout: float) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reports"
        status, output = _run_job(item, n, timeout, path)
        lines = path.read_text().splitlines() if path.exists() else []
    reports = [_report_of(json.loads(line), item.config) for line in lines]
    whole = any(report.when == "teardown" for report in reports)
    if whole and (status == 0) == all(not report.failed for report in reports):
        return reports
    why = (
        f"the job did not end within {timeout:g} s"
        if status is None
        else f"the job ended with status {status}"
    )
    return [*reports, _failure(item, f"{why}; its output:\n{output}")]


def _report_of(data: dict[str, Any], config: Any) -> Any:
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    if isinstance(report.longrepr, list):  # of a test that was skipped; JSON's tuple
        report.longrepr = tuple(report.longrepr)
    return report


def _failure(item: Any, text: str) -> Any:
    return pytest.TestReport(
        item.nodeid,
        item.location,
        {name: 1 for name in item.keywords},
        "failed",
        text,
        "call",
    )


def _run_job(item: Any, n: int, timeout: float, path: Path) -> tuple[int | None, str]:
    """Return exit status and output; None if the job had to be ended."""
    process = subprocess.Popen(
        [_mpiexec(), "-n", str(n), *_pytest(item, timeout)],
        cwd=item.config.invocation_params.dir,
        env=_environment(timeout, path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=timeout + 2 * GRACE)
    except BaseException as error:
        output = _end(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return None, output
    return process.returncode, output


def _end(process: subprocess.Popen[str]) -> str:
    """End a job, if possible through mpiexec; return what it has printed."""
    process.terminate()
    try:
        output, _ = process.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
    return output


def _mpiexec() -> str:
    beside = Path(sys.executable).with_name("mpiexec")  # Open MPI of PyPI
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        raise pytest.UsageError("the marker ranks needs mpiexec: it is not on the PATH")
    return found


def _pytest(item: Any, timeout: float) -> list[str]:
    """Return the command that runs this test alone, with the options of this run.

    Ranks that hang print their stack before they are ended.
    """
    config = item.config
    _, _, name = item.nodeid.partition("::")
    command = [sys.executable, "-m", "mpi4py", "-m", "pytest", "--no-header"]
    command += ["-o", f"faulthandler_timeout={PATIENCE * timeout:g}"]
    command += ["--rootdir", str(config.rootpath)]
    command += ["-c", str(config.inipath)] if config.inipath else []
    for plugin in config.option.plugins:
        command += ["-p", plugin]
    for setting in config.option.override_ini or ():
        command += ["-o", setting]
    command += ["--tb", config.option.tbstyle]
    return [*command, f"{item.path}::{name}"]


def _environment(timeout: float, path: Path) -> dict[str, str]:
    environment = ENVIRONMENT | (ROOT_TOO if os.getuid() == 0 else {})
    environment |= os.environ
    environment["MPIEXEC_TIMEOUT"] = str(max(1, round(timeout + GRACE)))
    # A rank that waits in vain reports it before mpiexec ends it.
    environment["DTENSOR_TIMEOUT"] = f"{PATIENCE * timeout:g}"
    environment[REPORTS] = str(path)
    return environment


# --- in the job -----------------------------------------------------------------------


def _make_report(item: Any, call: Any) -> Iterator[None]:
    """Give a phase of a test, on all ranks, the worst outcome of any rank."""
    global _agree
    outcome: Any = yield
    if item.get_closest_marker("ranks") is None or MPI.COMM_WORLD.size == 1:
        return
    if _agree is None:
        _agree = MPI.COMM_WORLD.Dup()
    report = outcome.get_result()
    # Ranks that still wait for one that has failed come here, too; those that do not in
    # time wait below.
    with contextlib.suppress(RuntimeError):
        meet("the end of the test")
    mine = (
        item.nodeid,
        report.outcome,
        str(report.longrepr) if report.failed else "",
        report.sections if report.failed else [],
    )
    told = _agree.allgather(mine)
    failed = [rank for rank, each in enumerate(told) if each[1] == "failed"]
    if failed and not report.failed:
        report.outcome = "failed"
        text, report.sections = told[failed[0]][2:]
        report.longrepr = f"failed on ranks {failed}; on rank {failed[0]}:\n{text}"
    elif failed:
        report.sections.append(("ranks", f"failed on ranks {failed}"))
    elif len({each[:2] for each in told}) > 1:
        report.outcome = "failed"
        report.longrepr = f"ranks disagree: {[each[:2] for each in told]}"


pytest_runtest_makereport = pytest.hookimpl(hookwrapper=True)(_make_report)


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the report for the process that started the job."""
    path = os.environ.get(REPORTS)
    if path is None or MPI.COMM_WORLD.rank > 0:
        return
    data = _config.hook.pytest_report_to_serializable(config=_config, report=report)
    with open(path, "a") as file:
        file.write(json.dumps(data) + "\n")
