# ranks: 2 4
"""What redistribute costs beside the best that raw MPI can do, and beside a memcpy.

Every move is timed in turn with the two fastest of its raw rivals: mpi4py's calls on
preallocated buffers, with the right datatypes made beforehand. The arrays that are
moved are results of an operator, as in programs; with ``--users`` they are NumPy arrays
handed to ``from_local``, which other processes cannot read in place. ``--quick`` takes
three sizes; ``--moves`` only those moves whose names begin so. Ranks that the launcher
has not bound are each bound to one processor.
"""

import argparse
import os
from typing import Any, NamedTuple

import numpy as np
from kept import keep
from mpi4py import MPI
from timing import Entry, best, mean, medians, size_text, time_text

from dtensor import DTensor, Partial, Placement, Replicate, Shard, init_device_mesh
from dtensor._core import world as _world

Array = np.ndarray[Any, np.dtype[np.float32]]
Box = tuple[slice, slice]

COMM = MPI.COMM_WORLD
ITEM = 4  # bytes of an element
SIZES = [1 << power for power in range(16, 29, 2)]
QUICK = [1 << power for power in (16, 20, 24)]
REPEATS = 15
CELL_SECONDS = 12.0  # beyond it a cell gets fewer repeats
LEAST_REPEATS = 5
TORCH_BYTES = 1 << 24

R, P = Replicate(), Partial()
MOVES: dict[str, list[tuple[Placement, Placement]]] = {
    "all_gather": [(Shard(0), R), (Shard(1), R)],
    "all_to_all": [(Shard(0), Shard(1)), (Shard(1), Shard(0))],
    "slice": [(R, Shard(0)), (R, Shard(1))],
    "reduce_scatter": [(P, Shard(0)), (P, Shard(1))],
    "all_reduce": [(P, R)],
}
SUMS = ("reduce_scatter", "all_reduce")
AIMS = {"reduce_scatter": 0.4, "all_reduce": 0.65}


class Row(NamedTuple):
    """The times of one cell."""

    move: str
    where: str
    size: int
    ours: float
    raw: float
    rival: str
    bound: float
    checked: float
    repeats: int


# --- raw MPI --------------------------------------------------------------------------


def block(array: Array, dim: int, rank: int) -> Box:
    """The box of `array` that a rank has when it is sharded on `dim`."""
    step = array.shape[dim] // COMM.size
    cut = slice(rank * step, (rank + 1) * step)
    return (cut, slice(None)) if dim == 0 else (slice(None), cut)


def datatype(array: Array, box: Box) -> tuple[int, int, MPI.Datatype]:
    """Displacement in bytes, count and type of a box: a run where it is one."""
    part = array[box]
    if part.flags.c_contiguous:
        start = part.__array_interface__["data"][0]
        first = array.__array_interface__["data"][0]
        return start - first, part.size, MPI.FLOAT
    starts = [cut.indices(n)[0] for cut, n in zip(box, array.shape, strict=True)]
    kind = MPI.FLOAT.Create_subarray(array.shape, part.shape, starts)
    return 0, 1, kind.Commit()


def boxed(array: Array, boxes: list[Box]) -> list[Any]:
    """All boxes as Alltoallw wants them."""
    places, counts, kinds = zip(*(datatype(array, b) for b in boxes), strict=True)
    return [array, counts, places, kinds]


def by_types(src: Array, sends: list[Box], dst: Array, receives: list[Box]) -> Entry:
    """One Alltoallw of subarrays."""
    out, back = boxed(src, sends), boxed(dst, receives)
    return Entry("Alltoallw", lambda: COMM.Alltoallw(out, back))


def by_messages(src: Array, sends: list[Box], dst: Array, receives: list[Box]) -> Entry:
    """A message per pair of ranks, and a copy of what stays."""
    flat_src, flat_dst = src.reshape(-1), dst.reshape(-1)
    peers = [(COMM.rank + k) % COMM.size for k in range(1, COMM.size)]
    out, back = [], []
    for peer in peers:
        place, count, kind = datatype(src, sends[peer])
        out.append([flat_src[place // ITEM :], count, kind])
        place, count, kind = datatype(dst, receives[peer])
        back.append([flat_dst[place // ITEM :], count, kind])
    mine, here = dst[receives[COMM.rank]], src[sends[COMM.rank]]

    def call() -> None:
        requests = [COMM.Irecv(m, p) for m, p in zip(back, peers, strict=True)]
        requests += [COMM.Isend(m, p) for m, p in zip(out, peers, strict=True)]
        np.copyto(mine, here)
        MPI.Request.Waitall(requests)

    return Entry("Isend/Irecv", call)


def by_packing(src: Array, sends: list[Box], dst: Array, receives: list[Box]) -> Entry:
    """Alltoall of blocks that are copied together before, or apart after it."""
    packed: Any = np.zeros((COMM.size, *src[sends[0]].shape), np.float32)
    landed: Any = np.zeros((COMM.size, *dst[receives[0]].shape), np.float32)
    pack = not src[sends[0]].flags.c_contiguous
    unpack = not dst[receives[0]].flags.c_contiguous

    def call() -> None:
        for rank in range(COMM.size if pack else 0):
            np.copyto(packed[rank], src[sends[rank]])
        COMM.Alltoall(packed if pack else src, landed if unpack else dst)
        for rank in range(COMM.size if unpack else 0):
            np.copyto(dst[receives[rank]], landed[rank])

    return Entry("copy + Alltoall", call)


def gathers(src: Array, dst: Array, dim: int) -> list[Entry]:
    """From Shard(dim) to Replicate."""
    ranks = range(COMM.size)
    whole, boxes = (slice(None), slice(None)), [block(dst, dim, rank) for rank in ranks]
    rivals = [
        by_types(src, [whole] * COMM.size, dst, boxes),
        by_messages(src, [whole] * COMM.size, dst, boxes),
    ]
    if dim == 0:
        parts = [dst, [src.size] * COMM.size, [k * src.size for k in ranks], MPI.FLOAT]
        return [
            *rivals,
            Entry("Allgather", lambda: COMM.Allgather(src, dst)),
            Entry("Allgatherv", lambda: COMM.Allgatherv(src, parts)),
        ]
    rows, columns = src.shape
    column = MPI.FLOAT.Create_vector(rows, columns, dst.shape[1])
    column = column.Create_resized(0, columns * ITEM).Commit()
    landed: Any = np.zeros((COMM.size, *src.shape), np.float32)

    def gather_and_copy() -> None:
        COMM.Allgather(src, landed)
        np.copyto(dst.reshape(rows, COMM.size, columns), landed.transpose(1, 0, 2))

    return [
        *rivals,
        Entry("Allgather, vector", lambda: COMM.Allgather(src, [dst, 1, column])),
        Entry("Allgather + copy", gather_and_copy),
    ]


def exchanges(src: Array, dst: Array, from_: int, to: int) -> list[Entry]:
    """From one Shard to another."""
    sends = [block(src, to, rank) for rank in range(COMM.size)]
    receives = [block(dst, from_, rank) for rank in range(COMM.size)]
    return [f(src, sends, dst, receives) for f in (by_types, by_messages, by_packing)]


def slices(src: Array, dst: Array, dim: int) -> list[Entry]:
    """From Replicate to Shard(dim): no MPI, NumPy's copy."""
    part = src[block(src, dim, COMM.rank)]
    return [Entry("numpy.copyto", lambda: np.copyto(dst, part))]


def scattered_sums(src: Array, dst: Array, dim: int) -> list[Entry]:
    """From Partial to Shard(dim)."""
    boxes = [block(src, dim, rank) for rank in range(COMM.size)]
    packed: Any = np.zeros((COMM.size, *dst.shape), np.float32)
    counts = [dst.size] * COMM.size
    whole: Any = np.zeros_like(src)

    def pack() -> Any:
        for rank in range(COMM.size if dim else 0):
            np.copyto(packed[rank], src[boxes[rank]])
        return packed if dim else src

    def sum_and_cut() -> None:
        COMM.Allreduce(src, whole)
        np.copyto(dst, whole[boxes[COMM.rank]])

    return [
        Entry("Reduce_scatter_block", lambda: COMM.Reduce_scatter_block(pack(), dst)),
        Entry("Reduce_scatter", lambda: COMM.Reduce_scatter(pack(), dst, counts)),
        Entry("Allreduce + copy", sum_and_cut),
    ]


def sums(src: Array, dst: Array) -> list[Entry]:
    """From Partial to Replicate."""

    def in_place() -> None:
        np.copyto(dst, src)
        COMM.Allreduce(MPI.IN_PLACE, dst)

    return [
        Entry("Allreduce", lambda: COMM.Allreduce(src, dst)),
        Entry("Allreduce, in place", in_place),
    ]


def rivals_of(src: Array, dst: Array, from_: Placement, to: Placement) -> list[Entry]:
    """All that raw MPI offers for a move."""
    if isinstance(from_, Shard) and isinstance(to, Shard):
        return exchanges(src, dst, from_.dim, to.dim)
    if isinstance(from_, Shard):
        return gathers(src, dst, from_.dim)
    if isinstance(from_, Partial):
        return (
            scattered_sums(src, dst, to.dim)
            if isinstance(to, Shard)
            else sums(src, dst)
        )
    assert isinstance(to, Shard)
    return slices(src, dst, to.dim)


# --- cells ----------------------------------------------------------------------------


def set_check(value: bool) -> None:
    """What DTENSOR_CHECK sets."""
    _world.current().check = value


def bind() -> str:
    """Binds this rank to one processor, unless the launcher has; says which it was."""
    allowed = sorted(os.sched_getaffinity(0))
    unbound = COMM.allreduce(len(allowed) > 1, MPI.LAND)
    if unbound:
        os.sched_setaffinity(0, {allowed[COMM.rank % len(allowed)]})
    return "bound to one processor each" if unbound else "as the launcher bound them"


def source(side: int, placement: Placement, users: bool) -> DTensor:
    """A tensor of small whole numbers, whose sums are exact."""
    mesh = init_device_mesh("cpu", (COMM.size,))
    shape = [side, side]
    if isinstance(placement, Shard):
        shape[placement.dim] //= COMM.size
    count = shape[0] * shape[1]
    values = np.arange(count, dtype=np.float32).reshape(shape)
    np.mod(values + 7 * COMM.rank, 1013, out=values)
    x = DTensor.from_local(values, mesh, [placement], shape=(side, side))
    return x if users else x * np.float32(1)


def check_rivals(x: DTensor, to: Placement, rivals: list[Entry], dst: Array) -> None:
    """A rival that does something else is no rival."""
    mine = np.asarray(x.redistribute(placements=[to]).to_local())
    for rival in rivals:
        dst[...] = -1
        rival.call()
        assert np.array_equal(dst, mine), f"{rival.name} does not do this move"


def memcpy(size: int) -> Entry:
    """A copy of as many elements as the result has, by all ranks at once."""
    to, from_ = np.zeros(size, np.float32), np.ones(size, np.float32)
    return Entry("memcpy", lambda: np.copyto(to, from_))


def repeats_for(seconds: float) -> int:
    return max(LEAST_REPEATS, min(REPEATS, int(CELL_SECONDS / seconds)))


def measure(move: str, from_: Placement, to: Placement, size: int, users: bool) -> Row:
    side = round((size / ITEM) ** 0.5 / COMM.size) * COMM.size
    x = source(side, from_, users)
    src: Any = np.asarray(x.to_local())
    dst: Any = np.zeros(x.redistribute(placements=[to]).to_local().shape, np.float32)
    rivals = rivals_of(src, dst, from_, to)
    check_rivals(x, to, rivals, dst)
    rivals = best(COMM, rivals, 2)
    target = [to]

    def ours() -> None:
        x.redistribute(placements=target)

    entries = [
        Entry("ours", ours, lambda: set_check(False)),
        *rivals,
        Entry("checked", ours, lambda: set_check(True)),
        memcpy(dst.size),
    ]
    trial = medians(COMM, entries, 1)
    repeats = repeats_for(sum(trial.values()))
    seconds = medians(COMM, entries, repeats)
    rival = min(rivals, key=lambda entry: seconds[entry.name]).name
    where = f"{from_} -> {to}".replace("dim=", "")
    return Row(
        move,
        where,
        side * side * ITEM,
        seconds["ours"],
        seconds[rival],
        rival,
        seconds["memcpy"],
        seconds["checked"],
        repeats,
    )


# --- the table ------------------------------------------------------------------------


def say(*words: object) -> None:
    if COMM.rank == 0:
        print(*words, flush=True)


def show(row: Row) -> None:
    name = f"{row.where}, {size_text(row.size)}"
    keep(name, row.ours, "s", "raw MPI", row.ours / row.raw)
    keep(name, row.ours, "s", "memcpy", row.ours / row.bound)
    say(
        f"{row.move:<15}{row.where:<21}{size_text(row.size):>8}"
        f"{time_text(row.ours):>9}{row.ours / row.raw:>7.2f}"
        f"{time_text(row.raw):>9} {row.rival:<21}{row.ours / row.bound:>7.2f}"
        f"{(row.checked - row.ours) * 1e6:>+9.1f}"
        + (f"  {row.repeats} repeats" if row.repeats < REPEATS else "")
    )


def summary(rows: list[Row]) -> None:
    """Geometric means and the worst cells."""
    groups = {"movers": [r for r in rows if r.move not in SUMS]}
    for move in SUMS:
        groups[f"{move} from 1 MiB"] = [
            r for r in rows if r.move == move and r.size >= 1 << 20
        ]
    for size in sorted({r.size for r in rows}):
        groups[f"all moves, {size_text(size)}"] = [
            r for r in rows if r.size == size and r.move != "slice"
        ]
    say()
    for name, cells in groups.items():
        if not cells:
            continue
        worst = max(cells, key=lambda row: row.ours / row.raw)
        say(
            f"{name + ':':<26} time / raw MPI {mean(r.ours / r.raw for r in cells):.2f}"
            f" (geometric mean of {len(cells)}), at most {worst.ours / worst.raw:.2f}"
            f" ({worst.where}, {size_text(worst.size)});"
            f" / memcpy {mean(r.ours / r.bound for r in cells):.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="64 KiB, 1 and 16 MiB")
    parser.add_argument("--moves", default="", help="only moves whose names begin so")
    parser.add_argument("--users", action="store_true", help="arrays of the user's")
    options = parser.parse_args()
    arrays = "the user's" if options.users else "the library's"
    say(
        f"{COMM.size} ranks, {bind()}, float32, arrays of {arrays};\n"
        "ratio: time / best raw MPI; bound: time / memcpy of the result;\n"
        f"check: what DTENSOR_CHECK=1 adds, us. Medians of {REPEATS}.\n"
    )
    say(
        f"{'move':<15}{'':<21}{'size':>8}{'time':>9}{'ratio':>7}{'raw':>9} {'by':<21}"
        f"{'bound':>7}{'check':>9}"
    )
    rows = []
    for move, kinds in MOVES.items():
        if not move.startswith(options.moves):
            continue
        for from_, to in kinds:
            for size in QUICK if options.quick else SIZES:
                rows.append(measure(move, from_, to, size, options.users))
                show(rows[-1])
    summary(rows)


main()
