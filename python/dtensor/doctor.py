"""``python -m dtensor.doctor``: what a bug report needs, and common problems.

Under ``mpiexec -n 4 python -m dtensor.doctor`` rank 0 prints for all ranks. Each
problem is one sentence that says how to fix it. If dtensor cannot be imported, it says
which MPI dtensor was built for, which ones there are, and what to do. ``--measure``
prints what messages and copies cost here instead, as ``DTENSOR_COSTS`` has it.
"""

import argparse
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata, util

import numpy as np

import dtensor
from dtensor import _C
from dtensor._core.costs import costs_text
from dtensor._core.world import MPI, current
from dtensor.debug._units import size as size_text

__all__ = ["Facts", "examine", "main", "measure", "report", "troubles"]

EXTRAS = {
    "ml_dtypes": "bfloat16 and float8",
    "safetensors": "reading checkpoints in other programs",
    "rich": "visualize_sharding(use_rich=True), python -m dtensor.top",
    "matplotlib": "figures",
    "ipyparallel": "notebooks with MPI engines",
    "tqdm": "progress bars",
    "scipy": "sparse matrices",
    "tensorboardX": "files for TensorBoard",
    "h5py": "HDF5 files",
    "zarr": "Zarr stores",
}
# For each launcher: the variables with the number of ranks, and with this rank.
LAUNCHERS = {
    "Open MPI": ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    "MPICH or Intel MPI (PMI)": ("PMI_SIZE", "PMI_RANK"),
    "Slurm": ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
}
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
SHM_PER_RANK = 16 << 20  # what Open MPI's queues between two dozen ranks may take
SHM_LEAST = 64 << 20  # the default of a container, which need not be all in use
BARRIERS = 15
SLOW = 1e-3  # seconds for a barrier on one machine: a thousand times the usual
_YIELD = {"Open MPI": "set OMPI_MCA_mpi_yield_when_idle=1, or "}
_TOLD = ("DTENSOR_", "OMPI_MCA_", "PRTE_MCA_", "MPI4PY_", "TORCH_LOGS", *THREADS)


@dataclass(frozen=True)
class Facts:
    """What one rank knows."""

    versions: dict[str, str]
    """Of dtensor, Python, NumPy, mpi4py, and the system."""
    mpi: str
    """The MPI library that the extension runs with."""
    mpi4py_mpi: str
    """The MPI library that mpi4py runs with."""
    mpiexec: str
    """The version text of the mpiexec on the PATH; "" if none, or under a launcher."""
    launcher: str
    """The launcher that started the ranks, from the environment; "" if none did."""
    told: int
    """The number of ranks that the launcher reports."""
    rank: int
    ranks: int
    """The number of ranks that MPI sees."""
    host: str
    cores: tuple[int, ...]
    """Processors that this rank may use."""
    blas: str
    threads: int
    """Threads that BLAS uses in one rank."""
    yields: bool
    """Whether a rank yields its processor while it waits."""
    shm: int
    """Free bytes in /dev/shm; -1 if there is none."""
    barrier: float
    """Seconds for a barrier over all ranks; 0 for one rank."""
    thread_level: int
    missing: tuple[str, ...]
    """Extras that are not installed."""
    environment: dict[str, str]
    """Environment variables that dtensor or MPI reads."""


# --- looking --------------------------------------------------------------------------


def examine() -> Facts:
    """Return what this rank knows. Collective over all ranks of the job."""
    launcher, told = _launcher()
    cores = tuple(sorted(os.sched_getaffinity(0)))
    return Facts(
        versions={
            "dtensor": dtensor.__version__,
            "Python": platform.python_version(),
            "NumPy": np.__version__,
            "mpi4py": metadata.version("mpi4py"),
            "system": platform.platform(),
        },
        mpi=_one_line(_C.mpi_library_version()),
        mpi4py_mpi=_one_line(MPI.Get_library_version()),
        mpiexec="" if launcher else _mpiexec(),
        launcher=launcher,
        told=told,
        rank=MPI.COMM_WORLD.rank,
        ranks=MPI.COMM_WORLD.size,
        host=socket.gethostname(),
        cores=cores,
        blas=_blas(),
        threads=_threads(len(cores)),
        yields=os.environ.get("OMPI_MCA_mpi_yield_when_idle", "") in ("1", "true"),
        shm=_free("/dev/shm"),
        barrier=_barrier(),
        thread_level=MPI.Query_thread(),
        missing=tuple(x for x in EXTRAS if util.find_spec(x) is None),
        environment={
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(_TOLD) and name != "OMPI_MCA_PREFIXES"
        },
    )


def _launcher() -> tuple[str, int]:
    for name, (count, _) in LAUNCHERS.items():
        text = os.environ.get(count, "")
        if text.isdecimal():
            return name, int(text)
    return "", 1


def _one_line(text: str) -> str:
    return " ".join(text.strip("\0\n ").split())[:200]


def _mpiexec() -> str:
    path = shutil.which("mpiexec")
    if path is None:
        return ""
    try:
        answer = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path}: {error}"
    return f"{path}: {_one_line(answer.stdout + answer.stderr)}"


def _blas() -> str:
    config = np.show_config(mode="dicts")
    blas = (config or {}).get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _threads(cores: int) -> int:
    """Return how many threads BLAS starts: as the environment says, else all cores."""
    for name in THREADS:
        if os.environ.get(name, "").isdecimal():
            return max(1, int(os.environ[name]))
    return cores


def _free(path: str) -> int:
    try:
        status = os.statvfs(path)
    except OSError:
        return -1
    return status.f_bavail * status.f_frsize


def _barrier() -> float:
    if MPI.COMM_WORLD.size == 1:
        return 0.0
    MPI.COMM_WORLD.Barrier()
    start = time.perf_counter()
    for _ in range(BARRIERS):
        MPI.COMM_WORLD.Barrier()
    return (time.perf_counter() - start) / BARRIERS


# --- judging --------------------------------------------------------------------------


def vendor(text: str) -> str:
    """Return the MPI that a version text belongs to: "Open MPI", ...; "" if unknown."""
    names = {
        "Open MPI": r"open ?mpi|openrte|prte|pmix",
        "Intel MPI": r"intel",
        "MVAPICH": r"mvapich",
        "MPICH": r"mpich|hydra",
    }
    found = (k for k, pattern in names.items() if re.search(pattern, text.lower()))
    return next(found, "")


def troubles(ranks: Sequence[Facts]) -> list[str]:
    """Return what is wrong, one sentence for each problem, with how to fix it.

    Parameters
    ----------
    ranks : sequence of Facts
        Those of all ranks, in order.
    """
    first = ranks[0]
    found = [*_library_troubles(first), *_skew(ranks)]
    for host in dict.fromkeys(facts.host for facts in ranks):
        found += _host_troubles(host, [facts for facts in ranks if facts.host == host])
    return found


def _library_troubles(facts: Facts) -> Iterator[str]:
    if facts.mpi != facts.mpi4py_mpi:
        yield (
            f"dtensor was built for another MPI ({facts.mpi}) than mpi4py uses "
            f"({facts.mpi4py_mpi}): build it with the mpicc of mpi4py's MPI, or set "
            "MPI4PY_LIBMPI to the library that dtensor uses."
        )
    if facts.ranks == 1 and facts.told > 1:
        yield (
            f"{facts.launcher} says that there are {facts.told} ranks, but MPI sees "
            f"one: mpi4py uses another MPI ({facts.mpi4py_mpi}) than this launcher; "
            "start the job with that MPI's own mpiexec."
        )
    path, _, text = facts.mpiexec.partition(": ")
    ours, theirs = vendor(facts.mpi4py_mpi), vendor(text)
    if facts.mpiexec and ours and theirs and ours != theirs:
        yield (
            f"the mpiexec on the PATH is {theirs}'s ({path}), but the MPI here is "
            f"{ours}: put {ours}'s bin folder first on the PATH."
        )
    if not facts.launcher and not facts.mpiexec:
        yield (
            "there is no mpiexec on the PATH: put the bin folder of "
            f"{ours or 'your MPI'} there (for Open MPI from PyPI that of the Python "
            "environment), to run on more than one rank."
        )


def _skew(ranks: Sequence[Facts]) -> Iterator[str]:
    """Yield the versions that differ between ranks; the most frequent one is right."""
    for name in ranks[0].versions:
        values = Counter(facts.versions.get(name, "none") for facts in ranks)
        if len(values) > 1:
            usual = values.most_common(1)[0][0]
            odd = next(f for f in ranks if f.versions.get(name, "none") != usual)
            yield (
                f"rank {odd.rank} on {odd.host} has {name} "
                f"{odd.versions.get(name, 'none')}, most ranks have {usual}: install "
                "the same version on all machines."
            )


def _host_troubles(host: str, here: Sequence[Facts]) -> Iterator[str]:
    first, count = here[0], len(here)
    cores = len({core for facts in here for core in facts.cores})
    where = f"{count} ranks on {host} share {cores} processors"
    if count > cores and not all(facts.yields for facts in here):
        yield (
            f"{where} and do not yield them while they wait, so every message takes "
            f"milliseconds: {_YIELD.get(vendor(first.mpi), '')}start at most {cores} "
            "ranks."
        )
    elif first.barrier > SLOW and count == first.ranks:
        free = cores > 1 and len({f.cores for f in here}) == 1  # bound to none of them
        bound = ", or ranks are bound to the same ones; try mpiexec --bind-to none"
        yield (
            f"a barrier takes {first.barrier * 1e3:.1f} ms: something else is using "
            f"the processors{'; end it, or wait' if free else bound}."
        )
    most, each = max(facts.threads for facts in here), max(1, cores // count)
    if count > 1 and most * count > cores:
        yield (
            f"{where}, and BLAS starts {most} threads in each: set OMP_NUM_THREADS="
            f"{each} and OPENBLAS_NUM_THREADS={each} before Python starts."
            if most > each
            else f"{where}: more ranks than processors only cost time; start "
            f"at most {cores} unless this is a test."
        )
    wanted = max(SHM_LEAST, SHM_PER_RANK * count)
    if 0 <= first.shm < wanted:
        yield (
            f"/dev/shm of {host} has {size_text(first.shm)} free, too little for "
            f"the messages of {count} ranks: give the container "
            f"--shm-size={wanted >> 20}m or more, or remove leftover files there."
        )


def notes(facts: Facts) -> Iterator[str]:
    """Yield what is not a problem, but good to know."""
    if not facts.launcher and facts.ranks == 1:
        yield (
            "this is one rank, because no launcher started it: "
            "mpiexec -n 4 python -m dtensor.doctor checks four."
        )
    for name in facts.missing:
        yield (
            f"{name}, needed for {EXTRAS[name]}, is not installed: "
            f"pip install 'dtensor-mpi[{name}]'"
        )


# --- telling --------------------------------------------------------------------------


def report(ranks: Sequence[Facts]) -> str:
    """Return the text for a bug report: facts, troubles, notes.

    Parameters
    ----------
    ranks : sequence of Facts
        Those of all ranks, in order.
    """
    first, hosts = ranks[0], Counter(facts.host for facts in ranks)
    multiply = ", which multiply bfloat16" if _C.has_product() else ""
    cores = len({core for f in ranks if f.host == first.host for core in f.cores})
    rows = {
        **first.versions,
        "MPI": first.mpi,
        "launcher": first.launcher or "none",
        "mpiexec": first.mpiexec or ("" if first.launcher else "none"),
        "ranks": ", ".join(f"{count} on {host}" for host, count in hosts.items()),
        "processors": f"{cores} for the ranks of {first.host}{multiply}",
        "BLAS": f"{first.blas}, {first.threads} threads per rank",
        "yields": "yes" if first.yields else "no",
        "/dev/shm": "none" if first.shm < 0 else f"{size_text(first.shm)} free",
        "barrier": f"{first.barrier * 1e6:.1f} us" if len(ranks) > 1 else "",
        "threads": ("single", "funneled", "serialized", "multiple")[first.thread_level],
        **first.environment,
    }
    width = max(map(len, rows))
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows.items() if value]
    found = troubles(ranks)
    count = f"{len(found)} problem{'s' * (len(found) > 1)}" if found else "no problems"
    lines += ["", count]
    lines += [f"  * {sentence}" for sentence in found]
    lines += [f"  note: {sentence}" for sentence in notes(first)]
    return "\n".join(lines) + "\n"


def measure() -> str:
    """Return what a message and its bytes cost between these ranks, and copies.

    Collective over all ranks of the job. It is written as the environment variable
    ``DTENSOR_COSTS`` takes it, in two digits; with links between nodes, if the job has
    several of as many ranks each. Where no messages are sent (one rank, or one on each
    node) it tells the defaults.
    """
    start, rate, copy, *links = (float(f"{x:.1e}") for x in current().measure())
    nodes = dict(zip(("nodes_latency", "nodes_bandwidth"), links, strict=True))
    several = nodes if "node_ranks=" in current().costs else None
    return f"DTENSOR_COSTS={costs_text(start, rate, copy, several)}\n"


def main(arguments: Sequence[str] = ()) -> int:
    """Print the report on rank 0; return the exit status, 0.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line: ``--help`` and ``--measure``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m dtensor.doctor",
        description="Print what a bug report needs, and common problems.",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="print what messages and copies cost here, for DTENSOR_COSTS, instead",
    )
    if parser.parse_args(arguments).measure:
        text = measure()
        if MPI.COMM_WORLD.rank == 0:
            sys.stdout.write(text)
        return 0
    texts = MPI.COMM_WORLD.gather(asdict(examine()))
    # Under the launcher of a different MPI, every process is rank 0 of its own job.
    number = next(
        (os.environ[r] for _, r in LAUNCHERS.values() if r in os.environ), "0"
    )
    if texts is not None and (MPI.COMM_WORLD.size > 1 or number == "0"):
        sys.stdout.write(report([Facts(**text) for text in texts]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
