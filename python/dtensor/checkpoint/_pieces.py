"""Which bytes of a tensor each rank writes: one contiguous range in the file, and no
byte is written twice."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import DTensor
from dtensor.checkpoint._plan import array_of
from dtensor.placement_types import Shard

__all__ = ["copied", "piece"]

Array = npt.NDArray[Any]


def piece(leaf: Any, owners: Sequence[int], rank: int) -> tuple[int, Array] | None:
    """Return the bytes of a tensor that this rank writes, and where they begin.

    A plain tensor, and a fully replicated DTensor, are split evenly among the ranks
    that have them. Of any other DTensor each rank writes some rows; it is redistributed
    to rows if needed. If several meshes have it, their ranks share the rows. Collective
    over the ranks of its mesh.

    Parameters
    ----------
    leaf : Tensor or ndarray
    owners : sequence of int
        The ranks that have it; for a DTensor, mesh by mesh.
    rank : int
        This rank.

    Returns
    -------
    tuple of int and ndarray, or None
        The offset in bytes from the beginning of the tensor, and a C-ordered array,
        which may share memory with the tensor. None: this rank writes nothing.
    """
    if not isinstance(leaf, DTensor):
        return _share(array_of(leaf), owners.index(rank), len(owners))
    mesh = leaf.device_mesh
    if mesh.get_coordinate() is None:
        return None
    if leaf.layout.is_replicated:
        return _share(array_of(leaf), owners.index(rank), len(owners))
    dim = next((d for d, length in enumerate(leaf.shape) if length != 1), 0)
    with_rows = leaf.detach()
    layout = leaf.layout
    if len(layout.cut_by(dim)) < mesh.ndim or layout.is_strided(dim):
        with_rows = with_rows.redistribute(placements=[Shard(dim)] * mesh.ndim)
    index, count = (k // mesh.size() for k in (owners.index(rank), len(owners)))
    share = _share(array_of(with_rows), index, count)
    if share is None:
        return None
    ((offsets, _),) = with_rows.layout.boxes()
    row_bytes = prod(leaf.shape[dim + 1 :]) * leaf.dtype.itemsize
    return offsets[dim] * row_bytes + share[0], share[1]


def _share(array: Array, index: int, count: int) -> tuple[int, Array] | None:
    """Return one of `count` equal shares of an array that several ranks have."""
    start, end = (array.size * k // count for k in (index, index + 1))
    if start == end:
        return None
    flat = array.reshape(-1)[start:end]
    return start * array.itemsize, np.ascontiguousarray(flat)


def copied(data: Array, leaf: Any) -> Array:
    """Return data that later writes to the tensor do not change."""
    return data.copy() if np.may_share_memory(data, array_of(leaf)) else data
