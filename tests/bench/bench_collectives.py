# ranks: 8 16
"""What small collectives cost beside MPI's own, with more ranks than processors.

Each move is timed in turn with the call of MPI that does the same: Allreduce,
Allgather, Alltoall. Then the messages of a rank are counted for more ranks, by their
plans, and moves of as many ranks that are threads, which read, are timed. The arrays
that are moved are results of an operator, as in programs; with ``--users`` they are
NumPy arrays handed to ``from_local``, which other processes cannot read in place.
"""

import argparse
import math
import statistics
import time
from typing import Any, NamedTuple

import numpy as np
from kept import keep
from mpi4py import MPI
from timing import Entry, mean, medians, size_text, time_text

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    init_device_mesh,
)
from dtensor._core import world as _world
from dtensor.debug import explain
from dtensor.testing import run_ranks

Array = np.ndarray[Any, np.dtype[np.float32]]

COMM = MPI.COMM_WORLD
ITEM = 4  # bytes of an element
SIZES = [16, 4096]  # bytes that a rank has before
REPEATS = 15
MORE_RANKS = (32, 64, 128)
LEAST_RANKS = 8  # of a job that counts those

MOVES: list[tuple[str, Placement, Placement]] = [
    ("P -> R", Partial(), Replicate()),
    ("S0 -> R", Shard(0), Replicate()),
    ("S0 -> S1", Shard(0), Shard(1)),
]


class Row(NamedTuple):
    """The ratios of one cell: with checks, and without."""

    checked: float
    plain: float


def say(text: str) -> None:
    """Print on one rank."""
    if COMM.rank == 0:
        print(text, flush=True)


def set_check(value: bool) -> None:
    """Compare calls, or not."""
    _world.current().check = value


def local_shape(from_: Placement, to: Placement, size: int, ranks: int) -> list[int]:
    """The shape of a rank's part: at least an element for each pair that has any."""
    if isinstance(to, Shard):
        return [1, max(1, size // ITEM // ranks) * ranks]
    return [1, size // ITEM]


def rival(move: str, local: Array) -> Entry:
    """What MPI does instead."""
    if move == "P -> R":
        out = np.empty_like(local)
        return Entry("mpi", lambda: COMM.Allreduce(local, out))
    if move == "S0 -> R":
        all_ = np.empty((COMM.size, *local.shape), local.dtype)
        return Entry("mpi", lambda: COMM.Allgather(local, all_))
    parts = np.empty_like(local)
    return Entry("mpi", lambda: COMM.Alltoall(local, parts))


def measure(move: str, from_: Placement, to: Placement, size: int, users: bool) -> Row:
    """Time one move of one size, and print it."""
    mesh = init_device_mesh("cpu", (COMM.size,))
    local = np.full(local_shape(from_, to, size, COMM.size), COMM.rank, np.float32)
    x = DTensor.from_local(local, mesh, [from_])
    if not users:
        x = x * np.float32(1)
    plan = explain(x, [to])
    seconds = medians(
        COMM,
        [
            Entry(
                "plain",
                lambda: x.redistribute(placements=[to]),
                lambda: set_check(False),
            ),
            Entry(
                "checked",
                lambda: x.redistribute(placements=[to]),
                lambda: set_check(True),
            ),
            rival(move, local),
        ],
        REPEATS,
    )
    set_check(True)
    row = Row(seconds["checked"] / seconds["mpi"], seconds["plain"] / seconds["mpi"])
    name = f"{move}, {size_text(local.nbytes)}"
    keep(name, seconds["checked"], "s", "MPI", row.checked)
    keep(f"{name}, no checks", seconds["plain"], "s", "MPI", row.plain)
    say(
        f"{move:<10}{size_text(local.nbytes):>8}{time_text(seconds['checked']):>9}"
        f"{row.checked:>7.2f}{time_text(seconds['plain']):>9}{row.plain:>7.2f}"
        f"{time_text(seconds['mpi']):>9}{plan.messages:>6}  {plan.steps[0].way}"
    )
    return row


def thread_seconds(from_: Placement, to: Placement, shape: list[int], n: int) -> float:
    """The time of one move of `n` ranks that are threads."""

    def program() -> float:
        mesh = init_device_mesh("cpu", (n,))
        x = DTensor.from_local(np.ones(shape, np.float32), mesh, [from_])
        spans = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            x.redistribute(placements=[to])
            spans.append(time.perf_counter() - start)
        return statistics.median(spans)

    return max(run_ranks(n, program))


def count(move: str, from_: Placement, to: Placement, size: int, n: int) -> None:
    """Print the messages of a rank of many, and the time of threads."""
    shape = local_shape(from_, to, size, n)
    whole = [shape[0] * n, shape[1]] if isinstance(from_, Shard) else shape
    mesh = DeviceMesh.abstract((n,))
    plan = explain(Layout(mesh, [from_], whole, np.float32), [to])
    say(
        f"{n:>5}  {move:<10}{size_text(math.prod(shape) * ITEM):>8}"
        f"{math.ceil(math.log2(n)):>10}{plan.messages:>6}"
        f"{size_text(plan.bytes_sent):>11}  {plan.steps[0].way:<10}"
        f"{time_text(thread_seconds(from_, to, shape, n)):>9}"
    )


def main() -> None:
    """Time all moves, then count those of more ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", action="store_true", help="arrays of the user's")
    users = parser.parse_args().users
    arrays = "the user's" if users else "the library's"
    say(
        f"{COMM.size} ranks, float32, arrays of {arrays}, bytes of a rank;\n"
        f"ratio: time / MPI's own. Medians of {REPEATS}.\n\n"
        f"{'move':<10}{'size':>8}{'checks':>9}{'ratio':>7}{'none':>9}"
        f"{'ratio':>7}{'MPI':>9}{'sent':>6}  by"
    )
    rows = [measure(*move, size, users) for move in MOVES for size in SIZES]
    say(
        f"mean: {mean(row.checked for row in rows):.2f} with checks, "
        f"{mean(row.plain for row in rows):.2f} without\n"
    )
    if COMM.rank > 0 or COMM.size > LEAST_RANKS:
        return
    say(
        "Messages of a rank: of an agreement, of a move, and its bytes; and the time "
        f"of threads.\n\n{'ranks':>5}  {'move':<10}{'size':>8}{'agreement':>10}"
        f"{'move':>6}{'bytes':>11}  {'by':<10}{'threads':>9}"
    )
    for n in MORE_RANKS:
        for move in MOVES:
            for size in SIZES:
                count(*move, size, n)


main()
