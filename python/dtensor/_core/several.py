"""How many ranks a node has; what lets Open MPI start more than it has processors."""

import os
import re
import shutil

__all__ = ["environment", "local_ranks"]

_RANKS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
# Without ssh Open MPI does not start, though all ranks are on this machine.
_NO_SSH = {"OMPI_MCA_plm_rsh_agent": "false", "PRTE_MCA_plm_ssh_agent": "false"}
_ROOT = {
    f"{name}_ALLOW_RUN_AS_ROOT{end}": "1"
    for name in ("OMPI", "PRTE")
    for end in ("", "_CONFIRM")
}


def environment() -> dict[str, str]:
    """Return variables for ``mpiexec``; those that are set already stay as they are."""
    found = _RANKS | (_ROOT if os.geteuid() == 0 else {})
    if shutil.which("ssh") is None:
        found |= _NO_SSH
    return found | {name: os.environ[name] for name in found if name in os.environ}


def local_ranks() -> int:
    """Return how many ranks the launcher started on this node; 1 if it does not say.

    Open MPI's, MPICH's and Slurm's launchers do ("2", "4(x3)").
    """
    told = (
        os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE")
        or os.environ.get("MPI_LOCALNRANKS")
        or os.environ.get("SLURM_STEP_TASKS_PER_NODE", "")
    )
    return max(1, int(re.split(r"\D", told)[0] or 1))
