"""A test that is marked with `ranks` starts them, and fails if it fails on one."""

import re
import sys
import textwrap
from types import SimpleNamespace

import pytest
from jobs import run
from slow import slow

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

    def call(text, *launcher):
        path = tmp_path / "test_it.py"
        path.write_text(HEAD + textwrap.dedent(text))
        plain = ["-m", "pytest", "-p", "dtensor.testing", "-p", "no:cacheprovider"]
        start = [*launcher, sys.executable, *(["-m", "mpi4py"] if launcher else [])]
        options = ["-v", "-rs", "--rootdir", str(tmp_path), str(path)]
        status, output, _ = run([*start, *plain, *options])
        return status, dict(OUTCOME.findall(output)), output

    return call


def test_each_number_of_ranks_is_a_test(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(1, 2, 3)
        def test_sum(n_ranks):
            mesh = init_device_mesh("cpu", (n_ranks,))
            x = DTensor.from_local(np.ones(1), mesh, [Partial()])
            assert x.full_tensor()[0] == n_ranks == _world.current().size

        def test_without_ranks():
            assert _world.current().size == 1
        """
    )
    names = [*(f"test_sum[{n}-ranks]" for n in (1, 2, 3)), "test_without_ranks"]
    assert outcomes == dict.fromkeys(names, "PASSED") and status == 0, output


def test_a_failure_on_one_rank_is_shown_as_it_was_there(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(2)
        def test_fails():
            print("said on rank", _world.current().rank)
            assert _world.current().rank == 0
        """
    )
    assert outcomes == {"test_fails[2-ranks]": "FAILED"} and status == 1
    assert "failed on ranks [1]; on rank 1:" in output
    assert "assert 1 == 0" in output and "said on rank 1" in output


def test_a_rank_that_waits_in_vain_says_for_whom(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(2, timeout=4)
        def test_waits():
            mesh = init_device_mesh("cpu", (2,))
            x = DTensor.from_local(np.ones(1), mesh, [Partial()])
            if mesh.get_rank() == 0:
                x.full_tensor()
        """
    )
    assert outcomes == {"test_waits[2-ranks]": "FAILED"} and status == 1
    assert "was given up: rank 1 has come to the end of the test" in output


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
        "mpiexec",
        "-n",
        "2",
    )
    outcome = ["FAILED", "FAILED", "PASSED", "PASSED"]
    names = [f"test_adds[2-ranks-{k}]" for k in (1, 2, 3, 4)]
    assert outcomes == dict(zip(names, outcome, strict=True)) and status == 1, output
    assert "was given up: rank 1 has come to the end of the test" in output


def test_a_failure_in_a_fixture_of_one_rank_ends_the_test_on_all(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.fixture
        def part():
            assert _world.current().rank == 0

        @pytest.mark.ranks(2)
        def test_meets(part):
            init_device_mesh("cpu", (2,))
        """
    )
    assert outcomes == {"test_meets[2-ranks]": "ERROR"} and status == 1, output


@pytest.mark.parametrize(
    ("what", "told"),
    [slow("time.sleep(100)", "time limit"), ("os._exit(3)", "ended with status 3")],
)
def test_ranks_that_hang_or_die_are_ended_with_a_failure(try_out, what, told):
    status, outcomes, output = try_out(
        f"""
        @pytest.mark.ranks(2, timeout=3)
        def test_ends():
            if _world.current().rank == 1:
                {what}
        """
    )
    assert outcomes == {"test_ends[2-ranks]": "FAILED"} and status == 1
    assert told in output
    if "sleep" in what:
        assert "in test_ends" in output  # where it hung


def test_skips_expected_failures_and_parameters_are_as_without_ranks(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(2)
        def test_skips():
            pytest.skip("not today")

        @pytest.mark.ranks(2)
        @pytest.mark.xfail(strict=True)
        def test_known():
            assert _world.current().rank > 1

        class TestIt:
            @pytest.mark.ranks(2)
            @pytest.mark.parametrize("text", ["a b/[c]"])
            def test_text(self, text, tmp_path):
                assert text == "a b/[c]" and tmp_path.exists()
        """
    )
    assert outcomes == {
        "test_skips[2-ranks]": "SKIPPED",
        "test_known[2-ranks]": "XFAIL",
        "TestIt::test_text[2-ranks-a b/[c]]": "PASSED",
    }, output
    assert status == 0 and "not today" in output


def test_under_mpiexec_it_runs_in_place(try_out):
    status, outcomes, output = try_out(
        """
        @pytest.mark.ranks(2, 3)
        def test_here(n_ranks):
            assert n_ranks == _world.current().size == 2

        @pytest.mark.ranks(1, 4)
        def test_elsewhere():
            assert False

        @pytest.mark.ranks(2)
        def test_fails():
            assert _world.current().rank == 0
        """,
        "mpiexec",
        "-n",
        "2",
    )
    assert "for [1, 4] ranks; there are 2" in output or "SKIPPED" in output
    assert output.count("2 failed") == 0 and output.count("1 failed, 1 passed") == 2
    assert status == 1 and "failed on ranks [1]" in output


@pytest.mark.parametrize(
    "args, kwargs", [((), {}), (("2",), {}), ((0,), {}), ((2,), {"n": 1})]
)
def test_a_marker_that_makes_no_sense_is_refused(args, kwargs):
    mark = SimpleNamespace(args=args, kwargs=kwargs)
    with pytest.raises(pytest.UsageError, match="the marker ranks takes numbers"):
        _pytest_plugin._counts(mark, "here")
