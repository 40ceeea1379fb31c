"""New arrays: matrices here, ranges and grids in files of their own.

Every element is computed as NumPy does, from its index, so that the bits are the same
in every layout."""

import operator as python
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.created import Placements, layout_of, made
from dtensor.ops._make.operator import implements
from dtensor.ops._make.parts import positions
from dtensor.ops.create import grids as _grid, ranges as _range
from dtensor.ops.create.grids import *  # noqa: F403
from dtensor.ops.create.ranges import *  # noqa: F403
from dtensor.ops.linalg.triangle import diagonal_number

__all__ = ["eye", "identity", "tri"]
__all__ += _grid.__all__
__all__ += _range.__all__

Array = npt.NDArray[Any]


@implements(np.eye)
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = float,
    order: Any = "C",
    *,
    device: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return a matrix of shape (N, M) with ones on diagonal `k`, zeros elsewhere.

    Parameters
    ----------
    N, M : int
        Rows and columns; by default as many.
    k : int, default 0
        Which diagonal; a positive one is above the main one.
    dtype : dtype_like, default float
    order, device : optional
        Without effect.
    device_mesh, placements : optional
        As of `arange`.
    """
    layout = layout_of((N, N if M is None else M), dtype, device_mesh, placements)
    k = max(-layout.shape[0], min(python.index(k), layout.shape[1]))

    def part(own: _C.Layout) -> Array:
        rows, columns = positions(own, 0), positions(own, 1)
        return np.equal.outer(rows + k, columns)

    return made(layout, part)


@implements(np.identity)
def identity(
    n: int,
    dtype: npt.DTypeLike | None = None,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return a square matrix with ones on the main diagonal; see `eye`."""
    dtype = float if dtype is None else dtype
    return eye(n, dtype=dtype, device_mesh=device_mesh, placements=placements)


@implements(np.tri)
def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = float,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return a matrix with ones on and below diagonal `k`; parameters as of `eye`."""
    shape = max(N, 0), max(N if M is None else M, 0)
    layout = layout_of(shape, dtype, device_mesh, placements)
    diagonal = diagonal_number(k, shape)

    def part(own: _C.Layout) -> Array:
        rows, columns = positions(own, 0), positions(own, 1)
        return np.greater_equal.outer(rows + diagonal, columns)

    return made(layout, part)
