"""Layouts for partial results of reductions: one row for each part."""

import math
from collections.abc import Sequence

from dtensor import _C

__all__ = ["stacked"]


def stacked(layout: _C.Layout, axes: Sequence[int]) -> _C.Layout:
    """Return the layout of rows, one for each part that mesh dims cut `axes` into.

    Parameters
    ----------
    layout : Layout
        Of the array that is reduced; not Partial.
    axes : sequence of int
        The dims that are reduced.

    Returns
    -------
    Layout
        Of shape (parts, *other dims). Dim 0 is cut into parts of one row, the other
        dims as they were.
    """
    rest = [dim for dim in range(layout.ndim) if dim not in axes]
    cutting = {m for axis in axes for m in layout.cut_by(axis)}
    parts = math.prod(layout.mesh.shape[m] for m in cutting)
    shape = (parts, *(layout.shape[dim] for dim in rest))
    dims = {dim: place for place, dim in enumerate(rest, 1)}
    others = layout.like(shape, dims, layout.dtype)
    placements = [
        _C.Shard(0) if m in cutting else p for m, p in enumerate(others.placements)
    ]
    return _C.Layout(layout.mesh, placements, shape, layout.dtype, cuts=others.cuts)
