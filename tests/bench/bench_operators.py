# ranks: 1
"""What operators cost on one rank beside NumPy, on about a million elements.

Of both the fastest of many calls in turn counts; where these are far apart, of some
more. Views, and functions of few elements, cost what a call costs: `bench_dispatch`
counts that. BLAS has one thread. `--only` names the rows that are wanted.
"""

import argparse
import os
import time
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy reads them
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from kept import keep  # noqa: E402
from operator_rows import CALLS  # noqa: E402
from operator_rows_more import MORE  # noqa: E402

from dtensor import Shard, distribute_tensor, init_device_mesh  # noqa: E402

SECONDS, TURNS = 0.6, 5  # for each row, and calls of either, at least
FAR, MORE_SECONDS = 1.2, 3.0  # ratios from which on, and for how long
LEAST = 5e-4  # seconds of NumPy's, from which on a row counts
AIM, MEDIAN_AIM = 1.5, 1.03


def fastest(calls: list, arrays: list) -> list[float]:
    """Seconds of the fastest call of each, called in turn."""
    best = [float("inf")] * len(calls)
    begin, turns = time.perf_counter(), 0

    def wanted() -> float:
        return MORE_SECONDS if max(best) > FAR * min(best) else SECONDS

    while turns < TURNS or time.perf_counter() - begin < wanted():
        turns += 1
        for k, (call, array) in enumerate(zip(calls, arrays, strict=True)):
            start = time.perf_counter()
            result = call(array)
            best[k] = min(best[k], time.perf_counter() - start)
            del result
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    mesh = init_device_mesh("cpu", (1,))
    rows = []
    for name, (array, call) in (CALLS | MORE).items():
        if asked.only and name not in asked.only:
            continue
        x = distribute_tensor(array.copy(), mesh, [Shard(0)])
        ours, numpys = fastest([call, call], [x, array.copy()])
        rows.append((ours / numpys, name, ours, numpys))
    counted = [row for row in rows if row[3] >= LEAST]
    print(f"{'operator':28}{'ours':>12}{'NumPy':>12}  ratio")
    for ratio, name, ours, numpys in sorted(rows, reverse=True):
        keep(name, ours, "s", "NumPy", ratio if numpys >= LEAST else None)
        told = f"  over the aim of {AIM}" if ratio > AIM and numpys >= LEAST else ""
        print(f"{name:28}{ours * 1e3:9.3f} ms{numpys * 1e3:9.3f} ms{ratio:7.2f}{told}")
    middle = float(np.median([row[0] for row in counted]))
    over = sum(row[0] > AIM for row in counted)
    print(
        f"{len(rows)} operators, {len(counted)} of at least {LEAST * 1e3} ms: the "
        f"median ratio is {middle:.2f} (aim {MEDIAN_AIM}), {over} are over {AIM}"
    )


if __name__ == "__main__":
    main()
