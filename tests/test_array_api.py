"""The array API: the conformance suite passes, unchanged, on several ranks alike."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import clean_environment
from slow import slow

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "tests" / "array_api"
SUITE = Path(
    os.environ.get("ARRAY_API_TESTS", ROOT.parent / "shared" / "array-api-tests")
)

VERSION = "2024.12"
MANY = 1300  # tests that there are at least
# Why a test may be skipped: it is of a later version, or the suite itself does so.
MAY_SKIP = ("requires ARRAY_API_TESTS_VERSION >= ", "Skipped: flaky")


@pytest.fixture(autouse=True)
def alarm():
    """No alarm but the deadline of the job: it takes minutes."""


@pytest.fixture
def suite(request):
    """The folder of the suite, or the test is left out."""
    if not (SUITE / "array_api_tests").is_dir():
        sentence = (
            f"left out: the array API suite is not in {SUITE}; ARRAY_API_TESTS is to "
            "be the path of a checkout of data-apis/array-api-tests"
        )
        reporter = request.config.pluginmanager.get_plugin("terminalreporter")
        reporter.write_line(f"\n{sentence}")
        pytest.skip(sentence)
    return SUITE


def expected_failures():
    """Test id -> why it fails."""
    lines = (HERE / "expected_failures.txt").read_text().splitlines()
    split = (line.split("  # ") for line in lines if line and line[0] != "#")
    return {name: why for name, why in split}


def play(suite, ranks, examples, seconds, folder):
    """What every rank reports: test id -> outcome and text."""
    launcher = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    options = "-q --tb=native --disable-warnings -p no:cacheprovider -p lockstep"
    command = [
        *launcher,
        *(sys.executable, "-m", "pytest", *options.split()),
        *("-c", suite / "pytest.ini", "--rootdir", suite),
        *("--derandomize", "--disable-deadline", f"--max-examples={examples}"),
        suite / "array_api_tests",
    ]
    environment = {
        **clean_environment(),
        "ARRAY_API_REPORT": str(folder),
        "ARRAY_API_SECONDS": str(seconds / 4),
        "ARRAY_API_TESTS_MODULE": "array_api_sharded",
        "ARRAY_API_TESTS_VERSION": VERSION,
        "DTENSOR_TIMEOUT": "30",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder),
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]),
        "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"),
    }
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = f"none in {seconds} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    end = "\n".join((folder / "log").read_text(errors="replace").splitlines()[-60:])
    assert code == 0, f"exit code {code}; the end of its output:\n{end}"
    return [json.loads((folder / f"rank{n}.json").read_text()) for n in range(ranks)]


def may(test):
    """Whether a test was passed, or skipped for a reason that is the suite's own."""
    skipped = test["outcome"] == "skipped"
    return test["outcome"] == "passed" or (
        skipped and any(why in test["text"] for why in MAY_SKIP)
    )


def conforms(suite, ranks, examples, seconds, folder):
    """All ranks found the same, and nothing failed but what is expected to."""
    reports = play(suite, ranks, examples, seconds, folder)
    outcomes = [{name: t["outcome"] for name, t in r.items()} for r in reports]
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert len(outcomes[0]) >= MANY
    expected = expected_failures()
    failed = {name: test for name, test in reports[0].items() if not may(test)}
    new = [name for name in failed if name not in expected]
    text = "\n".join(f"--- {name}\n{failed[name]['text']}" for name in new)
    assert not new, f"{len(new)} tests: {', '.join(new)}\n{text[:20_000]}"
    mended = [
        name
        for name, why in expected.items()
        if name not in failed and "by example" not in why
    ]
    assert not mended, "in expected_failures.txt, but passed:\n" + "\n".join(mended)


@pytest.mark.parametrize("ranks", [1, slow(2)])
def test_the_array_api_suite_passes(suite, ranks, tmp_path):
    conforms(suite, ranks, examples=10, seconds=600, folder=tmp_path)


@pytest.mark.validate
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_the_array_api_suite_passes_with_many_examples(suite, ranks, tmp_path):
    conforms(suite, ranks, examples=200, seconds=3000, folder=tmp_path)
