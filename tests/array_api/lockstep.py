"""The pytest plugin that runs the array API suite on all ranks of mpiexec alike.

Every rank runs every test with the same examples: what hypothesis draws depends on no
clock, on nothing drawn before and on no source but the suite's. After each phase of a
test the ranks compare how it went, and a difference is a failure on all of them. Each
rank writes what it found to ``rank<n>.json`` in the directory ARRAY_API_REPORT.
"""

import faulthandler
import functools
import json
import os
import random
import sys
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import core
from hypothesis.internal.conjecture import providers
from mpi4py import MPI

SECONDS = float(os.environ.get("ARRAY_API_SECONDS", "120"))  # that a test may take

# A communicator of its own: a failed test may have left the others inside a collective.
AGREE = MPI.COMM_WORLD.Dup()

found: dict[str, dict[str, str]] = {}


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """After the suite has chosen its own settings."""
    # By default examples are mixed with the numbers that stand in the code under test.
    providers._get_local_constants = providers.Constants
    # A test with many parameters is one function, whose source makes its seed.
    core.function_digest = functools.cache(core.function_digest)
    hypothesis.settings.register_profile(
        "lockstep",
        max_examples=config.getoption("--max-examples"),
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    hypothesis.settings.load_profile("lockstep")
    terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
    if AGREE.rank > 0 and terminal is not None:
        terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """A rank that waits for ever says where, and ends the job."""
    faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
    random.seed(zlib.crc32(item.nodeid.encode()))  # for strategy.example()
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """A phase of a test that did not go alike on all ranks has failed."""
    report = yield
    outcomes = AGREE.allgather(report.outcome)
    if len(set(outcomes)) > 1:
        report.outcome = "failed"
        report.longrepr = f"by rank: {outcomes}; here: {report.longreprtext}"
    if report.when == "call" or not report.passed:
        text = "" if report.passed else report.longreprtext
        found[item.nodeid] = {"outcome": report.outcome, "text": text}
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was found, of which failed tests are a part."""
    directory = os.environ.get("ARRAY_API_REPORT")
    if directory:
        path = Path(directory) / f"rank{AGREE.rank}.json"
        path.write_text(json.dumps(found, indent=1))
    if session.exitstatus == pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.OK  # mpiexec would end the other ranks
