# ranks: 2
"""What small moves cost: times on two ranks, instructions of one of them.

Each row is called by both ranks, which are bound to one processor each; the times are
the least of many rounds. Where valgrind is installed the instructions of rank 0 are
counted in a job of its own, without those of the functions that it waits in, which are
as many as it has to wait. ``--functions`` says how many functions to print, those with
the most instructions first; names of rows that only these are wanted.
"""

import argparse
import gc
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from instructions import dumps_of_job, mark, valgrind
from kept import keep
from mpi4py import MPI

import dtensor
from dtensor import DTensor, Replicate, Shard, distribute_tensor, init_device_mesh

COMM = MPI.COMM_WORLD
ROWS = {
    "no-op": "r.redistribute(placements=R)",
    "R -> S(0)": "r.redistribute(placements=S0)",
    "S(0) -> S(1) 4x4": "s.redistribute(placements=S1)",
    "S(0) -> R 4x4": "s.redistribute(placements=R)",
    "S(0) -> S(1) 128x128": "b.redistribute(placements=S1)",
    "from_local": "from_local(part, mesh, S0)",
    "distribute_tensor": "distribute_tensor(a, mesh, S0)",
    "to_local": "s.to_local()",
    "full_tensor": "s.full_tensor()",
}
CALLS, WARM = 50, 60
ROUNDS, NUMBER = 9, 2000

# What is called over and over while a rank waits, and by the way once in each call.
WAITING = """
    dt_wait wait_long look coarse_now dt_now dt_progress run advance agreement_advance
    gather read_advance dt_agreement_hear dt_agreement_task dt_test node_test node_idle
    node_probe dt_mailbox_collect dt_mailbox_has dt_settle_wake dt_notes_failure
    dt_notes_count dt_notes_collect dt_notes_epoch mpi_idle mpi_probe mpi_test poll
    heed_time heed_interrupt dt_late_seconds pthread_mutex_init@@GLIBC_2.2.5
    pthread_mutex_lock@@GLIBC_2.2.5
    __pthread_mutex_unlock_usercnt pthread_mutex_unlock@@GLIBC_2.2.5 sched_yield
    clock_gettime@@GLIBC_2.17
""".split()
WAITING_IN = re.compile("mpi|mca|open-|event|pmix|ucx|fabric|vdso")


def names() -> dict[str, Any]:
    """What the rows are about."""
    mesh = init_device_mesh("cpu", (COMM.size,))
    a = np.ones((4, 4), np.float32)
    s0, s1, r = [Shard(0)], [Shard(1)], [Replicate()]
    return {
        "mesh": mesh,
        "S0": s0,
        "S1": s1,
        "R": r,
        "a": a,
        "part": np.ones((2, 4), np.float32),
        "r": distribute_tensor(a, mesh, r),
        "s": distribute_tensor(a, mesh, s0),
        "b": dtensor.ones((128, 128), device_mesh=mesh, placements=s0),
        "from_local": DTensor.from_local,
        "distribute_tensor": distribute_tensor,
    }


def loop(text: str, known: dict[str, Any]) -> Callable[[int], None]:
    """A function that calls a text so often."""
    exec(f"def run(count):\n for _ in range(count):\n  {text}\n", known)
    result: Callable[[int], None] = known["run"]
    return result


def nanoseconds(text: str, known: dict[str, Any]) -> float:
    """The least time of a call."""
    run, times = loop(text, known), []
    run(WARM)
    for _ in range(ROUNDS):
        COMM.Barrier()
        begin = time.perf_counter()
        run(NUMBER)
        times.append(time.perf_counter() - begin)
    return min(times) / NUMBER * 1e9


def count(rows: list[str], before: str = "pass") -> None:
    """Call rows between two marks, the first one empty, each call after a text."""
    known = names()
    for text in ["pass", *(ROWS[name] for name in rows)]:
        run = loop(f"{before}; {text}", known)
        run(WARM)
        gc.collect()
        gc.disable()
        COMM.Barrier()
        mark()
        run(CALLS)
        mark()
        gc.enable()


def by_function(path: Path) -> Counter[str]:
    """The instructions of each function in a dump."""
    known: dict[str, str] = {}
    result: Counter[str] = Counter()
    function, library, of_a_call = "", "", False
    for line in path.read_text().splitlines():
        if found := re.match(r"(fn|cfn|ob|cob)=(\(\d+\))(?: (.*))?$", line):
            kind, number = found[1].removeprefix("c"), found[2]
            name = known.setdefault(kind + number, found[3] or "")
            function = name if found[1] == "fn" else function
            library = name if found[1] == "ob" else library
        elif line.startswith("calls="):
            of_a_call = True
        elif re.match(r"[-+*\d]", line):
            ours = not WAITING_IN.search(library) and function not in WAITING
            if ours and not of_a_call:
                result[function] += int(line.split()[1])
            of_a_call = False
    return result


def counts(rows: list[str], functions: int) -> dict[str, int]:
    """Return the instructions of rank 0 in each row."""
    with dumps_of_job(COMM.size, "", __file__, "--count", *rows) as dumps:
        empty, *spans = [by_function(path) for path in dumps]
    for name, span in zip(rows, spans, strict=True):
        if functions:
            print(f"\n{name}: instructions of each function")
        for function, spent in span.most_common(functions):
            print(f"{spent / CALLS:10.1f} {function}")
    return {
        name: round((span.total() - empty.total()) / CALLS)
        for name, span in zip(rows, spans, strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", default=list(ROWS))
    parser.add_argument("--functions", type=int, default=0)
    parser.add_argument("--count", action="store_true", help="inside valgrind")
    options = parser.parse_args()
    if options.count:
        count(options.rows)
        return
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[COMM.rank % len(processors)]})
    known = names()
    times = {name: nanoseconds(ROWS[name], known) for name in options.rows}
    os.sched_setaffinity(0, set(processors))
    if COMM.rank == 0:
        found = counts(options.rows, options.functions) if valgrind() else {}
        print(f"\nload {os.getloadavg()[0]:.1f}\n{'':22}{'us':>6}{'instructions':>14}")
        for name, spent in times.items():
            print(f"{name:22}{spent / 1000:6.2f}{found.get(name, ''):>14}")
            keep(name, spent / 1e9, "s")
            if name in found:
                keep(name, found[name], "instructions")
    COMM.Barrier()


if __name__ == "__main__":
    main()
