"""The mesh that a function was given."""

from typing import Any

from dtensor import _C
from dtensor._core.open_meshes import current_mesh

__all__ = ["given_mesh"]


def given_mesh(
    what: str, mesh: Any, keyword: str = "device_mesh", hint: str = ""
) -> Any:
    """Return the mesh that a function was given, or that of a ``with mesh:`` block.

    Parameters
    ----------
    what, keyword : str
        The function, and its parameter for the mesh, as errors name them.
    mesh : DeviceMesh or None
    hint : str
        What may be meant by something else.
    """
    if mesh is None:
        mesh = current_mesh(what, keyword)
    if not isinstance(mesh, _C.Mesh):
        raise TypeError(
            f"{what}: `{keyword}` must be a DeviceMesh, as init_device_mesh makes it, "
            f"not {type(mesh).__name__}{hint and f' ({hint})'}"
        )
    return mesh
