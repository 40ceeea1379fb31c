"""Groups of ranks: meshes of one dimension, with the methods of PyTorch's groups."""

from typing import Any

from dtensor import _C
from dtensor._core import world as _world
from dtensor.device_mesh import DeviceMesh

__all__ = ["Group", "GroupMember", "ProcessGroup", "group", "mesh_of", "met"]

Group = DeviceMesh | _world.MPI.Comm | None


class ProcessGroup(DeviceMesh):
    """What `new_group` returns: see `DeviceMesh`."""

    def rank(self) -> int:
        """Return the number of this rank in the group; -1 outside it."""
        coordinate = self.get_coordinate()
        return -1 if coordinate is None else coordinate[0]

    def name(self) -> str:
        """Return the name of the backend: ``"mpi"``."""
        return "mpi"

    @property
    def group_name(self) -> str:
        """A name that all ranks have for the group."""
        return "ranks " + ",".join(map(str, self.ranks.ravel().tolist()))


class GroupMember:
    """Whether a rank is in a group."""

    NON_GROUP_MEMBER = -100


class _World(type):
    """The type of `group`, of which ``WORLD`` is an attribute."""

    @property
    def WORLD(cls) -> Any:  # noqa: N802
        """All ranks; None before they have met."""
        return None if _C.World.current() is None else mesh_of(None)


class group(metaclass=_World):  # noqa: N801
    """Groups that always exist."""


def met() -> _C.World:
    """Return the world.

    Raises
    ------
    ValueError
        If the ranks have not met: see `init_process_group`.
    """
    world = _C.World.current()
    if world is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            "init_process_group."
        )
    return world


def mesh_of(group: Group) -> Any:
    """Return a mesh of one dimension over the ranks of a group; None: all of them."""
    if isinstance(group, DeviceMesh):
        return group
    if group is None:
        return ProcessGroup("cpu", list(range(met().size)), _init_backend=False)
    return DeviceMesh.from_group(group, "cpu")


def _get_default_group() -> Any:
    """Return the group of all ranks; ValueError if they have not met."""
    return mesh_of(None)
