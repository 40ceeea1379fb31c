# ranks: 1 2
"""What an operator costs beside NumPy's own call, and beside PyTorch's DTensor.

Every rank has 8 x 8 elements. All sides are timed in turn, batch by batch; the slower
rank counts, and ratios are medians of those of the rounds. PyTorch runs beside, in
processes of its own: ``pip install torch==2.13.0`` into this environment, or into
another one, whose Python DTENSOR_TORCH_PYTHON then names. Instructions are counted
where valgrind is installed.
"""

import argparse
import itertools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from dispatch_rows import BORDERS, CALLS, EMPTY, ROWS, SIDE, Row
from dispatch_sides import TORCH_PYTHON, Here, Side, Torch, numpy_side, our_side
from instructions import per_call, valgrind
from kept import keep
from mpi4py import MPI
from timing import mean

COMM = MPI.COMM_WORLD
BATCH_SECONDS = 1e-3
FRESH = 16  # calls of a batch with new shapes
AIM_RATIO, AIM_SECONDS = 1.5, 200e-9  # beside NumPy's call: the larger of the two

Spans = np.ndarray[Any, np.dtype[np.float64]]  # seconds of a call, for each round
Times = dict[tuple[str, str], Spans]  # of a row and a side


def say(*words: object) -> None:
    if COMM.rank == 0:
        print(*words, flush=True)


# --- sides ----------------------------------------------------------------------------


def pin() -> None:
    """Keep each rank on a processor of its own, and its PyTorch with it."""
    processors = sorted(os.sched_getaffinity(0))
    if COMM.size <= len(processors):
        os.sched_setaffinity(0, {processors[COMM.rank]})


def torch_side(file: str) -> Torch | None:
    """PyTorch on all ranks, or on none."""
    process = Torch.start(COMM.rank, COMM.size, file)
    assert process.stdout is not None
    version = process.stdout.readline().strip()
    if all(COMM.allgather(version != "")):
        return Torch(process, version)
    process.kill()
    process.wait()
    return None


def same_values(ours: Here, numpy: Here) -> None:
    """Both sides do the same, or their times say nothing."""
    for row in CALLS:
        mine, theirs = ours.result(row.name), numpy.result(row.name)
        part = np.asarray(mine.to_local())
        assert part.dtype == theirs.dtype, row.name
        np.testing.assert_allclose(part, theirs, rtol=1e-5, err_msg=row.name)


# --- times ----------------------------------------------------------------------------


def batch_of(side: Side, row: Row) -> int:
    """How many calls take about BATCH_SECONDS; the same on all ranks."""
    if row.fresh:
        return FRESH
    side.seconds(row.name, 10)  # whatever is done once
    once = min(side.seconds(row.name, 10) or 1.0 for _ in range(3)) / 10
    return int(COMM.bcast(np.clip(BATCH_SECONDS / once, 1, 20_000)))


def measure(sides: dict[str, Side], rows: Sequence[Row], rounds: int) -> Times:
    """The seconds of each row on each side, in turn, round by round."""
    pairs = [
        [(row.name, name) for name in sides if row.text(name) is not None]
        for row in rows
    ]
    counts = {
        (row, name): batch_of(sides[name], ROWS[row])
        for row, name in itertools.chain(*pairs)
    }
    times = {pair: np.empty(rounds) for pair in counts}
    for number in range(rounds):
        rng = np.random.default_rng(number)
        for k in rng.permutation(len(pairs)):
            # The sides of a row one after the other: the machine's speed changes.
            for m in rng.permutation(len(pairs[k])):
                row, name = pairs[k][m]
                COMM.Barrier()
                spent = sides[name].seconds(row, counts[row, name])
                times[row, name][number] = spent or np.nan
    for pair, spans in times.items():
        spans /= counts[pair]
        COMM.Allreduce(MPI.IN_PLACE, spans, MPI.MAX)
    return times


def aim(row: Row, times: Times) -> Spans:
    """The seconds that a row is to take at most, in each round."""
    numpy = times[row.name, "numpy"]
    most = np.maximum(AIM_RATIO * numpy, numpy + row.operators * AIM_SECONDS)
    return most + times[EMPTY.name, "numpy"] if row.protocol else most


# --- the table ------------------------------------------------------------------------


def middle(spans: Spans) -> float:
    return float(np.median(spans))


def micro(spans: Spans) -> str:
    return f"{middle(spans) * 1e6:.2f}"


def show(rows: Sequence[Row], times: Times) -> None:
    say(
        f"{'':<22}{'ours us':>9}{'NumPy us':>10}{'more ns':>9}{'ratio':>7}"
        f"{'aim us':>8}{'/ aim':>7}{'torch us':>10}{'torch/ours':>11}"
    )
    for row in rows:
        kind = "" if row in CALLS else ", other calls"
        ours = times[row.name, "ours"]
        cells = [micro(ours), "-", "-", "-", "-", "-", "-", "-"]
        if (row.name, "numpy") in times:
            numpy, most = times[row.name, "numpy"], aim(row, times)
            cells[1:3] = micro(numpy), f"{middle(ours - numpy) * 1e9:.0f}"
            cells[3:6] = ratio(ours, numpy), micro(most), ratio(ours, most)
            keep(row.name, middle(ours), "s", f"NumPy{kind}", middle(ours / numpy))
        if (row.name, "torch") in times:
            torch = times[row.name, "torch"]
            cells[6:] = micro(torch), f"{middle(torch / ours):.1f}x"
            keep(row.name, middle(ours), "s", f"PyTorch{kind}", middle(ours / torch))
        widths = (9, 10, 9, 7, 8, 7, 10, 11)
        columns = (c.rjust(w) for c, w in zip(cells, widths, strict=True))
        say(f"{row.name:<22}" + "".join(columns))


def ratio(a: Spans, b: Spans) -> str:
    return f"{middle(a / b):.2f}"


def summary(times: Times) -> None:
    """Geometric means over the calls."""
    beside, aims, torch = [], [], []
    for row in CALLS:
        ours = times[row.name, "ours"]
        beside.append(middle(ours / times[row.name, "numpy"]))
        aims.append(middle(ours / aim(row, times)))
        if (row.name, "torch") in times:
            torch.append(middle(times[row.name, "torch"] / ours))
    text = f"geometric means: ours / NumPy {mean(beside):.2f}, ours / aim "
    text += (
        f"{mean(aims):.2f}, torch / ours {mean(torch):.1f}"
        if torch
        else (f"{mean(aims):.2f}")
    )
    say(f"{text}; {sum(a <= 1 for a in aims)} of {len(aims)} aims met")


def instructions() -> None:
    """A table of instructions, from one rank."""
    if valgrind() is None:
        say("\nno valgrind, so instructions are not counted (apt-get install valgrind)")
        return
    counts = per_call([row.name for row in CALLS])
    say(f"\n{'instructions':<22}{'ours':>9}{'NumPy':>10}{'more':>9}{'ratio':>7}")
    for name, (ours, numpy) in counts.items():
        say(f"{name:<22}{ours:>9}{numpy:>10}{ours - numpy:>9}{ours / numpy:>7.2f}")
        keep(name, ours, "instructions", "NumPy", ours / numpy)


def head(rounds: int, torch: Torch | None, load: float, protocol: float) -> None:
    """What was measured, and on what."""
    beside = f"PyTorch {torch.version}" if torch is not None else "no PyTorch"
    say(
        f"{COMM.size} ranks, float32, {SIDE} x {SIDE} on each; NumPy {np.__version__}, "
        f"{beside}; medians of {rounds}\n"
        f"load {load:.1f} before, {os.getloadavg()[0]:.1f} after, on "
        f"{os.cpu_count()} processors\n"
        f"aim: the larger of {AIM_RATIO} x NumPy and {AIM_SECONDS * 1e9:.0f} ns more "
        "for each operator; for np.sin also what\n"
        f"NumPy's dispatch to an empty handler takes, {protocol * 1e9:.0f} ns\n"
    )
    if torch is None:
        say(
            "PyTorch is missing: pip install torch==2.13.0, here or in another\n"
            f"environment, whose Python {TORCH_PYTHON} then names\n"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    pin()
    with tempfile.TemporaryDirectory() as folder:
        file = COMM.bcast(str(Path(folder) / "store"))
        torch = torch_side(file)
        ours, numpy = our_side(COMM.size), numpy_side()
        same_values(ours, numpy)
        sides: dict[str, Side] = {"ours": ours, "numpy": numpy}
        if torch is not None:
            sides["torch"] = torch
        load = os.getloadavg()[0]
        rows = [*CALLS, *BORDERS, EMPTY]
        times = measure(sides, rows, options.rounds)
        if torch is not None:
            torch.end()
        COMM.Barrier()
    head(options.rounds, torch, load, middle(times[EMPTY.name, "numpy"]))
    show(CALLS, times)
    summary(times)
    say()
    show(BORDERS, times)
    if COMM.size == 1:
        instructions()


main()
