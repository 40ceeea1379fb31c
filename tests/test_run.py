"""./run: what it says where it is asked for something wrong, before any set-up."""

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
