"""Reversing the order of parts: the ranks seen as a mesh in the other direction."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.parts import inside, local, make, move, parts_of

__all__ = ["reversed_along", "reversible"]


def reversible(layout: _C.Layout, dims: Sequence[int]) -> bool:
    """Return whether some dims are cut, and each rank has one range of each of them."""
    cut = [dim for dim in dims if layout.is_cut(dim)]
    return bool(cut) and not (
        layout.is_partial or any(layout.is_strided(dim) for dim in cut)
    )


def reversed_along(name: str, x: _C.DTensor, dims: Sequence[int]) -> _C.DTensor:
    """Return a tensor whose dims are reversed, in the same layout.

    Each rank reverses its part, which is then that of the opposite rank: a part of the
    result on the mesh whose ranks are numbered in the other direction. From there it
    moves, at most once.
    """
    to = x.layout
    there = _mirrored(to, tuple(dims))
    if is_meta(x):
        return move(name, _C.without_data(there), to)
    part = np.flip(local(x), tuple(dims)) if inside(to) else np.empty(0, to.dtype)
    return move(name, make(np.ascontiguousarray(part), there), to)


@lru_cache(256)
def _mirrored(layout: _C.Layout, dims: tuple[int, ...]) -> _C.Layout:
    """Return the layout of parts that every rank has reversed."""
    mesh = layout.mesh
    turned = {m for dim in dims for m in layout.cut_by(dim)}
    ranks = np.flip(mesh.ranks, tuple(turned))
    other = DeviceMesh._make("cpu", mesh.shape, ranks, mesh.names, mesh.world)
    cuts = dict(layout.cuts or {})
    for dim in dims:
        length = layout.shape[dim]
        if layout.is_cut(dim):
            starts = [start for start, _ in parts_of(layout, dim) or ()]
            cuts[dim] = (0, *(length - start for start in reversed(starts)))
    order = dict(layout.shard_order)
    return _C.Layout(
        other,
        layout.placements,
        layout.shape,
        layout.dtype,
        shard_order=order or None,
        cuts=cuts or None,
    )
