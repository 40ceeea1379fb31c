"""Tensors cut from one array, in every layout."""

import itertools
from collections.abc import Iterator

import numpy as np

from dtensor import DeviceMesh, DTensor, Partial, Placement, Replicate, Shard

__all__ = ["layouts", "placed"]


def placed(
    array: np.ndarray, mesh: DeviceMesh, placements: list[Placement]
) -> tuple[DTensor, np.ndarray]:
    """A tensor whose local arrays are cut from one, and its whole."""
    whole = [p if isinstance(p, Shard) else Replicate() for p in placements]
    part = DTensor.from_local(array, mesh, [Replicate()] * mesh.ndim)
    part = part.redistribute(placements=whole).to_local()
    x = DTensor.from_local(np.asarray(part), mesh, placements, shape=array.shape)
    return x, np.asarray(x.full_tensor())


def layouts(ndim: int, count: int) -> Iterator[list[Placement]]:
    kinds = [Replicate(), Partial(), *map(Shard, range(ndim))]
    return map(list, itertools.product(kinds, repeat=count))
