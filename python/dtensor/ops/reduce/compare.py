"""Comparisons of whole arrays: a Python bool, the same on all ranks."""

from typing import Any

import numpy as np

from dtensor.ops._make.operator import implements
from dtensor.ops.elementwise.functions import isclose
from dtensor.ops.elementwise.pointwise import equal, logical_and, logical_or
from dtensor.ops.reduce.reductions import all

__all__ = ["allclose", "array_equal", "array_equiv"]


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


@implements(np.allclose)
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are equal within a tolerance: see `numpy.allclose`.

    Collective; one bool is reduced."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether shapes and elements are equal: see `numpy.array_equal`.

    Collective if the shapes are equal; one bool is reduced."""
    if _shape(a1) != _shape(a2):
        return False
    if not equal_nan:
        return bool(all(equal(a1, a2)))
    nan = logical_and(np.isnan(a1), np.isnan(a2))
    return bool(all(logical_or(equal(a1, a2), nan)))


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether arrays are equal after they are broadcast: see
    `numpy.array_equiv`. Collective if they can be broadcast."""
    try:
        np.broadcast_shapes(_shape(a1), _shape(a2))
    except ValueError:
        return False
    return bool(all(equal(a1, a2)))
