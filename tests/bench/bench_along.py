# ranks: 1 2
"""Functions along the dim that is cut: bytes and memory on any ranks, time on two.

On one process the ranks are threads, and what the busiest of them sends and takes is
counted, in parts: the elements of the larger of operand's and result's part, 8 bytes
each. The peak is what a rank takes beside its operand at one time, in arrays; not
counted are what LAPACK holds while it runs, and at most 12 MiB of buffers. Square
matrices and products are treated as those of more than 64 MiB. ``--ranks 2 4 8 16``
says on how many.

On several processes, one thread each, the seconds beside NumPy's on one of them, of the
fastest of calls in turn; beside dask's and Heat's where they are installed. ``--large``
adds rows that take minutes; ``--only`` names the rows that are wanted.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any
from unittest import mock

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy reads them
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from along_rows import COUNTED, TIMED, Counted, Timed  # noqa: E402
from kept import keep  # noqa: E402
from mpi4py import MPI  # noqa: E402
from timing import blas_kernel  # noqa: E402

from dtensor import (  # noqa: E402
    _C,
    DTensor,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor._core import world as _world  # noqa: E402
from dtensor.ops.linalg import large, product_parts  # noqa: E402
from dtensor.testing import run_ranks  # noqa: E402

COMM = MPI.COMM_WORLD
ROUNDS = 3


def load() -> str:
    return f"{blas_kernel()}, load {os.getloadavg()[0]:.1f}"


# --- counted --------------------------------------------------------------------------


def part_elements(x: DTensor) -> int:
    """Elements of an even part."""
    cut = any(isinstance(p, Shard) for p in x.placements)
    return x.size // x.device_mesh.size() if cut else x.size


def counts(row: Counted, ranks: int) -> tuple[float, float]:
    """What the busiest rank sends, and how much memory it takes, in the row's units."""
    array = row.make(ranks)

    def body() -> tuple[int, int, int]:
        mesh, world = init_device_mesh("cpu", (ranks,)), _world.current()
        x = distribute_tensor(array, mesh, [Shard(0)], src_data_rank=None)
        before = sum(c[1] for c in world.counters().values())
        _C._count_memory(True)
        try:
            result = row.call(x)
        finally:
            peak = _C._count_memory(False)
        sent = sum(c[1] for c in world.counters().values()) - before
        results = result if isinstance(result, tuple) else (result,)
        return sent, peak, max(map(part_elements, (x, *results)))

    with (
        mock.patch.object(large, "LEAST_BYTES", 1),
        mock.patch.object(product_parts, "LEAST_BYTES", 1 << 20),
        mock.patch.object(product_parts, "SCRATCH_BYTES", 1 << 18),
    ):
        heard = run_ranks(ranks, body)
    part = 8 * heard[0][2]
    unit = 8 * row.elements or part
    return max(h[0] for h in heard) / unit, max(h[1] for h in heard) / part


def told(value: float, aim: float) -> str:
    return f"{value:8.3f}" + ("*" if value > aim else " ")


def count(names: list[str], numbers: list[int]) -> None:
    """Print what is counted, beside the aims."""
    print(f"sent / peak, in parts; * is over the aim; {load()}")
    heads = "".join(f"{f'{n} ranks':>19}" for n in numbers)
    print(f"{'':16}{heads}   aims")
    missed = 0
    for name in names:
        row, line = COUNTED[name], f"{name:16}"
        for ranks in numbers:
            found = counts(row, ranks)
            missed += any(np.greater(found, row.aims))
            keep(f"{name}, sent on {ranks} ranks", found[0], row.unit)
            keep(f"{name}, peak on {ranks} ranks", found[1], "parts")
            line += " " + " ".join(map(told, found, row.aims))
        aims = " / ".join("-" if aim == np.inf else f"{aim:g}" for aim in row.aims)
        told_unit = "" if row.unit == "parts" else f"   sent in {row.unit}"
        print(f"{line}   {aims}{told_unit}", flush=True)
    print(f"{len(names)} rows on {len(numbers)} numbers of ranks, {missed} over an aim")


# --- timed ----------------------------------------------------------------------------


def rival(name: str) -> Any:
    """A module, where all ranks have it."""
    try:
        found = import_module(name)
    except ImportError:
        found = None
    return found if all(COMM.allgather(found is not None)) else None


def calls_of(row: Timed, dask: Any, heat: Any) -> dict[str, Callable[[], Any]]:
    """What is timed, by whose it is; ranks without a part in it do nothing."""
    array = row.make()
    x = distribute_tensor(
        array, init_device_mesh("cpu", (COMM.size,)), [Shard(0)], src_data_rank=None
    )
    first = COMM.rank == 0
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: row.call(x),
        "NumPy": lambda: row.call(array) if first else None,
    }
    if dask is not None and row.dask is not None:
        there = dask.from_array(array, chunks=(len(array) // COMM.size, -1))
        ask = row.dask
        calls["dask"] = lambda: (
            import_module("dask").compute(ask(dask, there), num_workers=COMM.size)
            if first
            else None
        )
    if heat is not None and row.heat is not None:
        theirs, call = heat.array(array, split=0), row.heat
        calls["Heat"] = lambda: call(heat, theirs)
    return calls


def seconds(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The fastest of calls in turn, from when all begin until all have ended."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            COMM.Barrier()
            start = time.perf_counter()
            call()
            COMM.Barrier()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def clock(names: list[str]) -> None:
    """Print the seconds of ours and the others, and their ratio."""
    dask, heat = rival("dask.array"), rival("heat")
    if COMM.rank == 0:
        others = "".join(f", {m.__name__}" for m in (dask, heat) if m is not None)
        print(f"{COMM.size} ranks beside NumPy on one{others}; {load()}", flush=True)
    for name in names:
        row = TIMED[name]
        best = seconds(calls_of(row, dask, heat))
        if COMM.rank == 0:
            line = "".join(f"   {who} {s:7.3f} s" for who, s in best.items())
            for who in list(best)[1:]:
                keep(name, best["ours"], "s", who, best["ours"] / best[who])
            aim = "" if row.aim is None else f" (aim {row.aim})"
            print(f"{name:16}{line}   ratio {best['ours'] / best['NumPy']:.2f}{aim}")
    if COMM.rank == 0:
        print(f"at the end: {load()}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--large", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if COMM.size == 1:
        count([n for n in COUNTED if not asked.only or n in asked.only], asked.ranks)
    else:
        small = [n for n, row in TIMED.items() if asked.large or not row.is_large]
        clock([n for n in small if not asked.only or n in asked.only])


main()
