"""The meshes of the ``with mesh:`` blocks that each thread is in."""

import threading
from typing import Any

__all__ = ["current_mesh", "enter", "leave"]

_open = threading.local()  # .meshes: the innermost block's last


def current_mesh(what: str = "", keyword: str = "device_mesh") -> Any:
    """Return the DeviceMesh of the innermost ``with mesh:`` of this thread.

    `dtensor._C` calls this too, when a function is given no mesh.

    Parameters
    ----------
    what : str
        The function that needs it, for the error.
    keyword : str
        The name of its parameter for a mesh.
    """
    meshes: list[Any] = getattr(_open, "meshes", [])
    if not meshes:
        raise RuntimeError(
            f"{what and what + ': '}No device mesh is currently active! Pass "
            f"{keyword}=, or call this inside `with mesh:`."
        )
    return meshes[-1]


def enter(mesh: Any) -> None:
    """Begin a block."""
    if not hasattr(_open, "meshes"):
        _open.meshes = []
    _open.meshes.append(mesh)


def leave() -> None:
    """End the innermost block."""
    _open.meshes.pop()
