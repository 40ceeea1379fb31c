# ranks: 1
"""What planning costs on 65,536 ranks, what plans send, and what one rank pays.

Planning is timed through ``_C._explain``: with a bound on memory that was never asked
for before a plan is made, with the same one again it is found. What is timed is thus a
little more than the planner.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from kept import keep
from mpi4py import MPI
from timing import alone, time_text

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
    from_callback,
    init_device_mesh,
    zeros,
)
from dtensor.debug import explain

R, P = Replicate(), Partial()
LARGE = (64, 32, 32)
SHAPE = (1 << 17, 1 << 17)
PLAN_SECONDS, PEER_SECONDS, FIND_SECONDS = 20e-6, 1e-6, 0.5e-6  # the aims
PAIRS: list[tuple[list[Placement], list[Placement]]] = [
    ([Shard(0), R, R], [R, R, R]),
    ([R, Shard(0), R], [R, Shard(1), R]),
    ([P, R, Shard(0)], [R, R, Shard(0)]),
    ([R, P, R], [R, Shard(1), R]),
    ([P, P, P], [R, R, R]),
    ([P, Shard(0), Shard(1)], [Shard(0), R, R]),
    ([Shard(0), Shard(1), P], [R, R, Shard(0)]),
    ([R, R, R], [Shard(0), Shard(1), Shard(0)]),
    ([Shard(0)] * 3, [Shard(1)] * 3),
    ([Shard(0), Shard(1), R], [Shard(1), Shard(0), R]),
    ([Shard(0), Shard(0), Shard(1)], [Shard(1), Shard(0), Shard(0)]),
    ([Shard(0), R, Shard(0)], [R, Shard(0), Shard(1)]),
    ([Shard(1), Shard(0), Shard(0)], [Shard(1), Shard(1), Shard(0)]),
]
BUDGET = itertools.count(1 << 50)  # bounds that no plan comes near


def planning(start: Layout, end: Layout) -> float:
    """Seconds to make a plan: beside those to find and tell it."""
    found = alone(lambda: _C._explain(start, end, 1, 1 << 49))
    made = alone(lambda: _C._explain(start, end, 1, next(BUDGET)))
    return made - found


def title(start: Sequence[Placement], end: Sequence[Placement]) -> str:
    text = f"{', '.join(map(str, start))} -> {', '.join(map(str, end))}"
    return text.replace("P(sum)", "P")


def plan_times() -> None:
    """How long plans take, by the kind of their steps."""
    mesh = DeviceMesh.abstract(LARGE)
    print(f"mesh {LARGE}, float32 {SHAPE}; aim: 20 us, or 1 us per peer of an exchange")
    print(f"{'':<36} {'plan':>9} {'/ aim':>7} {'peers':>6}  steps")
    for a, b in PAIRS:
        start, end = (
            Layout(mesh, a, SHAPE, "float32"),
            Layout(mesh, b, SHAPE, "float32"),
        )
        seconds = planning(start, end)
        plan = explain(start, end, rank=1)
        ops = [step.op for step in plan.steps]
        peers = max((step.messages for step in plan.steps), default=0)
        exchanged = peers if "exchange" in ops else 0
        aim = max(PLAN_SECONDS, exchanged * PEER_SECONDS)
        keep(f"plan {title(a, b)}", seconds, "s")
        print(
            f"{title(a, b):<36} {time_text(seconds):>9} {seconds / aim:>7.4f} "
            f"{peers:>6}  {', '.join(ops)}"
        )
    point = DeviceMesh.abstract((1,))
    start = Layout(point, [Shard(0)], (4, 4), "float32")
    end = Layout(point, [R], (4, 4), "float32")
    assert not explain(start, end).steps
    seconds = alone(lambda: _C._explain(start, end))
    keep("finding a plan", seconds, "s")
    print(
        f"a plan that is kept is found in {time_text(seconds)}, "
        f"{seconds / FIND_SECONDS:.2f} of the aim\n"
    )


# --- bytes ----------------------------------------------------------------------------


def spans(layout: Layout, rank: int) -> list[tuple[int, int]] | None:
    """Where the part of a rank begins and ends along each dimension."""
    boxes = layout.boxes(rank)
    if not boxes or 0 in boxes[0][1]:
        return None
    assert len(boxes) == 1
    offset, sizes = boxes[0]
    return [(o, o + s) for o, s in zip(offset, sizes, strict=True)]


def lacking(start: Layout, end: Layout, rank: int) -> int:
    """Bytes that a rank has at the end and not at the start: it must receive these."""
    mine, wanted = spans(start, rank), spans(end, rank)
    if wanted is None:
        return 0
    total = math.prod(b - a for a, b in wanted)
    both = 0
    if mine is not None:
        both = math.prod(
            max(0, min(b, d) - max(a, c))
            for (a, b), (c, d) in zip(mine, wanted, strict=True)
        )
    return (total - both) * np.dtype(end.dtype).itemsize


def pairs_of_layouts(rng: np.random.Generator) -> Iterator[tuple[Layout, Layout]]:
    """Pairs of layouts without Partial, on meshes of many shapes, dividing or not."""
    for grid in ((4,), (7,), (2, 3), (4, 4), (2, 2, 2), (8, 4, 4), LARGE):
        mesh = DeviceMesh.abstract(grid)
        choices = list(itertools.product((Shard(0), Shard(1), R), repeat=len(grid)))
        for _ in range(60):
            shape = tuple(rng.integers(1, 5000, 2).tolist())
            a, b = (choices[i] for i in rng.integers(0, len(choices), 2))
            yield Layout(mesh, a, shape, "int16"), Layout(mesh, b, shape, "int16")


def bytes_sent() -> None:
    """What plans send beside the least that can be sent."""
    rng = np.random.default_rng(0)
    sums = {True: np.zeros(3), False: np.zeros(3)}  # of plans in one step, in several
    for start, end in pairs_of_layouts(rng):
        size = start.mesh.size()
        ranks = range(size) if size <= 128 else rng.integers(0, size, 64).tolist()
        for rank in ranks:
            plan = explain(start, end, rank=rank)
            bound = lacking(start, end, rank)
            # Where blocks are routed they are received on the way, too.
            direct = [step.way for step in plan.steps] == ["messages"]
            assert not direct or plan.bytes_received == bound, f"{start} -> {end}"
            sums[direct] += (rank == ranks[0], plan.bytes_received, bound)
    for direct, (count, moved, least) in sums.items():
        steps = "one step" if direct else "several steps"
        keep(f"plans of {steps}", moved, "B", "least possible", moved / least)
        print(f"{count:.0f} plans of {steps}: bytes / lower bound {moved / least:.6f}")


# --- one rank -------------------------------------------------------------------------


def operate(mesh: DeviceMesh, array: np.ndarray) -> DTensor:
    """A little of everything."""
    x = distribute_tensor(array, mesh, [Shard(0)])
    x = x.redistribute(placements=[Shard(1)]).redistribute(placements=[R])
    assert np.array_equal(x.full_tensor(), array)
    p = DTensor.from_local(array, mesh, [P], run_check=True)
    p = p.redistribute(placements=[Shard(0)], async_op=True)
    assert np.array_equal(np.asarray(p.to_local()), array)
    from_callback(array.shape, mesh, [Shard(0)], lambda box: array[box])
    return zeros(3, 4, device_mesh=mesh, placements=[Shard(1)])


def alone_in_the_mesh() -> None:
    """Moves on a mesh of 1 rank, first timed, then without MPI: it has been ended."""
    mesh = init_device_mesh("cpu", (1,))
    array = np.arange(12.0).reshape(3, 4)
    x = distribute_tensor(array, mesh, [Shard(0)])
    to = [Shard(1)]
    seconds = alone(lambda: x.redistribute(placements=to))
    copy = alone(lambda: np.copy(array))
    keep("redistribute on 1 rank", seconds, "s", "numpy.copy", seconds / copy)
    print(
        f"a mesh of 1 rank: redistribute takes {time_text(seconds)}, "
        f"{seconds / copy:.2f} of numpy.copy"
    )
    MPI.Finalize()
    operate(mesh, array)
    print("a mesh of 1 rank: everything works after MPI.Finalize, so MPI is not called")


plan_times()
bytes_sent()
alone_in_the_mesh()
