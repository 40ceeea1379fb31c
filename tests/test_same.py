"""The same program has the same values and layouts in every run."""

import functools
import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import PATIENCE, run
from slow import slow

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
# As plans see four, two and one nodes; in test_nodes.py messages see them, too.
NODES = [
    ([*THREADS, "node_ranks=1"], {}),
    ([*PROCESSES, "node_ranks=2"], {}),
    ([*THREADS, "node_ranks=4"], {}),
]
QUICK, REST = [*STARTS[1:3], NODES[1]], [STARTS[3], NODES[0], NODES[2]]


def crc(command, environment, patience=PATIENCE):
    """What a run prints."""
    code, output, _ = run(command, patience, **BLAS, **environment)
    assert code == 0 and output.startswith("CRC "), output
    return output.strip()


@functools.cache
def usual():
    """What threads print."""
    return crc(*STARTS[0])


@pytest.mark.parametrize("start", QUICK + [slow(s) for s in REST])
def test_all_starts_have_the_same_values_and_layouts(start):
    """By messages and without, in processes and in threads, on one node or more."""
    assert crc(*start) == usual()


@pytest.mark.validate
def test_fifty_starts_under_changing_load_have_the_same_values_and_layouts():
    found = set()
    for number, start in zip(range(50), itertools.cycle(STARTS)):
        busy = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(number % 4)
        ]
        try:
            found.add(crc(*start, patience=4 * PATIENCE))
        finally:
            for process in busy:
                process.kill()
                process.wait()
    assert len(found) == 1
