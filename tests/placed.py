"""Tensors cut from one array, in every layout."""

import itertools
import os
from collections.abc import Iterator

import numpy as np

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
)

__all__ = ["cut_unevenly", "layouts", "placed"]

WHOLE = bool(os.environ.get("DTENSOR_WHOLE"))  # ./run validate sets it


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
    """The layouts of a mesh of `count` dims; quick runs take some where there are two.

    These have each placement on each mesh dim, beside itself and beside another one.
    """
    kinds = [Replicate(), Partial(), *map(Shard, range(ndim))]
    if count == 2 and not WHOLE:
        return iter([[p, q] for k, p in enumerate(kinds) for q in (p, kinds[k - 1])])
    return map(list, itertools.product(kinds, repeat=count))


def cut_unevenly(array: np.ndarray, mesh: DeviceMesh) -> Iterator[DTensor]:
    """The array cut along its first dim into parts some of which are empty."""
    count = mesh.size()
    placements = [Shard(0)] * mesh.ndim
    for first in range(min(count, 3)):
        inner = [min(k, len(array)) for k in range(1, count - first)]
        cuts = (*[0] * (first + 1), *inner, len(array))
        layout = Layout(mesh, placements, array.shape, array.dtype, cuts={0: cuts})
        yield distribute_tensor(array, mesh, placements).redistribute(placements=layout)
