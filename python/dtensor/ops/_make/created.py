"""New arrays: each rank makes its own part from its indices; nothing is sent."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.open_meshes import current_mesh
from dtensor.ops._make.parts import inside, make

__all__ = ["Placements", "layout_of", "made", "mesh_like"]

Placements = Sequence[_C.Placement] | None


def layout_of(
    shape: Any,
    dtype: npt.DTypeLike,
    device_mesh: _C.Mesh | None,
    placements: Placements,
) -> _C.Layout:
    """Return the layout of a new tensor: by default replicated on the current mesh."""
    mesh = current_mesh() if device_mesh is None else device_mesh
    return _C.Layout(mesh, placements, shape, dtype)


def mesh_like(device_mesh: _C.Mesh | None, *values: Any) -> _C.Mesh | None:
    """Return the mesh that is given, else that of the first DTensor among values."""
    found = [x.device_mesh for x in values if isinstance(x, _C.DTensor)]
    return found[0] if device_mesh is None and found else device_mesh


def made(layout: _C.Layout, part: Callable[[_C.Layout], Any]) -> _C.DTensor:
    """Return a tensor whose part on this rank is made by a function.

    If it is Partial, coordinate 0 gets the values and the others the neutral element.
    """
    settled = layout.settled()
    name = part.__qualname__.partition(".<locals>")[0]
    how = f"{name} of {layout.shape}", layout.dtype, part
    try:
        array = part(settled) if inside(settled) else np.empty(0)
        x = make(np.array(array, layout.dtype, copy=None, order="C"), settled)
    except MemoryError:
        _C.not_made(layout.mesh, *how)
        raise
    _C.made_of(x, *how)
    return x if layout == settled else _C._redistribute_any(x, placements=layout)
