"""The factors of a block of columns, which one rank has: LU, and reflections."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["factor", "permuted", "reflections", "unit_lower"]

Array = npt.NDArray[Any]

# As many columns are eliminated one at a time.
NARROW = 8


def unit_lower(panel: Array) -> Array:
    """Return what is below the diagonal, with ones on it."""
    lower = np.tril(panel, -1)
    np.fill_diagonal(lower, 1)
    return lower


# --- LU -------------------------------------------------------------------------------


def permuted(rows: Array, pivots: Array) -> None:
    """Swap row 0 with row `pivots[0]`, and so on."""
    order = np.arange(len(rows))
    for k, pivot in enumerate(pivots.tolist()):
        order[[k, pivot]] = order[[pivot, k]]
    moved = np.flatnonzero(order != np.arange(len(rows)))
    rows[moved] = rows[order[moved]]


def factor(panel: Array) -> Array:
    """Factor a panel in place, with partial pivoting, and return its pivots.

    The halves of the columns one after the other (Toledo, "Locality of reference in LU
    decomposition with partial pivoting", 1997). A column of zeros stays as it is.
    """
    columns = panel.shape[1]
    if columns <= NARROW:
        return _eliminate(panel)
    half = columns // 2
    left, right = panel[:, :half], panel[:, half:]
    first = factor(left)
    permuted(right, first)
    right[:half] = np.linalg.solve(unit_lower(left[:half]), right[:half])
    right[half:] -= left[half:] @ right[:half]
    second = factor(right[half:])
    permuted(left[half:], second)
    return np.concatenate([first, second + half])


def _eliminate(panel: Array) -> Array:
    pivots = np.empty(panel.shape[1], int)
    for k in range(panel.shape[1]):
        pivots[k] = pivot = k + int(np.argmax(np.abs(panel[k:, k])))
        if panel[pivot, k] == 0:
            continue
        if pivot != k:
            panel[[k, pivot]] = panel[[pivot, k]]
        panel[k + 1 :, k] /= panel[k, k]
        panel[k + 1 :, k + 1 :] -= np.outer(panel[k + 1 :, k], panel[k, k + 1 :])
    return pivots


# --- QR -------------------------------------------------------------------------------


def reflections(packed: Array, scales: Array) -> tuple[Array, Array]:
    """Return v and t of LAPACK's reflections: their product is ``1 - v t v^H``
    (Schreiber, Van Loan, "A storage-efficient WY representation", 1989)."""
    count = len(scales)
    v = unit_lower(packed[:, :count])
    inner = np.conj(v.T) @ v
    t = np.zeros((count, count), packed.dtype)
    for k in range(count):
        t[k, k] = scales[k]
        t[:k, k] = -scales[k] * (t[:k, :k] @ inner[:k, k])
    return v, t
