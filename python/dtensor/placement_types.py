"""Placements: how one mesh dimension holds a tensor."""

from collections.abc import Sequence

from dtensor._C import (
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    _StridedShard,
)
from dtensor.device_mesh import DeviceMesh

__all__ = [
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "_StridedShard",
    "compute_local_shape_and_global_offset",
]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int],
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    *,
    rank: int | None = None,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of a rank's part of a tensor, and where the part begins.

    Not collective: arithmetic, for any rank, also on a mesh without ranks.

    Parameters
    ----------
    global_shape : sequence of int
        Shape of the whole tensor.
    mesh : DeviceMesh
        The mesh.
    placements : sequence of Placement, length ``mesh.ndim``
        How each mesh dimension holds the tensor.
    rank : int, optional
        The rank whose part is computed; default: the calling rank, or 0 on a mesh
        without ranks.

    Returns
    -------
    local_shape : tuple of int
        ``(0,)`` for a rank outside the mesh.
    global_offset : tuple of int
        Index of the first element of the part; the length of the dimension where the
        part is empty; ``()`` for a rank outside the mesh. For a strided shard, which
        may lie in several places, the first of them.

    Raises
    ------
    ValueError
        If there are more or fewer placements than mesh dimensions, or a length is
        negative.
    IndexError
        If a Shard names a dimension that the tensor does not have.

    Examples
    --------
    >>> mesh = DeviceMesh.abstract((4,))
    >>> compute_local_shape_and_global_offset((10, 3), mesh, [Shard(0)], rank=3)
    ((1, 3), (9, 0))
    """
    layout = Layout(mesh, placements, global_shape, "float32")
    if rank is None:
        rank = mesh.get_rank() if mesh.world else 0
    if mesh.coordinate(rank) is None:
        return (0,), ()
    boxes = layout.boxes(rank)
    if not boxes:
        return layout.local_shape(rank), layout.shape
    return layout.local_shape(rank), boxes[0][0]
