"""Meshes over however many ranks there are."""

from dtensor import DeviceMesh, init_device_mesh
from dtensor._core import world as _world


def line() -> DeviceMesh:
    """All ranks in a row."""
    return init_device_mesh("cpu", (_world.current().size,), mesh_dim_names=("x",))


def square() -> DeviceMesh:
    """All ranks in two dimensions, as square as their number allows."""
    size = _world.current().size
    rows = max(n for n in range(1, size + 1) if size % n == 0 and n * n <= size)
    return init_device_mesh(
        "cpu", (rows, size // rows), mesh_dim_names=("row", "column")
    )
