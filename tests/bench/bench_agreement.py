# ranks: 1
"""What it costs that ranks compare lineages and failures when they agree.

Calls in which two processes agree, in this build and in one whose agreements know
neither, made from the same sources (bare_agreements.py). Instructions are those of
rank 0, which comes last and so finds the other's part there; a rank that has to wait
would spend more of them and make the difference smaller. All figures are the least of
several jobs, of both builds in turn.
"""

import argparse
import json
import os
import subprocess
import sys

import numpy as np
from bench_moves import CALLS, COMM, ROWS as MOVES, count, names, nanoseconds
from instructions import job_environment, spans_of_job, valgrind
from kept import keep

RANKS = 2
ROWS = ["from_local", "S(0) -> R 4x4", "S(0) -> S(1) 4x4", "full_tensor"]
AIM = 0.03
STARTS, COUNTS = 5, 3  # jobs; in one of these at least rank 0 comes last
LATE = 0.005  # seconds after which it calls


def least() -> list[float]:
    """The least time of a call of each row."""
    known = names()
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[COMM.rank % len(processors)]})
    return [nanoseconds(MOVES[row], known) for row in ROWS]


def timed(path: str) -> list[float]:
    """The same, in a job that imports the package from there."""
    command = ["mpiexec", "-n", str(RANKS), sys.executable, __file__, "--time"]
    done = subprocess.run(
        command,
        env=job_environment(path),
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    found: list[float] = json.loads(done.stdout)
    return found


def counted(path: str) -> list[int]:
    """The instructions of each row, in such a job."""
    empty, *calls = spans_of_job(RANKS, path, __file__, "--count")
    return [round((span - empty) / CALLS) for span in calls]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", action="store_true", help="inside valgrind")
    parser.add_argument("--time", action="store_true", help="inside mpiexec")
    options = parser.parse_args()
    if options.count:
        count(ROWS, f"import time; time.sleep({LATE if COMM.rank == 0 else 0})")
        return
    if options.time:
        found = least()
        if COMM.rank == 0:
            print(json.dumps(found))
        return
    import bare_agreements  # only here: it builds

    paths = [str(bare_agreements.build()), ""]
    times = np.min([[timed(p) for p in paths] for _ in range(STARTS)], axis=0)
    instructions = None
    if valgrind():
        instructions = np.min([[counted(p) for p in paths] for _ in range(COUNTS)], 0)
    print(f"load {os.getloadavg()[0]:.1f}; without them, with them, difference")
    print(f"{'':22}{'instructions':>24}{'nanoseconds':>24}")
    for k, row in enumerate(ROWS):
        line = f"{row:22}"
        for values, unit in ((instructions, "instructions"), (times, "ns")):
            if values is None:
                line += " " * 24
                continue
            without, with_it = values[0][k], values[1][k]
            line += f"{without:8.0f}{with_it:8.0f}{with_it / without - 1:+8.1%}"
            scale = 1e9 if unit == "ns" else 1
            unit = "s" if unit == "ns" else unit
            keep(row, with_it / scale, unit, "bare agreements", with_it / without)
        print(line)
    if instructions is not None:
        more = instructions[1] / instructions[0] - 1
        print(
            f"instructions more: mean {more.mean():.1%}, most {more.max():.1%} "
            f"(aim {AIM:.0%})"
        )


if __name__ == "__main__":
    main()
