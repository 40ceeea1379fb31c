"""The same program has the same values and layouts in every run."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import run

PROGRAM = str(Path(__file__).with_name("same_program.py"))
THREADS = [sys.executable, PROGRAM, "threads"]
PROCESSES = ["mpiexec", "-n", "4", sys.executable, PROGRAM]
BLAS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
STARTS = [
    (THREADS, {}),
    (PROCESSES, {"DTENSOR_WAY": "tree"}),
    (THREADS, {"DTENSOR_WAY": "messages"}),
    (PROCESSES, {}),
]


def crc(command, environment):
    """What a run prints."""
    code, output, _ = run(command, **BLAS, **environment)
    assert code == 0 and output.startswith("CRC "), output
    return output.strip()


def test_three_starts_have_the_same_values_and_layouts():
    """By messages and without, in processes and in threads."""
    assert len({crc(*start) for start in STARTS[:3]}) == 1


@pytest.mark.validate
def test_fifty_starts_under_changing_load_have_the_same_values_and_layouts():
    found = set()
    for number, start in zip(range(50), itertools.cycle(STARTS)):
        busy = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(number % 4)
        ]
        try:
            found.add(crc(*start))
        finally:
            for process in busy:
                process.kill()
                process.wait()
    assert len(found) == 1
