"""Rows of a tensor in another order, which every rank knows: each is sent once."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops.index.fetched import cut_alone, spread

__all__ = ["reordered"]

Integers = npt.NDArray[np.int64]


def reordered(name: str, x: Any, order: Integers, axis: int) -> Any:
    """Return ``np.take(x, order, axis)`` of an order of all rows.

    Collective if `x` is cut along `axis`. If no other dim is cut, each row is sent to
    where it belongs; otherwise the rows are gathered.
    """
    dim = axis % x.ndim
    if not isinstance(x, _C.DTensor) or not cut_alone(x.layout, dim):
        return np.take(x, order, axis=axis)
    result = spread(name, x.detach(), dim, order)

    def back(grad: Any) -> Any:
        return reordered(name, grad, np.argsort(order), dim)

    _C.record_function(name, back, (x,), (result,))
    return result
