"""Indices of nonzero elements: nonzero, flatnonzero, argwhere. Collective."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import settled
from dtensor.ops._make.fallback import composed
from dtensor.ops._make.operator import method
from dtensor.ops._make.parts import counted, inside, local, make, move, positions
from dtensor.ops.index.pick import leading

__all__ = ["argwhere", "flatnonzero", "nonzero"]

Array = npt.NDArray[Any]


def _found(name: str, a: Any) -> tuple[list[Array], _C.Layout]:
    """Return the indices of this rank's nonzero elements, and the one-dimensional
    layout of such indices. Collective: the ranks exchange their counts."""
    a = settled(name, a)
    if a.ndim == 0:
        np.nonzero(np.empty(()))  # raises
    layout = leading(a.layout, 0, a)
    part = local(move(name, a, layout))
    model = layout.like(a.shape[:1], {0: 0}, np.intp)
    if not inside(layout):
        return [np.empty(0, np.intp)] * a.ndim, counted(model, 0, 0)
    first, *others = part.nonzero()
    first = positions(layout, 0)[first]
    return [first, *others], counted(model, 0, first.size)


@method
@composed(np.nonzero)
def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of the nonzero elements, for each dim.

    Each rank finds its own; the results are cut where `a` is. Collective.

    Parameters
    ----------
    a : DTensor
        With at least one dim.

    Returns
    -------
    tuple of DTensor of int64, shape (n,)
    """
    found, layout = _found("nonzero", a)
    return tuple(make(index, layout) for index in found)


@composed(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Return the indices of the nonzero elements in the flattened array.

    Parameters
    ----------
    a : DTensor
        Of any shape.

    Returns
    -------
    DTensor of int64, shape (n,)
    """
    a = np.atleast_1d(a)
    found, layout = _found("flatnonzero", a)
    if inside(layout):
        found[:1] = [np.ravel_multi_index(tuple(found), a.shape)]
    return make(found[0], layout)


@composed(np.argwhere)
def argwhere(a: Any) -> Any:
    """Return the indices of the nonzero elements, one row for each.

    Parameters
    ----------
    a : DTensor
        Of any shape.

    Returns
    -------
    DTensor of int64, shape (n, a.ndim)
    """
    found, layout = _found("argwhere", np.atleast_1d(a))
    rows = np.stack(found, axis=1)[:, : a.ndim]
    shape = (layout.shape[0], a.ndim)
    return make(rows, layout.like(shape, {0: 0}, np.intp))
