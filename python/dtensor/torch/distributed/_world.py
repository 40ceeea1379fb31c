"""The processes of ``torch.distributed``: the ranks of the job, and groups of them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from dtensor import _C
from dtensor._core import world as _world
from dtensor.device_mesh import DeviceMesh

__all__ = [
    "destroy_process_group",
    "get_backend",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "is_available",
    "is_initialized",
    "is_mpi_available",
    "new_group",
]

Group = DeviceMesh | _world.MPI.Comm | None


class group:  # noqa: N801
    """Groups that always exist."""

    WORLD: Group = None
    """All ranks."""


def mesh_of(group: Group) -> DeviceMesh:
    """Return a mesh of one dimension over the ranks of a group; None: all of them."""
    if isinstance(group, DeviceMesh):
        return group
    if group is None:
        return DeviceMesh("cpu", list(range(get_world_size())), _init_backend=False)
    return DeviceMesh.from_group(group, "cpu")


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


def _met() -> _C.World:
    world = _C.World.current()
    if world is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return world


def get_rank(group: Group = None) -> int:
    """Return this rank among all ranks, or in a group; -1 outside it.

    Raises
    ------
    ValueError
        If the ranks have not met: see `init_process_group`.
    """
    if group is None:
        return _met().rank
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
        return _met().size
    mesh = mesh_of(group)
    return -1 if mesh.get_coordinate() is None else int(mesh.size())


def get_process_group_ranks(group: Group) -> list[int]:
    """Return the ranks of a group, as numbers among all ranks."""
    return [int(rank) for rank in mesh_of(group).ranks.ravel()]


def get_backend(group: Group = None) -> str:
    """Return ``"mpi"``."""
    _met()
    return "mpi"


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    **options: Any,
) -> DeviceMesh:
    """Return a group of ranks, which is a mesh of one dimension.

    Collective over all ranks.

    Parameters
    ----------
    ranks : sequence of int, optional
        Default: all.
    timeout, backend, **options
        Ignored.
    """
    return mesh_of(None) if ranks is None else DeviceMesh("cpu", list(ranks))
