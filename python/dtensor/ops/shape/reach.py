"""Functions of parts and of the rows that they reach: windows, differences, filters.

Each part of the result is made of some rows of a cut dim. Those that other ranks have
are sent, once; the function is called on each rank's rows, and is made of operators, so
that it has a gradient.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.device import is_meta
from dtensor.ops._make.parts import inside
from dtensor.ops._make.routes import Range, part_number
from dtensor.ops.shape.borders import Rows, bordered

__all__ = ["by_rows"]


def by_rows(
    name: str,
    x: _C.DTensor,
    dim: int,
    wanted: Sequence[Range],
    to: _C.Layout,
    function: Callable[..., Any],
    *others: _C.DTensor,
) -> _C.DTensor:
    """Return a tensor each part of which is a function of some rows of another.

    Collective: the rows are sent, and the ranks agree on the result.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    x : DTensor
        `reachable` along `dim`.
    wanted : sequence of (int, int)
        The rows that each part of `dim` wants, from and up to.
    to : Layout
        Of the result.
    function : callable
        ``function(rows, number, *others)`` gets a Tensor of rows and the number of the
        part, and returns a Tensor.
    *others : DTensor
        Replicated ones, of which it gets the whole.
    """
    if is_meta(x):
        return _C.without_data(to)
    y = bordered(x, Rows(dim, tuple(wanted)))
    part: Any = np.empty(0, to.dtype)
    try:
        if inside(y.layout):
            spread = [
                _C.Replicate() if p._cut_dim is None else _C.Partial()
                for p in y.placements
            ]
            whole = [other.to_local(grad_placements=spread) for other in others]
            part = function(y.to_local(), part_number(x.layout, dim), *whole)
            if not part.numel():  # gradients go to the same operands on all ranks
                part = math.prod((other.sum() for other in whole), start=part)
                part = part.astype(to.dtype, copy=False)
    except Exception as error:
        if inside(y.layout):
            world.current().agree(b"", name, error, y.device_mesh)
        raise
    return _C.DTensor.from_local(part, y.device_mesh, y.placements)
