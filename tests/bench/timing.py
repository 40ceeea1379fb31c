"""Times calls of all ranks against each other, in turn, by one clock."""

import ctypes
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mpi4py import MPI

Call = Callable[[], object]

# The function of OpenBLAS that names its kernel: in wheels of NumPy, and elsewhere.
KERNEL_NAMES = ("scipy_openblas_get_corename64_", "openblas_get_corename")

BATCH_SECONDS = 1e-3  # short calls are repeated until they take so long together
BATCH_MOST = 200


class Entry(NamedTuple):
    """Something to be timed. `before` is called ahead of each batch, off the clock."""

    name: str
    call: Call
    before: Call = int


def _spans(
    comm: MPI.Intracomm, entries: Sequence[Entry], repeats: int, batches: Sequence[int]
) -> np.ndarray:
    """Seconds from the first rank's start to the last one's end: repeats x entries."""
    clock = np.empty((2, repeats, len(entries)))
    for repeat in range(repeats):
        # Nobody always finds the caches as the same other one left them.
        for k in np.random.default_rng(repeat).permutation(len(entries)):
            entries[k].before()
            call = entries[k].call
            comm.Barrier()
            clock[0, repeat, k] = time.perf_counter()
            for _ in range(batches[k]):
                call()
            clock[1, repeat, k] = time.perf_counter()
    starts, ends = np.empty_like(clock)
    comm.Allreduce(clock[0], starts, MPI.MIN)
    comm.Allreduce(clock[1], ends, MPI.MAX)
    return ends - starts


def medians(
    comm: MPI.Intracomm, entries: Sequence[Entry], repeats: int
) -> dict[str, float]:
    """Return the seconds of one call of each entry, measured in turn.

    The ranks must be on one machine: its monotonic clock is the same for all.
    """
    once = _spans(comm, entries, 3, [1] * len(entries)).min(0)
    batches = [int(np.clip(BATCH_SECONDS / s, 1, BATCH_MOST)) for s in once]
    spans = _spans(comm, entries, repeats, batches)
    middle = np.median(spans, 0) / batches
    return {e.name: float(s) for e, s in zip(entries, middle, strict=True)}


def best(
    comm: MPI.Intracomm, entries: Sequence[Entry], keep: int, repeats: int = 3
) -> list[Entry]:
    """Return those of the entries that are fastest in a short trial."""
    if len(entries) <= keep:
        return list(entries)
    seconds = medians(comm, entries, repeats)
    return sorted(entries, key=lambda entry: seconds[entry.name])[:keep]


def alone(call: Call, repeats: int = 15, seconds: float = 2e-3) -> float:
    """Return the seconds of one call of one process, by the median of batches."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = max(1, min(10_000, int(seconds / max(once, 1e-8))))
    spans = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        spans.append((time.perf_counter() - start) / batch)
    return statistics.median(spans)


def mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean."""
    return statistics.geometric_mean(ratios)


def time_text(seconds: float) -> str:
    """Return a time in three digits."""
    for unit, scale in (("ns", 1e9), ("us", 1e6)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size_text(count: int) -> str:
    """Return a number of bytes."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << power:
            return f"{count / (1 << power):.4g} {unit}"
    return f"{count} B"


def blas_kernel() -> str:
    """Return for which processor the BLAS of NumPy has chosen its kernels."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    for path in {line.split(maxsplit=5)[-1] for line in lines if "blas" in line}:
        library = ctypes.CDLL(path)
        for name in KERNEL_NAMES:
            if hasattr(library, name):
                found = getattr(library, name)
                found.restype = ctypes.c_char_p
                return f"OpenBLAS for {found().decode()}"
    return "BLAS of an unknown kind"
