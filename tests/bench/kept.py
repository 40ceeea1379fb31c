"""What benchmarks find, kept as rows: `./run bench --save` makes a file of them."""

import json
import os
import sys
from pathlib import Path
from typing import Any

ROWS = "DTENSOR_BENCH_ROWS"  # the file that rows are added to; without it none is kept
LOAD = os.getloadavg()[0]  # when the benchmark began


def keep(
    name: str, value: float, unit: str, rival: str = "", ratio: float | None = None
) -> None:
    """Add a row, on rank 0, if they are kept.

    `value` is in seconds ("s"), bytes ("B"), "instructions" or another unit; `ratio` is
    that of `value` to the rival's.
    """
    file = os.environ.get(ROWS)
    mpi: Any = sys.modules.get("mpi4py.MPI")  # PyTorch's processes have none
    world = mpi.COMM_WORLD if mpi is not None else None
    if not file or (world is not None and world.rank != 0):
        return
    row: dict[str, object] = {
        "bench": Path(sys.argv[0]).stem.removeprefix("bench_"),
        "ranks": 1 if world is None else world.size,
        "load": round(LOAD, 2),
        "name": name,
        "value": float(f"{value:.4g}"),
        "unit": unit,
    }
    if ratio is not None and ratio == ratio:  # not where the rival is missing
        row |= {"rival": rival, "ratio": float(f"{ratio:.4g}")}
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps(row) + "\n")
