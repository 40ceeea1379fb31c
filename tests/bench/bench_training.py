# ranks: 1 2
"""What a step of training costs beside PyTorch with gloo: time, and peak memory.

A GPT of 4 layers, width 256 or 1024, 8 heads, on 8 pieces of 128 bytes, with AdamW: in
float32 on one process, tensor parallel and fully sharded on two; as a model of bfloat16
on one process and tensor parallel. BENCH_THREADS (1) threads a rank; both sides take
turns, and the matrix products of the step, alone in NumPy, since PyTorch's BLAS suits
some processors better than others.
PyTorch runs in processes of its own: ``pip install torch==2.13.0`` into this
environment, or into another one, whose Python DTENSOR_TORCH_PYTHON then names.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

THREADS = int(os.environ.get("BENCH_THREADS", "1"))
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy reads them
    os.environ[name] = str(THREADS)

import numpy as np  # noqa: E402
from kept import keep  # noqa: E402
from mpi4py import MPI  # noqa: E402
from timing import blas_kernel  # noqa: E402
from training_matmuls import Matmuls  # noqa: E402
from training_model import Steps, words  # noqa: E402

import dtensor  # noqa: E402
from dtensor import init_device_mesh  # noqa: E402

COMM = MPI.COMM_WORLD
TORCH_PYTHON = "DTENSOR_TORCH_PYTHON"
AIMS = {  # over PyTorch, over the products alone
    "one": (0.45, 1.45),
    "tp": (0.30, 1.7),
    "fsdp": (0.28, 1.7),
    "one-bfloat16": (1.0, None),
    "tp-bfloat16": (1.0, None),
    "one-1024": (None, 1.25),
    "tp-1024": (None, 1.4),
    "fsdp-1024": (None, 1.4),
}


class Torch:
    """PyTorch's rank beside this one."""

    def __init__(self, file: str) -> None:
        python = os.environ.get(TORCH_PYTHON, sys.executable)
        script = Path(__file__).with_name("torch_training.py")
        words = [python, str(script), str(COMM.rank), str(COMM.size), file]
        keep = {
            k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI"))
        }
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=keep
        )
        self.version = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, form: str, what: object) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{form} {what}\n")
        self.process.stdin.flush()
        return float(self._line())

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def slower(value: float) -> float:
    """Return what the slower rank took."""
    return float(COMM.allreduce(value, MPI.MAX))


def middle(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the rounds' ratios."""
    return float(np.median(np.array(ours) / np.array(theirs)))


def ratio_text(ours: list[float], theirs: list[float], aim: float | None) -> str:
    text = f"{middle(ours, theirs):.2f}, of the least {min(ours) / min(theirs):.2f}"
    return text if aim is None else f"{text} (aim {aim})"


def measure(form: str, steps: Any, torch: Torch | None, rounds: int) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    products: list[float] = []
    _, dtype, width = words(form)
    count, rounds = (2, rounds) if width == 256 else (1, min(rounds, 3))
    aim, matmul_aim = AIMS[form]
    steps.seconds(2)
    peak = slower(steps.peak())
    their_peak = 0.0
    if torch is not None:
        torch.ask(form, 2)
        their_peak = slower(torch.ask(form, "peak"))
    # Their operands are made when memory has been measured.
    matmuls = Matmuls(form, COMM.size) if dtype == "float32" else None
    for _ in range(rounds):
        COMM.Barrier()
        ours.append(slower(steps.seconds(count)))
        COMM.Barrier()
        if torch is not None:
            theirs.append(slower(torch.ask(form, count)))
        COMM.Barrier()
        if matmuls is not None:
            products.append(slower(matmuls.seconds(count)))
    seconds = float(np.median(ours))
    line = f"{form:12} ours {seconds * 1e3:7.1f} ms {peak / 2**20:6.1f} MiB"
    ratio = more = float("nan")
    if torch is not None:
        ratio = middle(ours, theirs)
        more = peak / their_peak
        line += (
            f"   torch {np.median(theirs) * 1e3:7.1f} ms {their_peak / 2**20:6.1f} MiB"
            f"   ratio {ratio_text(ours, theirs, aim)}   memory {more:.2f}"
        )
    keep(f"a step, {form}", seconds, "s", "PyTorch", ratio)
    keep(f"peak memory, {form}", peak, "B", "PyTorch", more)
    if matmuls is not None:
        alone = float(np.median(products))
        line += f"\n{'':12} its products alone in NumPy {alone * 1e3:.1f} ms   "
        line += f"ratio {ratio_text(ours, products, matmul_aim)}"
        name = f"a step over its products, {form}"
        keep(name, seconds, "s", "NumPy", middle(ours, products))
    if COMM.rank == 0:
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--forms", nargs="*", help="such as tp-bfloat16; default: all")
    options = parser.parse_args()
    processors = sorted(os.sched_getaffinity(0))
    if COMM.size <= len(processors) and THREADS == 1:
        os.sched_setaffinity(0, {processors[COMM.rank]})
    dtensor.set_num_threads(THREADS)
    mesh = init_device_mesh("cpu", (COMM.size,))
    with tempfile.TemporaryDirectory() as folder:
        file = COMM.bcast(str(Path(folder) / "meet"))
        torch = Torch(file)
        there = all(COMM.allgather(torch.version != ""))
        if COMM.rank == 0:
            what = f"PyTorch {torch.version}" if there else f"no torch: {TORCH_PYTHON}"
            load = f"load {os.getloadavg()[0]:.1f}"
            print(f"{COMM.size} ranks, {what}, {blas_kernel()}, {load}")
        several = COMM.size > 1
        spreads = ("tp", "fsdp") if several else ("one",)
        forms = [form for form in AIMS if words(form)[0] in spreads]
        for form in options.forms or forms:
            dtensor.random.manual_seed(0)
            steps = Steps("dtensor", form, mesh, dtensor.as_tensor)
            measure(form, steps, torch if there else None, options.rounds)
        torch.end()
        COMM.Barrier()


main()
