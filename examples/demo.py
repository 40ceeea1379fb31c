"""A tour of dtensor: spread real data over the ranks, sum it, move it and check it.

The data are word counts of Python's own manual, which comes with every CPython: how
often each of the 2,999 most common words occurs in each topic. 2,999 is a prime number,
so no mesh divides it.

    ./run demo                                  on 4 ranks
    ./run ranks 6 python examples/demo.py       on any number of ranks
    ./run exec python examples/demo.py          on one

Rank 0 prints. The exit status is 0 if on every rank all parts agree with NumPy's
result, else 1.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pydoc_data.topics import topics

import numpy as np
from mpi4py import MPI

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.debug import explain

RANK, RANKS = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
WORDS = 2999
NAMES = sorted(topics)

# Where the blocks of a matrix go on a mesh of two dimensions.
LAYOUTS: dict[str, list[Placement]] = {
    "rows": [Shard(0), Shard(0)],
    "columns": [Shard(1), Shard(1)],
    "blocks": [Shard(0), Shard(1)],
    "blocks, mesh transposed": [Shard(1), Shard(0)],
    "replicated": [Replicate(), Replicate()],
    "rows, again": [Shard(0), Shard(0)],
}


def count_words() -> np.ndarray:
    """Return how often each word (row) occurs in each topic (column), as float64."""
    counts = [Counter(re.findall(r"\w+", topics[name].lower())) for name in NAMES]
    total = sum(counts, Counter())
    words = [word for word, _ in total.most_common(WORDS)]
    return np.array([[float(c[word]) for c in counts] for word in words])


def nearly_square() -> DeviceMesh:
    """Return a mesh of all ranks: 4 are (2, 2), 6 are (2, 3), 3 are (1, 3)."""
    rows = max(n for n in range(1, RANKS + 1) if RANKS % n == 0 and n * n <= RANKS)
    return init_device_mesh("cpu", (rows, RANKS // rows), mesh_dim_names=("i", "j"))


def say(text: str = "") -> None:
    """Print on rank 0."""
    if RANK == 0:
        print(text, flush=True)


def own_part(whole: np.ndarray, x: DTensor) -> np.ndarray:
    """Return this rank's part of `whole` in the layout of `x`."""
    ((offsets, sizes),) = x.layout.boxes()
    return whole[tuple(slice(o, o + n) for o, n in zip(offsets, sizes, strict=True))]


def all_sent(
    x: DTensor | Layout, placements: Sequence[Placement], mesh: DeviceMesh
) -> int:
    """Return the bytes that all ranks together send to move `x`."""
    return sum(explain(x, placements, mesh, rank=r).bytes_sent for r in range(RANKS))


class Log:
    """Prints a line for each step, and counts the steps that are wrong on any rank."""

    def __init__(self, mesh: DeviceMesh) -> None:
        self.mesh = mesh
        self.steps = self.failed = 0
        self.began = time.perf_counter()

    def begin(self) -> None:
        """Start timing a step."""
        self.began = time.perf_counter()

    def end(self) -> float:
        """Return the seconds since the step began."""
        return time.perf_counter() - self.began

    def line(self, title: str, seconds: float, sent: int, right: bool) -> None:
        """Print a step; `right` says whether it is right on this rank."""
        # One bool from every rank. Their maximum is True if any of them is.
        wrong = DTensor.from_local(
            np.array(not right), self.mesh, [Partial("max"), Partial("max")]
        ).item()
        self.steps += 1
        self.failed += wrong
        say(
            f"[{self.steps:2}] {title:<32} {seconds * 1e3:8.2f} ms "
            f"{sent / 1e6:7.3f} MB sent   {'WRONG' if wrong else 'right on all ranks'}"
        )


def show(x: DTensor) -> None:
    """Print which rank holds what. This is arithmetic: nothing is sent."""
    say(f"     {x.shape[0]} words x {x.shape[1]} topics as {x.layout}:")
    for rank in range(RANKS):
        (((row, column), (rows, columns)),) = x.layout.boxes(rank)
        say(
            f"     rank {rank} at {x.device_mesh.coordinate(rank)}: "
            f"words {row:4} to {row + rows - 1:4}, "
            f"topics {column:2} to {column + columns - 1:2}, "
            f"{rows * columns * x.itemsize / 1e6:.2f} MB"
        )
    say()


def mean_of_columns(x: DTensor) -> DTensor:
    """Return the mean of every column of an array in [Shard(0), Shard(1)] blocks.

    The column sums of a block are partial sums along mesh dim 0, and shards along mesh
    dim 1. They are added when they are moved.
    """
    sums = np.asarray(x.to_local()).sum(axis=0)
    return DTensor.from_local(sums / x.shape[0], x.device_mesh, [Partial(), Shard(0)])


def covariance_of_columns(x: DTensor, mean: DTensor) -> DTensor:
    """Return the covariance of the columns of an array in blocks, also in blocks.

    Every rank multiplies its rows of all columns by its rows of its own columns. The
    products are partial sums along mesh dim 0: one reduce_scatter adds them and leaves
    a block of the sum on every rank.
    """
    rows = x.redistribute(placements=[Shard(0), Replicate()])
    means = mean.redistribute(placements=[Replicate(), Replicate()])
    own_means = means.redistribute(placements=[Replicate(), Shard(0)])
    left = np.asarray(rows.to_local()) - np.asarray(means.to_local())
    right = np.asarray(x.to_local()) - np.asarray(own_means.to_local())
    products = left.T @ right / (x.shape[0] - 1)
    addends = DTensor.from_local(products, x.device_mesh, [Partial(), Shard(1)])
    return addends.redistribute(placements=[Shard(0), Shard(1)])


def most_alike(covariance: np.ndarray) -> str:
    """Return the two topics with the most similar words, except identical texts."""
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    correlation[correlation > 1 - 1e-9] = 0
    a, b = np.unravel_index(correlation.argmax(), correlation.shape)
    return f"{NAMES[a]!r} and {NAMES[b]!r}, correlation {correlation[a, b]:.3f}"


def main() -> int:
    """Take the tour; return the exit status."""
    # Rank 0's matrix is distributed. The other ranks count too, but only to check their
    # parts.
    counts = count_words()
    mesh = nearly_square()
    first = DeviceMesh("cpu", [0])  # rank 0 alone: the data come from and return to it
    log = Log(mesh)
    say(f"{RANKS} ranks, {mesh}, {counts.nbytes / 1e6:.2f} MB of float64\n")

    blocks = LAYOUTS["blocks"]
    log.begin()
    x = distribute_tensor(counts if RANK == 0 else None, mesh, blocks)
    seconds = log.end()
    on_first = Layout(first, [Replicate()], x.shape, x.dtype)
    right = np.array_equal(x.to_local(), own_part(counts, x))
    log.line("spread from rank 0", seconds, all_sent(on_first, blocks, mesh), right)
    show(x)

    log.begin()
    mean = mean_of_columns(x)
    whole_mean = mean.full_tensor()
    seconds = log.end()
    right = np.allclose(whole_mean, counts.mean(axis=0), rtol=1e-12)
    everywhere = [Replicate(), Replicate()]
    log.line("mean", seconds, all_sent(mean, everywhere, mesh), right)

    log.begin()
    covariance = covariance_of_columns(x, mean)
    seconds = log.end()
    sent = all_sent(x, [Shard(0), Replicate()], mesh) + all_sent(mean, everywhere, mesh)
    addends = Layout(mesh, [Partial(), Shard(1)], covariance.shape, covariance.dtype)
    sent += all_sent(addends, [Shard(0), Shard(1)], mesh)
    want = np.cov(counts, rowvar=False)
    right = np.allclose(covariance.to_local(), own_part(want, covariance), rtol=1e-9)
    log.line("covariance", seconds, sent, right)
    on_rank_0 = covariance.full_tensor(root=0)
    if on_rank_0 is not None:
        say(f"     most alike: {most_alike(np.asarray(on_rank_0))}\n")

    for name, placements in LAYOUTS.items():
        plan, sent = explain(x, placements), all_sent(x, placements, mesh)
        log.begin()
        x = x.redistribute(placements=placements)
        seconds = log.end()
        right = np.array_equal(x.to_local(), own_part(counts, x))
        log.line(f"to {name}", seconds, sent, right)
        say("     " + str(plan).replace("\n", "\n     ") + "\n")

    log.begin()
    back = x.full_tensor(root=0)
    seconds = log.end()
    right = back is None if RANK > 0 else np.array_equal(np.asarray(back), counts)
    log.line("back to rank 0", seconds, all_sent(x, [Replicate()], first), right)

    if log.failed:
        say(f"\n{log.failed} of {log.steps} checks FAILED")
    else:
        say(f"\nall {log.steps} checks passed on all {RANKS} ranks")
    return 1 if log.failed else 0


if __name__ == "__main__":
    sys.exit(main())
