"""SciPy's own tests of other libraries' arrays, played with `dtensor.array_api`.

Their names have "array_api_strict" in them, whose place tests/suites takes.
"""

import os
import re
import sys
from pathlib import Path

import pytest
from jobs import run

HERE = Path(__file__).parent
LEAST = {  # tests that pass, at least: so that none is lost without notice
    "scipy._lib.tests.test_array_api": 1800,
    "scipy.cluster": 180,
    "scipy.fft": 1500,
    "scipy.integrate": 250,
    "scipy.linalg": 15,
    "scipy.special": 1500,
    "scipy.constants": 3,
}


@pytest.mark.validate
@pytest.mark.parametrize("suite", LEAST)
def test_scipys_own_tests_pass(suite):
    python = os.pathsep.join([str(HERE / "suites"), str(HERE.parent / "python")])
    command = [sys.executable, "-m", "pytest", "--pyargs", suite, "-q", "-n", "0"]
    code, output, _ = run(
        [
            *command,
            "-c",
            os.devnull,
            "-k",
            "array_api_strict",
            "-p",
            "no:cacheprovider",
        ],
        1800,
        PYTHONPATH=python,
        SCIPY_ARRAY_API="1",
    )
    assert code == 0, output[-3000:]
    passed = re.search(r"(\d+) passed", output)
    assert passed and int(passed[1]) >= LEAST[suite], output[-300:]
