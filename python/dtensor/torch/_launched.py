"""The variables that ``torchrun`` sets, for scripts that read them.

Importing `dtensor.torch` under a launcher sets those that are not there: RANK and
WORLD_SIZE; LOCAL_RANK and LOCAL_WORLD_SIZE, among the ranks of the node, if the
launcher tells them; MASTER_ADDR and MASTER_PORT, to which nothing connects. Ranks that
are threads share the variables of their process, and have none.
"""

import os
from collections.abc import Mapping

from dtensor._core.several import local_ranks
from dtensor._core.world import MPI

__all__ = ["local_rank", "variables"]

# Where launchers tell the number on the node: Open MPI's, MPICH's, Slurm's.
_LOCAL = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK")


def local_rank(environ: Mapping[str, str], rank: int, size: int) -> int | None:
    """Return the number of a rank on its node, or None if nobody tells it."""
    told = next((environ[name] for name in _LOCAL if name in environ), "")
    if told.isdecimal():
        return int(told)
    return rank if local_ranks() == size else None


def variables(environ: Mapping[str, str], rank: int, size: int) -> dict[str, str]:
    """Return the variables of a rank: none of a process that nobody has launched."""
    if size == 1 and not any(name in environ for name in _LAUNCHED):
        return {}
    local = local_rank(environ, rank, size)
    found = {
        "RANK": rank,
        "WORLD_SIZE": size,
        "LOCAL_WORLD_SIZE": local_ranks(),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": 29500,
    }
    if local is not None:
        found["LOCAL_RANK"] = local
    return {name: str(value) for name, value in found.items()}


def _set() -> None:
    if not MPI.Is_initialized() or MPI.Is_finalized():
        return  # mpi4py has been told to leave that to others
    now = variables(os.environ, MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)
    for name, value in now.items():
        os.environ.setdefault(name, value)


_set()
