"""Groups of ranks, in any of the forms that torch accepts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor._core import world as _world
from dtensor.device_mesh import DeviceMesh

__all__ = ["Group", "mesh_of", "of_ranks"]

Group = (
    DeviceMesh
    | tuple[DeviceMesh, int | str]
    | _world.MPI.Comm
    | Sequence[int]
    | Sequence[Sequence[int]]
)


def mesh_of(group: Group) -> DeviceMesh:
    """Return a group as a mesh of one dimension. Not collective.

    Raises
    ------
    AssertionError
        For a mesh of several dimensions without the name or index of one.
    ValueError
        If this rank is in none of several lists of ranks, or a rank appears twice.
    TypeError
        If `group` is not a group.
    """
    if isinstance(group, DeviceMesh):
        if group.ndim != 1:
            raise AssertionError(
                "Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh "
                f"> 1D; this one has {group.ndim} dimensions"
            )
        return group
    if isinstance(group, _world.MPI.Comm):
        return of_ranks(_world.ranks_of(group, "functional_collectives"))
    if isinstance(group, tuple) and group and isinstance(group[0], DeviceMesh):
        if len(group) != 2 or not isinstance(group[1], int | str):
            raise TypeError(f"a group must be (mesh, mesh dim), not {group!r}")
        return group[0]._row(group[1])
    ranks = _rows_of(group)
    if len(np.unique(np.concatenate(ranks))) != sum(map(len, ranks)):
        raise ValueError(
            f"each rank may appear only once in the groups, not as in {ranks}"
        )
    mine = _world.current().rank
    own = [row for row in ranks if mine in row]
    if not own:
        raise ValueError(f"rank {mine} is in none of the groups {ranks}")
    return of_ranks(own[0])


def of_ranks(ranks: Sequence[int], like: DeviceMesh | None = None) -> DeviceMesh:
    """Return the mesh of these ranks, in this order; nothing is communicated."""
    world = _world.current()
    grid = np.asarray(ranks, np.int64)
    if len(np.unique(grid)) != len(grid) or not len(grid):
        raise ValueError(
            f"a group needs at least one rank, each only once, not {list(ranks)}"
        )
    if grid.min() < 0 or grid.max() >= world.size:
        raise ValueError(
            f"a group has ranks from 0 to {world.size - 1}, not {list(ranks)}"
        )
    device_type = "cpu" if like is None else like.device_type
    return DeviceMesh._make(device_type, grid.shape, grid, None, world.number)


def _rows_of(group: Any) -> list[list[int]]:
    """Return the lists of ranks of a group that is one list or several."""
    if isinstance(group, Sequence) and not isinstance(group, str) and len(group):
        if all(isinstance(rank, int | np.integer) for rank in group):
            return [list(group)]
        if all(isinstance(row, Sequence) and not isinstance(row, str) for row in group):
            return [list(row) for row in group]
    raise TypeError(
        "Invalid type for group: must be one of a list of ranks, a DeviceMesh, (mesh, "
        f"mesh dim), an mpi4py communicator; not {group!r}"
    )
