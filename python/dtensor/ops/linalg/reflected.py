"""Reflections that make elements of a vector 0, and products of many of them.

Those of a panel are ``1 - v^T t conj(v)`` with a vector in each line of v (Schreiber,
Van Loan, "A storage-efficient WY representation for products of Householder
transformations", 1989).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops.linalg.panels import less_product

__all__ = ["compact", "reflect", "reflection"]

Array = npt.NDArray[Any]


def reflection(first: Any, rest: float) -> tuple[float, Any, Any]:
    """Return what an element becomes when all below it become 0, by which scale they
    become those of v, whose first one is 1, and the scale t of ``1 - t v v^H``, whose
    adjoint does it.

    Parameters
    ----------
    first : number
        The element.
    rest : float
        The norm of those below.
    """
    real, imaginary = float(first.real), float(first.imag)
    if rest == 0 and imaginary == 0:
        return real, 0.0, 0.0
    size = float(np.hypot(np.hypot(real, imaginary), rest))
    beta = -size if real >= 0 else size
    value = first if np.iscomplexobj(first) else real
    return beta, 1 / (value - beta), (beta - value) / beta


def compact(lines: Array, scales: Array) -> Array:
    """Return t of the reflections with these v, in this order."""
    inner = np.conj(lines) @ lines.T
    t = np.zeros(inner.shape, lines.dtype)
    for k, scale in enumerate(scales):
        t[k, k] = scale
        t[:k, k] = -scale * (t[:k, :k] @ inner[:k, k])
    return t


def reflect(some: Array, v: Array, t: Array) -> None:
    """Apply reflections to columns, of which one is in each line."""
    less_product(some, (some @ np.conj(v.T)) @ t.T, v)
