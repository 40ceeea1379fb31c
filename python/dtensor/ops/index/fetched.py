"""x[index] where both are cut: each rank asks the owners for what its indices name.

Indices go to the ranks that have the elements, which come back. Nothing is gathered.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make
from dtensor.ops._make.routes import Route, ranges_of, reachable, route_to

__all__ = [
    "cut_alike",
    "fetched",
    "fetched_layout",
    "fetches",
    "rows_to_owners",
    "way_to_owners",
]

Array = npt.NDArray[Any]


def cut_alike(layout: _C.Layout | None, dim: int, index: Any) -> bool:
    """Return whether an index is cut along its first dim as `dim` is, and nothing else
    is cut."""
    if not isinstance(index, _C.DTensor) or index.ndim == 0:
        return False
    if not (reachable(layout, dim) and reachable(index.layout, 0)):
        return False
    assert layout is not None
    own = [index.layout.cut_by(d) for d in range(index.ndim)]
    alike = own == [layout.cut_by(dim), *[()] * (index.ndim - 1)]
    alone = not any(layout.is_cut(d) for d in range(layout.ndim) if d != dim)
    return alike and alone and layout.mesh == index.device_mesh


def fetches(layout: _C.Layout | None, dim: int, index: Any) -> bool:
    """Return whether ``x[:, index]`` is to be fetched, `x` having a layout: they are
    cut alike, and all that is sent is less than what a gather would send."""
    if not cut_alike(layout, dim, index):
        return False
    assert layout is not None
    size = math.prod(layout.shape)
    row = layout.dtype.itemsize * size // max(layout.shape[dim], 1)
    asked = index.numel() * (np.dtype(np.int64).itemsize + row)
    others = len(ranges_of(layout, dim)) - 1
    return size >= routes.LEAST_SIZE and asked < row * layout.shape[dim] * others


def fetched_layout(layout: _C.Layout, dim: int, index: _C.DTensor) -> _C.Layout:
    """Return that of ``x[:, index]``: cut as the index is."""
    shape = (*layout.shape[:dim], *index.shape, *layout.shape[dim + 1 :])
    cuts = index.layout.cuts
    return _C.Layout(
        layout.mesh,
        layout.placements,
        shape,
        layout.dtype,
        cuts={dim: cuts[0]} if cuts else None,
    )


def way_to_owners(
    name: str, layout: _C.Layout, dim: int, index: _C.DTensor
) -> tuple[Route, Array]:
    """Return the way to the owners, and where the rows that others ask for are in this
    rank's part. Collective."""
    own = ranges_of(layout, dim)
    wanted = local(index).astype(np.int64).ravel()
    wanted[wanted < 0] += layout.shape[dim]
    owner = np.searchsorted([stop for _, stop in own], wanted, "right")
    route = route_to(name, layout, dim, owner)
    return route, route.there(wanted) - own[route.mine][0]


def fetched(x: _C.DTensor, dim: int, index: _C.DTensor) -> _C.DTensor:
    """Return ``x[:, index]`` where that `fetches`; the index is within `dim`.

    Collective: sends each index once, and each row that is asked for once.
    """
    to = fetched_layout(x.layout, dim, index)
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    with within("getitem", x, dim, index):
        route, asked = way_to_owners("getitem", x.layout, dim, index)
        rows = route.back(np.moveaxis(local(x), dim, 0)[asked])
        rows = rows.reshape(*local(index).shape, *rows.shape[1:])
        part = np.moveaxis(rows, range(index.ndim), range(dim, dim + index.ndim))
        return make(np.ascontiguousarray(part), to)


def rows_to_owners(
    name: str, x: _C.DTensor, dim: int, index: _C.DTensor, like: _C.Layout
) -> tuple[Array, Array]:
    """Return what comes to this rank of ``[:, index]`` of an array in a layout: rows of
    `x`, which is to go there, and where they belong in this rank's part.

    Collective: sends each index and each row once. Rows for the same place come in the
    order of the index. `x` is in the layout of ``[:, index]``.
    """
    route, at = way_to_owners(name, like, dim, index)
    ends = range(index.ndim)
    rows = np.moveaxis(local(x), range(dim, dim + index.ndim), ends)
    return route.there(rows.reshape(local(index).size, *rows.shape[index.ndim :])), at
