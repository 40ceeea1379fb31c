"""Arrays that are larger than what a rank may have go through functions in parts."""

import sys
from pathlib import Path

import pytest
from jobs import run

SCRIPT = str(Path(__file__).with_name("limited.py"))


def play(ranks: int, mebibytes: int, parts: int, names: list[str], patience: int):
    """Call functions on ranks of which each may have so many parts.

    The limit is the system's, on data: so no memory is shared, and none is kept.
    """
    command = ["mpiexec", "-n", str(ranks), sys.executable, SCRIPT]
    code, output, _ = run(
        [*command, str(mebibytes), str(parts), *names],
        patience,
        DTENSOR_ARENA="0",
        DTENSOR_POOL_BYTES="0",
        OPENBLAS_NUM_THREADS="1",
    )
    assert code == 0, output
    assert f"{len(names)} functions had enough" in output, output


def test_four_ranks_with_the_memory_of_four_parts_need_not_gather():
    play(4, 8, 4, ["median", "svd"], 40)


@pytest.mark.validate
@pytest.mark.parametrize("names", ["fftn fft sort median svd", "solve", "matmul"])
def test_sixteen_ranks_with_the_memory_of_twelve_parts_have_enough(names):
    play(16, 8, 12, names.split(), 1200)
