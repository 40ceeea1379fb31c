"""Scripts as users write them for PyTorch run here with their import lines changed.

What they print (losses, samples, metrics, names, errors) is what PyTorch prints: words
are equal, and numbers to 1e-5.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "data" / "scripts"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?|nan|inf")
IMPORTS = [
    (r"^import torch$", "import dtensor.torch as torch"),
    (r"^import torch\.(\S+) as", r"import dtensor.torch.\1 as"),
    (r"^from torch(\.\S+)? import", r"from dtensor.torch\1 import"),
]


def ported(text):
    for old, new in IMPORTS:
        text = re.sub(old, new, text, flags=re.M)
    return text


def printed(python, path):
    """The lines that a script prints."""
    command = [python, "-W", "ignore", path]
    told = dict(os.environ, OMP_NUM_THREADS="1")
    done = subprocess.run(command, capture_output=True, text=True, env=told)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


def words(line):
    """A line without numbers, and these; the name of a node is not compared."""
    line = re.sub(r"grad_fn=<\w+>", "", line)
    line = re.sub(r" +", " ", re.sub(r"-(?=0\.?0*(?![\d.]))", "", line))
    return NUMBER.sub("#", line).replace("[ #", "[#"), NUMBER.findall(line)


def near(x, y):
    """Whether numbers are equal to 1e-5, or to the last digit that is printed."""
    digits = len(x.partition(".")[2]) if "." in x and "e" not in x else 9
    unit = 10.0**-digits if digits > 3 else 0.0
    a, b = float(x), float(y)
    return x == y or abs(a - b) <= max(1e-5 * max(abs(a), abs(b)), 1e-6, 1.01 * unit)


@pytest.mark.parametrize("name", ["lm", "gat"])
def test_a_script_runs_with_its_import_lines_changed(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(ported((SCRIPTS / path.name).read_text()))
    assert len(printed(sys.executable, path)) >= 10


@pytest.mark.validate
@pytest.mark.parametrize("name", NAMES)
def test_a_script_prints_what_pytorch_prints(name, tmp_path, torch_python):
    path = tmp_path / f"{name}.py"
    path.write_text(ported((SCRIPTS / path.name).read_text()))
    want = printed(torch_python, SCRIPTS / path.name)
    got = printed(sys.executable, path)
    assert len(got) == len(want) >= 10
    for ours, theirs in zip(got, want, strict=True):
        (left, first), (right, second) = words(ours), words(theirs)
        assert left == right
        assert all(map(near, first, second)), (ours, theirs)
