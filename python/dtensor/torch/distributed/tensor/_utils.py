"""``torch.distributed.tensor._utils``: the parts of ranks."""

from collections.abc import Sequence

from dtensor.device_mesh import DeviceMesh
from dtensor.placement_types import (
    Placement,
    compute_local_shape_and_global_offset as compute_local_shape_and_global_offset,
)

__all__ = [
    "compute_local_offset",
    "compute_local_shape",
    "compute_local_shape_and_global_offset",
]


def compute_local_shape(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[int, ...]:
    """Return the shape of this rank's part: see `dtensor.placement_types`."""
    return compute_local_shape_and_global_offset(global_shape, mesh, placements)[0]


def compute_local_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[int, ...]:
    """Return where this rank's part begins: see `dtensor.placement_types`."""
    return compute_local_shape_and_global_offset(global_shape, mesh, placements)[1]
