"""Layouts of what each part along some dims is reduced to: a row for each part."""

import math
from collections.abc import Sequence

from dtensor import _C
from dtensor.ops._make.parts import aligned

__all__ = ["stacked", "with_whole"]


def stacked(layout: _C.Layout, axes: Sequence[int]) -> _C.Layout:
    """Return the layout of rows, one for each part that mesh dims cut `axes` into.

    Parameters
    ----------
    layout : Layout
        Of what is reduced; not Partial.
    axes : sequence of int
        The dims that go away.

    Returns
    -------
    Layout
        Of shape (parts, *other dims). Dim 0 is cut into parts of one row, the other
        dims as they were.
    """
    rest = [dim for dim in range(layout.ndim) if dim not in axes]
    cutting = [getattr(p, "dim", None) in axes for p in layout.placements]
    sizes = zip(layout.mesh.shape, cutting, strict=True)
    parts = math.prod(n for n, cuts in sizes if cuts)
    shape = (parts, *(layout.shape[dim] for dim in rest))
    dims = {dim: place for place, dim in enumerate(rest, 1)}
    others = aligned(layout, shape, dims, layout.dtype)
    placements = [
        _C.Shard(0) if cuts else p
        for p, cuts in zip(others.placements, cutting, strict=True)
    ]
    return _C.Layout(layout.mesh, placements, shape, layout.dtype, cuts=others.cuts)


def with_whole(layout: _C.Layout, dim: int) -> _C.Layout:
    """Return the layout in which a dim is not cut and all else is as it was."""
    cut = [getattr(p, "dim", None) == dim for p in layout.placements]
    return layout.with_placements(
        [
            _C.Replicate() if c else p
            for p, c in zip(layout.placements, cut, strict=True)
        ]
    )
