"""The parameters of an optimizer as one vector, without putting them together.

A vector is a list with a tensor for each parameter, laid out like it. Complex numbers
count as pairs of real ones.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor._C import DTensor

__all__ = ["Vector", "dot", "largest", "moved", "size_of"]

Vector = list[Any]


def dot(a: Vector, b: Vector) -> Any:
    """Return the inner product of two vectors. Collective: one number for each mesh."""
    return _number([np.sum(x * y) for x, y in _reals(a, b)], np.add)


def size_of(a: Vector) -> Any:
    """Return the sum of absolute values. Collective, as `dot` is."""
    return _number([np.sum(np.abs(x)) for (x,) in _reals(a)], np.add)


def largest(a: Vector) -> Any:
    """Return the largest absolute value. Collective, as `dot` is."""
    parts = [np.max(np.abs(x)) for (x,) in _reals(a) if x.numel()]
    return _number(parts, np.maximum)


def moved(a: Vector, b: Vector, factor: Any) -> Vector:
    """Return ``a + factor * b``."""
    return [x + float(factor) * y for x, y in zip(a, b, strict=True)]


def _reals(*vectors: Vector) -> Any:
    """Yield the real tensors that vectors consist of, beside each other."""
    for tensors in zip(*vectors, strict=True):
        if tensors[0].dtype.kind == "c":
            yield [x.real for x in tensors]
            yield [x.imag for x in tensors]
        else:
            yield tensors


def _number(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Return what numbers on several meshes come to; those of a mesh are joined first,
    while they are pending."""
    found: dict[Any, Any] = {}
    for part in parts:
        mesh = part.device_mesh if isinstance(part, DTensor) else None
        found[mesh] = join(found[mesh], part) if mesh in found else part
    total: Any = np.float64(0)
    for part in found.values():
        total = join(total, np.float64(float(part)))
    return total
