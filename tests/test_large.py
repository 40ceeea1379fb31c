"""Gigabytes: memory stays within its bound, and counts and places pass 2^31."""

import functools
import gc
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from meshes import line

from dtensor import _C, DTensor, Layout, Shard, distribute_tensor

pytestmark = [pytest.mark.mpi, pytest.mark.validate]

MIB = 1 << 20
GIB = 1 << 30
SLACK = 64 * MIB


@pytest.fixture(autouse=True)
def patience(world: _C.World) -> Iterator[None]:
    """Ranks wait while one of them fills gigabytes."""
    before = world.timeout
    world.timeout = 600
    yield
    world.timeout = before


def memory(line: str) -> int:
    """Bytes of memory of this process: now (VmRSS), or at most so far (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"^{line}:\s+(\d+) kB", status, re.MULTILINE)
    assert match is not None
    return int(match[1]) * 1024


def forget_peak() -> None:
    """Let VmHWM start again from what is in use."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


@pytest.mark.parametrize("source", ["first", "last"])
@pytest.mark.parametrize("dim", [0, 1])
def test_ranks_that_pass_none_need_memory_for_their_shard_only(world, dim, source):
    root = 0 if source == "first" else world.size - 1
    side = 1 << 14
    array = None
    if world.rank == root:
        array = np.arange(side * side, dtype=np.float32).reshape(side, side)
        assert array.nbytes == GIB
    forget_peak()
    before = memory("VmRSS")
    x = distribute_tensor(array, line(), [Shard(dim)], src_data_rank=root)
    grown = memory("VmHWM") - before
    shard = np.asarray(x.to_local())
    assert grown <= shard.nbytes + SLACK, f"{grown >> 20} MiB for {shard.nbytes >> 20}"
    start = x._spec.boxes(world.rank)[0][0]
    for row in range(0, shard.shape[0], 1000):
        first = (start[0] + row) * side + start[1]
        assert shard[row, 0] == np.float32(first)
        assert shard[row, -1] == np.float32(first + shard.shape[1] - 1)


# --- more than 2^31 elements ----------------------------------------------------------

ROWS = 1 << 10
HALF = 2**31 + 2**20  # elements that move, and the place where they begin
BLOCK = 251 << 16


@functools.cache
def block() -> np.ndarray:
    return np.resize(np.arange(251).astype(np.int8), BLOCK)


def values(start: int, stop: int) -> Iterator[tuple[slice, np.ndarray]]:
    """What belongs into the places from start to stop, some megabytes at a time."""
    for k in range(start // BLOCK, -(-stop // BLOCK)):
        low, high = max(start, k * BLOCK), min(stop, (k + 1) * BLOCK)
        part = block()[low - k * BLOCK : high - k * BLOCK] + np.int8(k % 127)
        yield slice(low - start, high - start), part


def is_exact(row: np.ndarray, start: int) -> bool:
    return all(
        np.array_equal(row[where], expected)
        for where, expected in values(start, start + row.size)
    )


@pytest.mark.parametrize("rows", [1, ROWS], ids=["in one run", "in rows"])
def test_messages_and_places_beyond_31_bits_are_exact(world, rows):
    mesh, last = line(), world.size - 1
    half, width = HALF // rows, 2 * HALF // rows
    part = np.empty((rows, width if world.rank == 0 else 0), np.int8)
    for row in range(rows if world.rank == 0 else 0):
        for where, expected in values(row * width, (row + 1) * width):
            part[row, where] = expected

    x = DTensor.from_local(part, mesh, [Shard(1)], shape=(rows, width))
    cuts = {1: [0] + [half] * last + [width]}
    apart = Layout(mesh, [Shard(1)], (rows, width), np.int8, cuts=cuts)
    together = x._spec
    del part
    x = x.redistribute(placements=apart)
    mine = np.asarray(x.to_local())
    start = 0 if world.rank == 0 else half
    assert mine.shape == (rows, np.diff(cuts[1])[world.rank])
    assert all(is_exact(mine[row], row * width + start) for row in range(rows))

    del mine
    x = x.redistribute(placements=together)
    mine = np.asarray(x.to_local())
    assert mine.shape == (rows, width if world.rank == 0 else 0)
    assert all(is_exact(mine[row], row * width) for row in range(rows))
