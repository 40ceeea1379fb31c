"""Where elements are not zero: nonzero and its kin. Collective: the ranks count."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import settled
from dtensor.ops._make.fallback import composed
from dtensor.ops._make.operator import method
from dtensor.ops._make.parts import (
    counted,
    inside,
    local,
    make,
    move,
    positions,
)
from dtensor.ops.index.pick import leading

__all__ = ["argwhere", "flatnonzero", "nonzero"]

Array = npt.NDArray[Any]


def _found(name: str, a: Any) -> tuple[list[Array], _C.Layout]:
    """Return where this rank's elements are not zero, and the layout of one dim that
    such indices have. Collective: the ranks count."""
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
    """Return the indices of the elements that are not zero, for each dim.

    Each rank finds its own; the results are cut where `a` is. Collective.

    Parameters
    ----------
    a : DTensor
        Of one dim at least.

    Returns
    -------
    tuple of DTensor of int64, shape (n,)
    """
    found, layout = _found("nonzero", a)
    return tuple(make(index, layout) for index in found)


@composed(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Return the indices of the elements that are not zero, in the flattened array.

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
    """Return the indices of the elements that are not zero, a row for each.

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
