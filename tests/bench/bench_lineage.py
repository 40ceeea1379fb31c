# ranks: 1
"""What the lineage of results costs, in every call of an operator.

The same local arrays are on a mesh of one rank, whose results need no lineage, and on a
mesh of two, whose results have one and whose calls go into the journal. The two ranks
are threads; one of them calls. Instructions are counted where valgrind is installed.
"""

import os
import sys
import timeit

import numpy as np
from instructions import CALLS, counted, spans, valgrind
from kept import keep

import dtensor
from dtensor import DeviceMesh, Shard
from dtensor.testing import run_ranks

ROWS = ["a + b", "a * 2.0", "-a", "a[:, 1:3]", "a.reshape(-1, 8)", "a.T", "a.sum(1)"]
ROWS += ["a @ w", "np.sin(a)", "dtensor.add(a, b)"]
AIM = 80
ROUNDS, NUMBER = 15, 5000


def operands(mesh: DeviceMesh) -> dict[str, object]:
    """Arrays of which each rank has 4 x 4 elements."""
    size = mesh.size()

    def array() -> object:
        return dtensor.ones((4 * size, 4), device_mesh=mesh, placements=[Shard(0)])

    w = dtensor.ones((4, 4), device_mesh=mesh, placements=[dtensor.Replicate()])
    return {"a": array(), "b": array(), "w": w, "np": np, "dtensor": dtensor}


def count(rows: list[str]) -> None:
    """Call each row between two marks: without lineage, then with it."""
    one, two = DeviceMesh("cpu", [0]), DeviceMesh("cpu", [0, 1])
    alone, both = operands(one), operands(two)
    if two.get_rank() == 0:
        counted("pass", {})
        for row in rows:
            counted(row, alone)
            counted(row, both)


def nanoseconds(rows: list[str]) -> list[tuple[float, float]]:
    """The least time of each row, both kinds in turn."""
    one, two = DeviceMesh("cpu", [0]), DeviceMesh("cpu", [0, 1])
    alone, both = operands(one), operands(two)
    if two.get_rank() != 0:
        return []
    result = []
    for row in rows:
        timers = [timeit.Timer(row, globals=names) for names in (alone, both)]
        times = [[t.timeit(NUMBER) for t in timers] for _ in range(ROUNDS)]
        least = np.min(times, axis=0) / NUMBER * 1e9
        result.append((float(least[0]), float(least[1])))
    return result


def main() -> None:
    if len(sys.argv) > 1:
        run_ranks(2, count, sys.argv[1:])
        return
    times = run_ranks(2, nanoseconds, ROWS)[0]
    instructions = []
    if valgrind():
        empty, *calls = spans(__file__, *ROWS)
        instructions = [round((span - empty) / CALLS) for span in calls]
    print(f"load {os.getloadavg()[0]:.1f}; without lineage, with it, difference")
    print(f"{'':18}{'instructions':>24}{'nanoseconds':>24}")
    for k, row in enumerate(ROWS):
        line = f"{row:18}"
        if instructions:
            without, with_it = instructions[2 * k : 2 * k + 2]
            line += f"{without:8}{with_it:8}{with_it - without:+8}"
            keep(row, with_it, "instructions", "no lineage", with_it / without)
        else:
            line += " " * 24
        keep(row, times[k][1] / 1e9, "s", "no lineage", times[k][1] / times[k][0])
        print(
            line
            + f"{times[k][0]:8.0f}{times[k][1]:8.0f}{times[k][1] - times[k][0]:+8.0f}"
        )
    if instructions:
        more = np.subtract(instructions[1::2], instructions[::2])
        print(
            f"instructions more: mean {more.mean():.0f} (aim {AIM}), most {more.max()}"
        )


if __name__ == "__main__":
    main()
