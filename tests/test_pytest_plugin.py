"""A test that is marked with `ranks` starts them, and fails if it fails on one."""

import re
import sys
import textwrap
from types import SimpleNamespace

import pytest
from jobs import run

from dtensor._core import pytest_plugin as _pytest_plugin

HEAD = """
import os, time
import numpy as np
import pytest
from dtensor import DTensor, Partial, init_device_mesh
from dtensor._core import world as _world
"""
OUTCOME = re.compile(
    r"^\S*test_it\.py::(\S+.*?) (PASSED|FAILED|SKIPPED|XFAIL|ERROR)", re.M
)


@pytest.fixture
def try_out(tmp_path):
    """Runs tests with the plugin; returns the status, the outcomes and the output."""

    def call(text, *options, launcher=()):
        path = tmp_path / "test_it.py"
        path.write_text(HEAD + textwrap.dedent(text))
        plugins = ["dtensor.testing", "xdist", "pytest_cov", "no:cacheprovider"]
        plain = ["-m", "pytest", *(word for p in plugins for word in ("-p", p))]
        start = [*launcher, sys.executable, *(["-m", "mpi4py"] if launcher else [])]
        options = ["-v", "-rs", "--rootdir", str(tmp_path), *options, str(path)]
        alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ""}
        alone["COVERAGE_FILE"] = str(tmp_path / ".coverage")
        status, output, _ = run([*start, *plain, *options], **alone)
        return status, dict(OUTCOME.findall(output)), output

    return call


PROJECT = """
    import lib

    @pytest.fixture(scope="module")
    def made(tmp_path_factory):
        return tmp_path_factory.mktemp("made") / f"rank{_world.current().rank}"

    @pytest.mark.ranks(1, 2, 3)
    def test_sum(n_ranks):
        mesh = init_device_mesh("cpu", (n_ranks,))
        x = DTensor.from_local(np.ones(1), mesh, [Partial()])
        assert x.full_tensor()[0] == n_ranks == _world.current().size

    def test_without_ranks():
        assert _world.current().size == 1

    @pytest.mark.ranks(2)
    @pytest.mark.parametrize("write", [True, False])
    def test_the_job_and_its_fixtures_stay(made, write):
        if write:
            made.write_text(str(os.getpid()))
        assert made.read_text() == str(os.getpid())
        assert write or len([*made.parent.iterdir()]) == 2

    @pytest.mark.ranks(2)
    def test_folders_are_those_of_rank_0(tmp_path):
        rank = _world.current().rank
        (tmp_path / str(rank)).touch()
        assert len(set(_world.current().share(bytes(tmp_path)))) == 1
        assert {path.name for path in tmp_path.iterdir()} == {"0", "1"}

    @pytest.mark.ranks(2)
    def test_other_lines_on_other_ranks():
        assert lib.side(_world.current().rank)

    class TestIt:
        @pytest.mark.ranks(2)
        @pytest.mark.parametrize("text", ["a b/[c]"])
        def test_text(self, text, request):
            assert text == "a b/[c]" and request.config.option.verbose == 2

    @pytest.mark.ranks(2)
    def test_skips():
        pytest.skip("not today")

    @pytest.mark.ranks(2)
    @pytest.mark.xfail(strict=True)
    def test_known():
        assert _world.current().rank > 1
"""
LIB = """
def side(rank):
    if rank == 0:
        return "left"
    if rank == 1:
        return "right"
    return "nowhere"
"""


def test_a_project_runs_in_one_job_for_each_number_of_ranks(try_out, tmp_path):
    (tmp_path / "lib.py").write_text(LIB)
    status, outcomes, output = try_out(
        PROJECT,
        "-v",
        "--durations=1",
        "--durations-min=0",
        f"--cov={tmp_path}",
        "--cov-report=term-missing",
    )
    kept = "test_the_job_and_its_fixtures_stay[2-ranks-{}]"
    passed = [
        *(f"test_sum[{n}-ranks]" for n in (1, 2, 3)),
        "test_without_ranks",
        *map(kept.format, (True, False)),
        "test_folders_are_those_of_rank_0[2-ranks]",
        "test_other_lines_on_other_ranks[2-ranks]",
        "TestIt::test_text[2-ranks-a b/[c]]",
    ]
    others = {"test_skips[2-ranks]": "SKIPPED", "test_known[2-ranks]": "XFAIL"}
    assert outcomes == dict.fromkeys(passed, "PASSED") | others, output
    assert status == 0 and "not today" in output and "slowest 1 durations" in output
    # The lines of all ranks count; the last one of lib.py is run by none.
    assert re.search(r"^\S*lib\.py +6 +1 +83% +7$", output, re.M), output
    assert not [*tmp_path.glob(".coverage.*")]


FAILURES = """
    @pytest.mark.ranks(2)
    def test_fails():
        print("said on rank", _world.current().rank)
        assert _world.current().rank == 0

    @pytest.fixture
    def part():
        assert _world.current().rank == 0

    @pytest.mark.ranks(2)
    def test_meets(part):
        init_device_mesh("cpu", (2,))

    @pytest.mark.ranks(2)
    def test_raises():
        mesh = init_device_mesh("cpu", (2,))
        if mesh.get_rank() == 1:
            raise KeyError("the cause")
        DTensor.from_local(np.ones(1), mesh, [Partial()]).full_tensor()

    @pytest.mark.ranks(2, timeout=4)
    def test_waits():
        mesh = init_device_mesh("cpu", (2,))
        x = DTensor.from_local(np.ones(1), mesh, [Partial()])
        if mesh.get_rank() == 0:
            x.full_tensor()

    @pytest.mark.ranks(2)
    def test_goes_on():
        mesh = init_device_mesh("cpu", (2,))
        x = DTensor.from_local(np.ones(1), mesh, [Partial()])
        assert x.full_tensor()[0] == 2
"""
ENDS = """
    @pytest.mark.ranks(2)
    def test_ends():
        if _world.current().rank == 1:
            os._exit(3)

    @pytest.mark.ranks(2, timeout=2)
    def test_hangs():
        assert _world.current().rank == 1, "printed before it waits"
        time.sleep(100)

    @pytest.mark.ranks(2)
    def test_goes_on():
        assert _world.current().size == 2
"""


def test_failures_are_shown_as_they_were_and_end_no_other_test(try_out):
    status, outcomes, output = try_out(FAILURES)
    assert outcomes == {
        "test_fails[2-ranks]": "FAILED",
        "test_meets[2-ranks]": "ERROR",
        "test_raises[2-ranks]": "FAILED",
        "test_waits[2-ranks]": "FAILED",
        "test_goes_on[2-ranks]": "PASSED",
    }, output
    assert status == 1
    for said in (
        "failed on ranks [1]; on rank 1:",
        "assert 1 == 0",
        "said on rank 1",
        "KeyError: 'the cause'",
        "was given up: rank 1 came to the end of the test",
    ):
        assert said in output, f"{said}: {output}"


def test_a_job_that_ends_or_hangs_is_followed_by_another(try_out):
    status, outcomes, output = try_out(ENDS)
    names = [f"test_{name}[2-ranks]" for name in ("ends", "hangs", "goes_on")]
    wanted = dict(zip(names, ["FAILED", "FAILED", "PASSED"], strict=True))
    assert outcomes == wanted and status == 1, output
    for said in (
        "rank 1 has ended; the job ended with status 3",
        "time limit of 2 s: ranks [1] have not come to its end",
        "AssertionError: printed before it waits",
        "in test_hangs\n    time.sleep(100)",
    ):
        assert said in output, f"{said}: {output}"


def test_workers_of_xdist_have_jobs_of_their_own(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(1, 2)
        @pytest.mark.parametrize("k", range(3))
        def test_sum(n_ranks, k, worker_id):
            assert _world.current().size == n_ranks and worker_id[:2] == "gw"
        """,
        "-n2",
    )
    assert status == 0 and "6 passed" in output, output


def test_the_first_failure_ends_the_run_and_the_job_if_it_is_told_to(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.fixture(scope="module")
        def kept():
            yield
            print("the fixture has ended on", _world.current().rank)

        @pytest.mark.ranks(2)
        @pytest.mark.parametrize("k", range(3))
        def test_it(kept, k):
            print("this is rank", _world.current().rank)
            assert k == 0
        """,
        "-x",
        "-s",
    )
    assert status == 1 and "1 failed, 1 passed" in output, output
    assert output.count("this is rank 1") == 2, output


def test_a_debugger_on_ranks_is_refused(try_out):
    status, _, output = try_out(
        """
        @pytest.mark.ranks(2)
        def test_it():
            assert False
        """,
        "--pdb",
    )
    assert status == 4 and "--pdb and --trace need a terminal" in output


def test_a_test_that_fails_on_one_rank_does_not_spoil_the_next(try_out):
    status, outcomes, output = try_out(
        """
        def total(k):
            mesh = init_device_mesh("cpu", (2,))
            x = DTensor.from_local(np.full(1, k), mesh, [Partial()])
            return x.full_tensor()[0]

        @pytest.mark.ranks(2)
        @pytest.mark.parametrize("k", [1, 2, 3, 4])
        def test_adds(n_ranks, k):
            assert k == 3 or _world.current().rank == k % 2 or k == 4
            assert total(k) == 2 * k
        """,
        launcher=("mpiexec", "-n", "2"),
    )
    outcome = ["FAILED", "FAILED", "PASSED", "PASSED"]
    names = [f"test_adds[2-ranks-{k}]" for k in (1, 2, 3, 4)]
    assert outcomes == dict(zip(names, outcome, strict=True)) and status == 1, output
    assert "was given up: rank 1 came to the end of the test" in output


def test_under_mpiexec_it_runs_in_place(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(2, 3)
        def test_here(n_ranks, tmp_path):
            assert n_ranks == _world.current().size == 2
            assert len(set(_world.current().share(bytes(tmp_path)))) == 1

        @pytest.mark.ranks(1, 4)
        def test_elsewhere():
            assert False

        @pytest.mark.ranks(2)
        def test_fails():
            assert _world.current().rank == 0

        @pytest.mark.ranks(2, timeout=2)
        def test_hangs():
            if _world.current().rank == 1:
                time.sleep(100)
        """,
        launcher=("mpiexec", "-n", "2"),
    )
    assert "for [1, 4] ranks; there are 2" in output or "SKIPPED" in output
    assert outcomes == {
        "test_here[2-ranks]": "PASSED",
        "test_elsewhere[2-ranks]": "SKIPPED",
        "test_fails[2-ranks]": "FAILED",
    }, output
    assert output.count("test_here") == 1  # one rank prints
    assert status == 1 and "[rank 1] test_it.py::test_fails[2-ranks] failed" in output
    assert "[rank 1] has not come to the end of test_it.py::test_hangs" in output
    assert "in test_hangs\n    time.sleep(100)" in output


def test_a_marker_that_is_misspelt_and_the_limit_of_a_wait_are_named(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.rank(2)
        def test_misspelt(n_ranks):
            pass

        def test_unmarked(n_ranks):
            pass

        @pytest.mark.ranks(2, timeout=4)
        def test_waits():
            mesh = init_device_mesh("cpu", (2,))
            if mesh.get_rank() == 1:
                time.sleep(3)
            else:
                DTensor.from_local(np.ones(1), mesh, [Partial()]).full_tensor()
        """
    )
    assert status == 1 and "PASSED" not in outcomes.values(), output
    for said in (
        "n_ranks is for tests with the marker ranks, as in @pytest.mark.ranks(1, 2, 4)",
        "test_misspelt is marked rank",
        "test_unmarked has no marker",
        "a larger timeout= of the marker ranks waits longer",
    ):
        assert said in output, f"{said}: {output}"


@pytest.mark.parametrize(
    "args, kwargs", [((), {}), (("2",), {}), ((0,), {}), ((2,), {"n": 1})]
)
def test_a_marker_that_makes_no_sense_is_refused(args, kwargs):
    mark = SimpleNamespace(args=args, kwargs=kwargs)
    with pytest.raises(pytest.UsageError, match="the marker ranks takes numbers"):
        _pytest_plugin._counts(mark, "here")
