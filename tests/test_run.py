"""./run: what it says where it is asked for something wrong, before any set-up."""

import os
import shutil
from pathlib import Path

import pytest
from jobs import run

RUN = str(Path(__file__).resolve().parents[1] / "run")


@pytest.mark.parametrize("count", ["x", "0", "-1", "1.5", "2x", ""])
def test_ranks_wants_a_number(count):
    code, output, _ = run([RUN, "ranks", count, "true"])
    assert code == 2
    assert output == f"run: ranks wants a number of ranks, not '{count}'\n"


@pytest.mark.parametrize("given", [[], ["4"]])
def test_ranks_wants_a_command(given):
    code, output, _ = run([RUN, "ranks", *given])
    assert (code, output) == (1, "run: usage: ./run ranks N COMMAND...\n")


def test_ranks_wants_an_interpreter_for_a_script(tmp_path):
    script = tmp_path / "x.py"
    script.write_text("print(1)")
    code, output, _ = run([RUN, "ranks", "4", str(script)])
    sentence = f"run: a script needs its interpreter: ./run ranks 4 python {script}\n"
    assert (code, output) == (1, sentence)


# In place of what sets up: each program does as if, and says what is asked of it.
PROGRAMS = {
    "python": 'echo "$(dirname "$0")"',
    "pip": "",
    "cmake": 'while [ "$1" != -B ]; do shift; done; touch "$2/build.ninja"',
    "ninja": "echo no work to do",
    "mpicc": 'case $1 in *version) echo "Open MPI 5" ;; *) echo /none ;; esac',
    "mpiexec": 'echo "mpiexec (Open MPI) 5"',
}


def programs(folder: Path, *names: str) -> str:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\n{PROGRAMS[name]}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_what_was_built_is_built_anew_with_a_reason(tmp_path):
    for name in ("run", "pyproject.toml"):
        shutil.copy(Path(RUN).with_name(name), tmp_path)
    programs(tmp_path / ".venv" / "bin", "python", "pip", "cmake", "ninja")
    (tmp_path / ".venv" / "place").write_text(f"{tmp_path}\n")
    one, two = (programs(tmp_path / name, "mpicc", "mpiexec") for name in "ab")

    def reasons(mpi):
        path = f"{mpi}:{os.environ['PATH']}"
        command = [str(tmp_path / "run"), "exec", "true"]
        code, output, _ = run(command, PATH=path, CC="")
        assert code == 0, output
        return [line for line in output.splitlines() if "anew" in line]

    assert reasons(one) == [], "there is nothing yet"
    assert reasons(one) == []
    changed = f"run: building anew: built with {one}/mpicc, now with {two}/mpicc"
    assert reasons(two) == [changed]
    assert reasons(two) == []
    (tmp_path / "build" / "build.ninja").unlink()
    assert reasons(two) == ["run: building anew: there is no build/build.ninja"]
    (tmp_path / "pyproject.toml").open("a").write("# changed\n")
    (reason,) = reasons(two)
    assert reason == "run: building anew: pyproject.toml or run has changed"
