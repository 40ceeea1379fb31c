"""What type checkers know: the stubs are made anew, and tried on calls and programs."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typed_calls

import dtensor

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"


def run(*command: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)


def test_stubs_are_what_is_made_of_the_signatures():
    done = run("tests/stubs.py", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What mypy says of a program of all calls of samples, and of two programs."""
    folder = tmp_path_factory.mktemp("stubs")
    calls = typed_calls.calls_of_samples()
    assert len(calls) > 1000
    program = folder / "calls.py"
    program.write_text(typed_calls.program(calls))
    names = [program, DATA / "typed_user.py", DATA / "typed_mistakes.py"]
    said = run("-m", "mypy", "--config-file", "pyproject.toml", *names).stdout
    return calls, said


def errors(said: str, name: str) -> dict[int, str]:
    """The errors of a file, by line."""
    found = re.findall(rf"{name}:(\d+): error: (.*)", said)
    return {int(number): text for number, text in found}


def test_calls_of_samples_have_the_types_of_their_results(told):
    calls, said = told
    assert errors(said, "calls.py") == {}
    revealed = re.findall(r'calls\.py:\d+: note: Revealed type is "(.*)"', said)
    pairs = zip(calls, revealed, strict=True)
    wrong = [(*c, r) for c, r in pairs if not typed_calls.fits(r, c.result)]
    assert wrong == []


def test_a_program_of_both_dialects_is_accepted_and_runs(told):
    assert errors(told[1], "typed_user.py") == {}
    done = run("tests/data/typed_user.py")
    assert done.returncode == 0, done.stderr


def test_each_mistake_is_refused(told):
    lines = (DATA / "typed_mistakes.py").read_text().splitlines()
    first = next(k for k, line in enumerate(lines, 1) if line.startswith("def "))
    wanted = {k for k, line in enumerate(lines, 1) if k > first and line.strip()}
    assert len(wanted) > 60
    left = wanted - errors(told[1], "typed_mistakes.py").keys()
    assert {lines[k - 1].strip() for k in left} == set()


def test_public_names_alone_are_exported_and_listed():
    private = {"FUNCTIONS", "METHODS", "fallback", "getitem", "setitem", "ufunc_method"}
    assert len(dtensor.__all__) == len({*dtensor.__all__})
    assert not private & {*dtensor.__all__, *dir(dtensor)}
    assert {*dtensor.__all__} <= {*dir(dtensor)}
    assert {"softmax", "array_api", "matmul"} <= {*dtensor.__all__}
    own = [name for name in dir(dtensor) if name[0] == "_"]
    assert all(name[:2] == name[-2:] == "__" for name in own)


def test_signatures_are_those_of_users():
    shown = str(inspect.signature(dtensor.softmax))
    assert shown.startswith("(x: array_like, axis: int = -1") and "Rule" not in shown
    added = inspect.signature(dtensor.add)
    assert [*added.parameters][:3] == ["x1", "x2", "out"]
    assert str(added).endswith("-> dtensor.DTensor")
    with pytest.raises(ValueError):
        inspect.signature(type(dtensor.softmax))
