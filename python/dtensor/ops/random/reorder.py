"""Rows of a tensor in another order, which every rank knows: each is sent once."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make
from dtensor.ops._make.routes import exchanged, part_number, ranges_of, reachable

__all__ = ["reordered"]

Integers = npt.NDArray[np.int64]


def reordered(name: str, x: Any, order: Integers, axis: int) -> Any:
    """Return ``np.take(x, order, axis)`` of an order of all rows.

    Collective if `x` is cut along `axis`. If that is dim 0, and no other is cut, each
    row is sent to where it belongs; otherwise the rows are gathered.
    """
    if not _in_parts(x, axis):
        return np.take(x, order, axis=axis)
    with within(name, x, order):
        result = _exchanged(name, x.detach(), order)

    def back(grad: Any) -> Any:
        return reordered(name, grad, np.argsort(order), 0)

    _C.record_function(name, back, (x,), (result,))
    return result


def _in_parts(x: Any, axis: int) -> bool:
    if not isinstance(x, _C.DTensor) or axis not in (0, -x.ndim) or is_meta(x):
        return False
    rest = any(x.layout.is_cut(dim) for dim in range(1, x.ndim))
    return reachable(x.layout, 0) and not rest


def _exchanged(name: str, x: _C.DTensor, order: Integers) -> _C.DTensor:
    layout = x.layout
    if not inside(layout):
        return make((), layout)
    own, mine = ranges_of(layout, 0), part_number(layout, 0)
    ends = [stop for _, stop in own]
    source = np.searchsorted(ends, order, "right")  # the part that has each row
    sizes = np.stack(
        [np.bincount(source[a:b], minlength=len(own)) for a, b in own], axis=1
    )
    cuts = tuple(range(len(own) + 1))
    alone = layout.like((layout.shape[0],), {0: 0}).placements
    rows = _C.Layout(layout.mesh, alone, (len(own),), np.int64, cuts={0: cuts})
    (start, stop), part = own[mine], local(x)
    sent = part[order[source == mine] - start].ravel()
    (came,) = exchanged(name, rows, [sent], sizes * math.prod(x.shape[1:]), mine)
    result = np.empty_like(part)
    result[np.argsort(source[start:stop], kind="stable")] = came.reshape(part.shape)
    return make(result, layout)
