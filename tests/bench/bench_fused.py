# ranks: 1 2
"""What chains of elementwise functions take beside NumPy: at once, and fused.

Each rank has COUNT float64 elements; the chains of several ranks run at the same time,
as NumPy's do.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from kept import LOAD, keep
from mpi4py import MPI
from timing import Entry, medians

import dtensor
from dtensor import _C, Replicate, Shard, distribute_tensor, init_device_mesh

ROWS, COLUMNS = 10_000, 1000
COUNT = ROWS * COLUMNS
AT_ONCE, FUSED = 0.9, 0.5  # the aims, of NumPy's time: of the chain of five
REPEATS = 7


class Chain(NamedTuple):
    """A function of an array, a row and a column, and how many calls it makes."""

    function: Callable[[Any, Any, Any], Any]
    calls: int


CHAINS = {
    "((2x + 1) x - 3) / 2": Chain(
        lambda x, row, column: ((x * 2 + 1) * x - 3) * 0.5, 5
    ),
    "(x - column) row + row": Chain(lambda x, row, column: (x - column) * row + row, 3),
    "gelu by hand": Chain(
        lambda x, row, column: (
            x * 0.5 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))
        ),
        9,
    ),
    "mean((x - row)**2)": Chain(lambda x, row, column: np.mean((x - row) ** 2), 3),
    "exp(-x x / 2)": Chain(lambda x, row, column: np.exp(-(x * x) * 0.5), 4),
}


def step(function: Callable[..., Any], *given: Any) -> Any:
    """Forward and backward."""
    x = given[0].detach().requires_grad_()
    np.sum(function(x, *given[1:])).backward()
    return x.grad


def measure(comm: MPI.Intracomm, threads: int) -> list[str]:
    """The lines of a table for a number of threads."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS * comm.size, COLUMNS))
    row, column = rng.standard_normal(COLUMNS), rng.standard_normal((len(x), 1))
    mesh = init_device_mesh("cpu", (comm.size,))
    given = [
        distribute_tensor(array, mesh, [placement])
        for array, placement in ((x, Shard(0)), (row, Replicate()), (column, Shard(0)))
    ]
    mine = slice(ROWS * comm.rank, ROWS * (comm.rank + 1))
    own = x[mine].copy(), row, column[mine].copy()
    dtensor.set_num_threads(threads)
    lines = []
    for name, chain in CHAINS.items():
        function = chain.function
        fused = dtensor.fuse(function)
        entries = [
            Entry("NumPy", lambda f=function: f(*own)),
            Entry("at once", lambda f=function: f(*given)),
            Entry("fused", lambda f=fused: f(*given)),
        ]
        before = _C.fused_counts()
        fused(*given)
        steps = _C.fused_counts()[1] - before[1]
        assert steps == chain.calls, (name, steps)
        seconds = medians(comm, entries, REPEATS)
        back = medians(
            comm,
            [
                Entry("at once", lambda f=function: step(f, *given)),
                Entry("fused", dtensor.fuse(lambda f=function: step(f, *given))),
            ],
            REPEATS,
        )
        numpys = seconds["NumPy"]
        ratios = [seconds[side] / numpys for side in ("at once", "fused")]
        for side in ("at once", "fused"):
            title = f"{name}, {side}, {threads} threads"
            keep(title, seconds[side], "s", "NumPy", seconds[side] / numpys)
        lines.append(
            f"{name:24}{numpys * 1e3:9.1f} ms{ratios[0]:9.2f}x{ratios[1]:9.2f}x"
            f"{back['fused'] / back['at once']:12.2f}x"
        )
    return lines


def main() -> None:
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        print(f"load {LOAD:.2f}; {COUNT} float64 elements on each of {comm.size} ranks")
        print(f"aims of the first chain: {AT_ONCE} at once, {FUSED} fused")
    for threads in (1, 2):
        lines = measure(comm, threads)
        if comm.rank == 0:
            print(f"\n{threads} threads of each rank")
            head = f"{'':24}{'NumPy':>12}{'at once':>10}{'fused':>10}"
            print(head + f"{'gradient, fused / at once':>28}")
            print(*lines, sep="\n")


if __name__ == "__main__":
    main()
