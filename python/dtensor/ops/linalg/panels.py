"""The factors of a block of columns, which one rank has: LU, and reflections; division
by triangles."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = [
    "adjoint",
    "divided",
    "divided_upper",
    "factor",
    "less_product",
    "order_of",
    "reflections",
    "swapped",
    "unit_lower",
]

Array = npt.NDArray[Any]

# As many lines are factored, or divided, one at a time: by kernels of real numbers, and
# by NumPy's functions of complex ones.
NARROW, NARROW_COMPLEX = 32, 8
# Rows and columns of what is subtracted at once: it stays in the cache.
TILE = (256, 4096)


def adjoint(a: Array) -> Array:
    """Return the conjugate transpose; of real numbers a view."""
    return np.conj(a.T) if a.dtype.kind == "c" else a.T


def less_product(target: Array, left: Array, right: Array) -> None:
    """Subtract a product from an array, tile by tile."""
    rows, columns = TILE
    for i in range(0, target.shape[0], rows):
        some = left[i : i + rows]
        for j in range(0, target.shape[1], columns):
            tile = target[i : i + rows, j : j + columns]
            np.subtract(tile, some @ right[:, j : j + columns], out=tile)


def _narrow(lines: Array) -> int:
    return NARROW_COMPLEX if lines.dtype.kind == "c" else NARROW


# --- triangles ------------------------------------------------------------------------


def divided(lower: Array, right: Array) -> Array:
    """Return the solution of equations with a lower triangle, by substitution."""
    found = np.array(right, order="C")
    with np.errstate(all="ignore"):
        _divide(lower, found)
    return found


def _divide(lower: Array, right: Array) -> None:
    """Divide in place: the first half of the rows, then what is left of the others."""
    if len(lower) > _narrow(right):
        half = len(lower) // 2
        _divide(lower[:half, :half], right[:half])
        right[half:] -= lower[half:, :half] @ right[:half]
        _divide(lower[half:, half:], right[half:])
        return
    if right.dtype.kind != "c":
        _C.divide_rows(lower, right)
        return
    for k, row in enumerate(right):
        row /= lower[k, k]
        right[k + 1 :] -= lower[k + 1 :, k, None] * row


def divided_upper(upper: Array, right: Array) -> Array:
    """Return the solution of equations with an upper triangle."""
    found = divided(upper[::-1, ::-1], right[::-1])
    return np.ascontiguousarray(found[::-1])


def unit_lower(panel: Array) -> Array:
    """Return what is below the diagonal, with ones on it."""
    lower = np.tril(panel, -1)
    np.fill_diagonal(lower, 1)
    return lower


# --- LU -------------------------------------------------------------------------------


def _exchanged(pivots: Array) -> dict[int, int]:
    """Return which row is where, of those that are not in their place, after row 0 is
    swapped with row `pivots[0]`, and so on."""
    at: dict[int, int] = {}
    for k, pivot in enumerate(pivots.tolist()):
        at[k], at[pivot] = at.get(pivot, pivot), at.get(k, k)
    return at


def order_of(pivots: Array) -> Array:
    """Return the numbers of the rows that these swaps bring to the top."""
    at = _exchanged(pivots)
    return np.array([at[k] for k in range(len(pivots))], int)


def swapped(chosen: Array) -> tuple[Array, Array]:
    """Return where rows go to, and which these are, if each of the chosen ones in turn
    is swapped with the one in its place at the top."""
    at: dict[int, int] = {}
    place: dict[int, int] = {}
    for k, row in enumerate(chosen.tolist()):
        old, other = place.get(row, row), at.get(k, k)
        at[old], place[other] = other, old
        at[k], place[row] = row, k
    return np.array(list(at), int), np.array(list(at.values()), int)


def _permuted(lines: Array, pivots: Array) -> None:
    at = _exchanged(pivots)
    lines[:, list(at)] = lines[:, list(at.values())]


def factor(lines: Array) -> Array:
    """Factor a panel in place, with partial pivoting, and return its pivots.

    The halves of the columns one after the other (Toledo, "Locality of reference in LU
    decomposition with partial pivoting", 1997). A column of zeros stays as it is.

    Parameters
    ----------
    lines : array
        The columns of the panel, one below the other: its transpose.
    """
    columns = len(lines)
    if columns <= _narrow(lines):
        return _eliminate(lines) if lines.dtype.kind == "c" else _C.eliminate(lines)
    half = columns // 2
    left, right = lines[:half], lines[half:]
    first = factor(left)
    _permuted(right, first)
    right[:, :half] = divided(unit_lower(left[:, :half].T), right[:, :half].T).T
    right[:, half:] -= right[:, :half] @ left[:, half:]
    second = factor(right[:, half:])
    _permuted(left[:, half:], second)
    return np.concatenate([first, second + half])


def _eliminate(lines: Array) -> Array:
    pivots = np.empty(len(lines), int)
    for k, line in enumerate(lines):
        pivots[k] = pivot = k + int(np.argmax(np.abs(line[k:])))
        if line[pivot] == 0:
            continue
        if pivot != k:
            lines[:, [k, pivot]] = lines[:, [pivot, k]]
        line[k + 1 :] /= line[k]
        rest = lines[k + 1 :]
        rest[:, k + 1 :] -= rest[:, k, None] * line[k + 1 :]
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
