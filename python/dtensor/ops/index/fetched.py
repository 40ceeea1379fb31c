"""x[index] where `x` is cut: each rank gets what a part of the indices names.

Where the index is cut too, indices go to the ranks that have the elements, which come
back. Where every rank has the index, the elements come at once. Nothing is gathered.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make, place
from dtensor.ops._make.routes import (
    Route,
    part_number,
    ranges_of,
    reachable,
    route_to,
)

__all__ = [
    "cut_alike",
    "cut_alone",
    "fetched",
    "fetched_layout",
    "fetches",
    "rows_to_owners",
    "spread",
    "spread_index",
    "spreads",
    "way_to_owners",
]

Array = npt.NDArray[Any]


def cut_alone(layout: _C.Layout, dim: int) -> bool:
    """Return whether a dim is cut, as in `reachable`, and no other is."""
    others = (d for d in range(layout.ndim) if d != dim)
    return reachable(layout, dim) and not any(map(layout.is_cut, others))


def cut_alike(layout: _C.Layout | None, dim: int, index: Any) -> bool:
    """Return whether an index is cut along its first dim as `dim` is, and nothing else
    is cut."""
    if not isinstance(index, _C.DTensor) or index.ndim == 0:
        return False
    if layout is None or not reachable(index.layout, 0):
        return False
    own = [index.layout.cut_by(d) for d in range(index.ndim)]
    alike = own == [layout.cut_by(dim), *[()] * (index.ndim - 1)]
    return alike and cut_alone(layout, dim) and layout.mesh == index.device_mesh


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
        return _in_place(rows, dim, index, to)


def spreads(layout: _C.Layout | None, dim: int, index: Array) -> bool:
    """Return whether ``x[:, index]`` is to be cut along the index, which all ranks have
    and which is not in the order of the parts: if that is large, and `x` is cut along
    `dim` alone."""
    if layout is None or index.ndim == 0 or not cut_alone(layout, dim):
        return False
    size = math.prod(layout.shape)
    found = index.size * (size // max(layout.shape[dim], 1))
    return min(size, found) >= routes.LEAST_SIZE


def spread_index(layout: _C.Layout, dim: int, index: Array) -> _C.DTensor:
    """Return an index that all ranks have cut along its first dim as `dim` is."""
    cut = [
        _C.Shard(0) if m in layout.cut_by(dim) else _C.Replicate()
        for m in range(layout.mesh.ndim)
    ]
    cuts = (layout.cuts or {}).get(dim) if len(index) == layout.shape[dim] else None
    index = index.astype(np.int64, copy=False)
    to = _C.Layout(
        layout.mesh, cut, index.shape, index.dtype, cuts={0: cuts} if cuts else None
    )
    return place(index, to)


def spread(
    name: str, x: _C.DTensor, dim: int, index: Array, owner: Array | None = None
) -> _C.DTensor:
    """Return ``x[:, index]``, where `x` is cut along `dim` alone.

    Collective: sends each row that is asked for once.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
    dim : int
    index : array
        Within `dim`, from 0; all ranks have it.
    owner : array, optional
        The part that each element of the index is in, if that is known.
    """
    own = spread_index(x.layout, dim, index)
    to = fetched_layout(x.layout, dim, own)
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    with within(name, x, dim, index):
        route, asked = _way_of_all(name, x.layout, dim, own.layout, index, owner)
        rows = route.back(np.moveaxis(local(x), dim, 0)[asked])
        return _in_place(rows, dim, own, to)


def _way_of_all(
    name: str,
    layout: _C.Layout,
    dim: int,
    cut: _C.Layout,
    index: Array,
    owner: Array | None,
) -> tuple[Route, Array]:
    """Return what `way_to_owners` does for an index that all ranks have, `cut` as it is
    asked for. Nothing is sent."""
    ranges = ranges_of(layout, dim)
    count, mine = len(ranges), part_number(layout, dim)
    each = index[:1].size  # elements of the index in one of its rows
    lengths = [(stop - start) * each for start, stop in ranges_of(cut, 0)]
    if owner is None:
        owner = np.searchsorted([stop for _, stop in ranges], index.ravel(), "right")
    asker = np.repeat(np.arange(count), lengths)
    sizes = np.bincount(asker * count + owner, minlength=count * count)
    own = owner[sum(lengths[:mine]) : sum(lengths[: mine + 1])]
    rows = routes.rows_of(layout, dim)
    order = np.argsort(own, kind="stable")
    route = Route(name, rows, mine, order, sizes.reshape(count, count))
    return route, index.ravel()[owner == mine] - ranges[mine][0]


def _in_place(rows: Array, dim: int, index: _C.DTensor, to: _C.Layout) -> _C.DTensor:
    """Return rows, one for each element of an index, in the place of `dim`."""
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
