"""The processes of ``torch.distributed``: the ranks of the job, and groups of them."""

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from dtensor import _C
from dtensor._core import world as _world
from dtensor.torch.distributed._groups import (
    Group,
    GroupMember,
    ProcessGroup,
    group,
    mesh_of,
    met,
)

__all__ = [
    "Backend",
    "GroupMember",
    "ProcessGroup",
    "default_pg_timeout",
    "destroy_process_group",
    "get_backend",
    "get_backend_config",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "split_group",
    "supports_complex",
]

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in small letters: MPI is used whatever it is."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined gloo nccl ucc mpi xccl".split()
    backend_list = (UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI)
    __slots__ = ()

    def __new__(cls, name: str) -> "Backend":
        """Return the name.

        Raises
        ------
        ValueError
            If it is no string.
        """
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return super().__new__(cls, name.lower())


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    **options: Any,
) -> None:
    """Meet the other ranks of the job. Collective over all of them.

    Parameters
    ----------
    backend : str, optional
        Ignored, like `init_method` and PyTorch's other options: MPI is used.
    timeout : timedelta, optional
        How long a rank waits for another one; default: ``DTENSOR_TIMEOUT``.
    world_size, rank : int, optional
        Compared with MPI's values.

    Raises
    ------
    ValueError
        If `world_size` or `rank` differs from MPI's. On this rank only.
    """
    world = _world.current()
    if world_size not in (-1, world.size) or rank not in (-1, world.rank):
        raise ValueError(
            f"init_process_group: got rank {rank} of {world_size}, but MPI says rank "
            f"{world.rank} of {world.size}; leave rank and world_size out"
        )
    if timeout is not None:
        world.timeout = timeout.total_seconds()
        world.limit = "timeout= of init_process_group"


def is_available() -> bool:
    """Return True."""
    return True


def is_mpi_available() -> bool:
    """Return True."""
    return True


def is_initialized() -> bool:
    """Return whether the ranks have met: by `init_process_group`, or a mesh."""
    return _C.World.current() is not None


def destroy_process_group(group: Group = None) -> None:
    """Do nothing: communicators are freed at the end of the job."""


def get_rank(group: Group = None) -> int:
    """Return this rank among all ranks, or in a group; -1 outside it.

    Raises
    ------
    ValueError
        If the ranks have not met: see `init_process_group`.
    """
    if group is None:
        return met().rank
    coordinate = mesh_of(group).get_coordinate()
    return -1 if coordinate is None else coordinate[0]


def get_world_size(group: Group = None) -> int:
    """Return the number of ranks, of all or of a group; -1 outside it.

    Raises
    ------
    ValueError
        If the ranks have not met: see `init_process_group`.
    """
    if group is None:
        return met().size
    mesh = mesh_of(group)
    return -1 if mesh.get_coordinate() is None else int(mesh.size())


def get_process_group_ranks(group: Group) -> list[int]:
    """Return the ranks of a group, as numbers among all ranks."""
    return [int(rank) for rank in mesh_of(group).ranks.ravel()]


def get_backend(group: Group = None) -> str:
    """Return ``"mpi"``."""
    met()
    return "mpi"


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    **options: Any,
) -> ProcessGroup:
    """Return a group of ranks, which is a mesh of one dimension.

    Collective over all ranks.

    Parameters
    ----------
    ranks : sequence of int, optional
        Default: all.
    timeout, backend, **options
        Ignored.
    """
    members = list(range(met().size)) if ranks is None else list(ranks)
    return ProcessGroup("cpu", members, _init_backend=ranks is not None)


# --- ranks of groups ------------------------------------------------------------------


def get_global_rank(group: Group, group_rank: int) -> int:
    """Return the number among all ranks of a rank of a group.

    Raises
    ------
    ValueError
        If the group has no such rank.
    """
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: Group, global_rank: int) -> int:
    """Return the number in a group of a rank.

    Raises
    ------
    ValueError
        If it is not in the group.
    """
    ranks = get_process_group_ranks(group)
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return this rank's number on its node: the variable LOCAL_RANK.

    Raises
    ------
    RuntimeError
        If there is neither the variable nor a fallback.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device "
        "context and want the code to run locally instead."
    )


def get_pg_count() -> int:
    """Return 1: groups are meshes, which are not counted."""
    return 1


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[ProcessGroup]]:
    """Return the group that this rank is in, None if it is in none, and all groups.

    Collective over all ranks. Other arguments are ignored.

    Raises
    ------
    ValueError
        If no ranks are given, or one is given twice.
    """
    rows = [list(ranks) for ranks in ranks_per_subgroup_list]
    if not rows:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    every = [rank for row in rows for rank in row]
    if len(set(every)) < len(every):
        raise ValueError("Rank has appeared in two subgroups")
    groups = [new_group(row) for row in rows]
    own = [g for g, row in zip(groups, rows, strict=True) if get_rank() in row]
    return (own[0] if own else None), groups


def new_subgroups(
    group_size: int | None = None,
    group: Group = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[ProcessGroup]]:
    """Return this rank's group and all groups, of `group_size` ranks one after another.

    Collective over all ranks. Other arguments are ignored.

    Raises
    ------
    ValueError
        If the size does not divide the number of ranks.
    """
    ranks = get_process_group_ranks(group)
    size = len(ranks) if group_size is None else group_size
    if size <= 0:
        raise ValueError(f"The arg 'group_size' ({size}) must be positive")
    if len(ranks) % size:
        raise ValueError(f"The world size ({len(ranks)}) must be divisible by '{size}'")
    rows = [ranks[k : k + size] for k in range(0, len(ranks), size)]
    return new_subgroups_by_enumeration(rows)


def split_group(
    parent_pg: Group = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> Any:
    """Return the part of a group that this rank is in; None if it is in none.

    Collective over all ranks. The ranks of the parts are numbers within the group.
    """
    ranks = get_process_group_ranks(parent_pg)
    rows = [[ranks[k] for k in part] for part in split_ranks or ()]
    return new_subgroups_by_enumeration(rows)[0]


# --- backends -------------------------------------------------------------------------


def get_backend_config(group: Group = None) -> str:
    """Return ``"cpu:mpi"``."""
    return f"cpu:{get_backend(group)}"


def get_default_backend_for_device(device: Any) -> str:
    """Return ``"mpi"``."""
    return "mpi"


def is_backend_available(backend: str) -> bool:
    """Return whether a backend is MPI."""
    return backend.lower() == "mpi"


def is_nccl_available() -> bool:
    """Return False."""
    return False


is_gloo_available = is_ucc_available = is_xccl_available = is_nccl_available
is_torchelastic_launched = is_nccl_available


def supports_complex(reduceOp: str) -> bool:  # noqa: N803
    """Return whether a reduction is of complex numbers: a sum, product or average."""
    return reduceOp in ("sum", "product", "avg")
