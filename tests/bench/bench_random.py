# ranks: 1 2
"""What random arrays cost beside NumPy's generator over the same stream.

Every rank makes its part of an array of COUNT elements for each rank, so the times of
several ranks are those of one if nothing is waited for.
"""

import itertools

import numpy as np
from kept import keep
from mpi4py import MPI
from timing import alone, mean, time_text

import dtensor
from dtensor import Replicate, Shard, init_device_mesh, no_grad, zeros

COUNT = 1 << 20
RAND_AIM, NORMAL_AIM = 1.0, 2.0  # of NumPy's time

SAME = np.random.Generator(np.random.Philox(key=1))
KINDS = {
    "rand": (lambda x: x.uniform_(), SAME.random, RAND_AIM),
    "randn": (lambda x: x.normal_(), SAME.standard_normal, NORMAL_AIM),
    "exponential": (lambda x: x.exponential_(), SAME.standard_exponential, NORMAL_AIM),
}
DTYPES = ["float64", "float32"]
RATIOS: list[float] = []


def row(comm: MPI.Intracomm, name: str, ours: float, theirs: float, aim: float) -> str:
    """A line of the table, for the slowest rank; keeps the ratio."""
    ours, theirs = comm.allreduce(ours, MPI.MAX), comm.allreduce(theirs, MPI.MAX)
    RATIOS.append(ours / theirs)
    keep(f"{name}, {COUNT} elements", ours, "s", "NumPy", ours / theirs)
    told = "" if RATIOS[-1] <= aim else f"  over the aim of {aim}"
    one, other = (f"{seconds / COUNT * 1e9:6.2f} ns" for seconds in (ours, theirs))
    return f"{name:22}{one}{other}{RATIOS[-1]:6.2f}x{told}"


def filling(comm: MPI.Intracomm, kind: str, dtype: str, placement: Shard) -> str:
    """Elements that are there already are drawn again."""
    fill, numpys, aim = KINDS[kind]
    x = zeros(
        (1024, COUNT // 1024 * comm.size),
        dtype=dtype,
        device_mesh=init_device_mesh("cpu", (comm.size,)),
        placements=[placement],
    )
    part = np.zeros(COUNT, dtype)
    ours, theirs = alone(lambda: fill(x)), alone(lambda: numpys(dtype=dtype, out=part))
    return row(comm, f"{kind} {dtype} S({placement.dim})", ours, theirs, aim)


def dropping(comm: MPI.Intracomm) -> str:
    """The line of dropout, beside the same made of NumPy's calls."""
    x = zeros(
        (COUNT * comm.size,),
        dtype="float32",
        device_mesh=init_device_mesh("cpu", (comm.size,)),
        placements=[Shard(0)],
    )
    part = np.zeros(COUNT, np.float32)

    def numpys() -> np.ndarray:
        kept = SAME.random(COUNT, np.float32) >= 0.1
        return part * kept * np.float32(1 / 0.9)

    with no_grad():
        ours = alone(lambda: dtensor.dropout(x, 0.1))
    return row(comm, "dropout float32", ours, alone(numpys), 1.0)


def calling(comm: MPI.Intracomm) -> list[str]:
    """What a call costs beside its elements."""
    mesh = init_device_mesh("cpu", (comm.size,))
    options = {"device_mesh": mesh, "placements": [Replicate()]}
    x = zeros(2, **options)
    calls = {
        "rand(2)": lambda: dtensor.rand(2, **options),
        "x.uniform_()": lambda: x.uniform_(),
        "dropout(x)": lambda: dtensor.dropout(x),
        "NumPy's random(2)": lambda: SAME.random(2),
    }
    return [f"{name:20} {time_text(alone(call))}" for name, call in calls.items()]


def main() -> None:
    comm = MPI.COMM_WORLD
    lines = [
        filling(comm, *which)
        for which in itertools.product(KINDS, DTYPES, (Shard(0), Shard(1)))
    ]
    lines += [dropping(comm), "", *calling(comm)]
    if comm.rank == 0:
        print(f"{COUNT} elements on each of {comm.size} ranks: here, NumPy's, ratio")
        print(*lines, sep="\n")
        print(f"geometric mean of the ratios: {mean(RATIOS):.2f}")


if __name__ == "__main__":
    main()
