"""Factors of small matrices that may not have them: what failed is a number, no error.

Cholesky factors of matrices that may not be positive definite, and those of Bunch and
Kaufman of symmetric matrices, ``A = L @ D @ L.T``, where D has blocks of one and two.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg import gradient as back

__all__ = ["cholesky_info", "ldl", "ldl_whole", "reflectors"]

Array = npt.NDArray[Any]
_GROWTH = (1 + math.sqrt(17)) / 8  # from which element on a pivot is taken alone


def _batches(a: Operand, *results: list[str]) -> Any:
    """Return the rule of a function of matrices that are not cut."""
    names = letters(a.ndim - 2)
    return rule([[*names, "*", "*"]], [[*names, *word] for word in results])


# --- Cholesky -------------------------------------------------------------------------


@operator(name="cholesky_ex")
def cholesky_info(a: Operand) -> Answer:
    """Return lower factors, and orders of the first minors that are not positive, or 0.

    Of a matrix that has no factor there are those columns that were computed. Orders
    are floats: beside integers, no factor would be kept for the gradient.
    """
    n = str(a.shape[-1])
    return _batches(a, [n, n], []), call(_cholesky_info, a)


@np.errstate(all="ignore")
def _cholesky_info(a: Array) -> tuple[Array, Array]:
    found = np.empty(a.shape, np.result_type(a, np.float32))
    info = np.zeros(a.shape[:-2], found.real.dtype)
    for index in np.ndindex(*a.shape[:-2]):
        try:
            found[index] = np.linalg.cholesky(a[index])
        except np.linalg.LinAlgError:
            found[index], info[index] = _until(a[index])
    return found, info


def _until(a: Array) -> tuple[Array, int]:
    """Return the columns of a factor up to the first that is none, and its place."""
    low = np.tril(a)
    for k in range(len(a)):
        low[k, k] -= (np.abs(low[k, :k]) ** 2).sum()
        if not low[k, k].real > 0:
            return low, k + 1
        low[k, k] = np.sqrt(low[k, k])
        low[k + 1 :, k] -= low[k + 1 :, :k] @ low[k, :k].conj()
        low[k + 1 :, k] /= low[k, k]
    return low, 0


def _cholesky_info_back(grad: Any, out: Any, _a: Any) -> Any:
    return None if grad[0] is None else back.of_cholesky(grad[0], out[0], False)


cholesky_info.vjp(_cholesky_info_back)

# --- symmetric matrices ---------------------------------------------------------------


@operator(name="ldl_factor", operands=1)
def ldl(a: Operand, hermitian: bool = False) -> Answer:
    """Return factors of the lower triangles, packed as LAPACK packs them, their pivots,
    and the place of the first block of D that is 0, or 0."""
    n = str(a.shape[-1])
    return _batches(a, [n, n], [n], []), call(_ldl, a, hermitian)


def _ldl(a: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    found = np.tril(a).astype(np.result_type(a, np.float32))
    pivots = np.zeros(a.shape[:-1], np.int32)
    info = np.zeros(a.shape[:-2], np.int32)
    for index in np.ndindex(*a.shape[:-2]):
        info[index] = _bunch_kaufman(found[index], pivots[index], hermitian)
    return found, pivots, info


def _size(x: Any) -> Any:
    return np.abs(x.real) + np.abs(x.imag)


def _bunch_kaufman(a: Array, pivots: Array, hermitian: bool) -> int:
    """Factor a lower triangle in place; as LAPACK's ``sytf2`` and ``hetf2``."""
    n, k, info = len(a), 0, 0
    turned = np.conj if hermitian else np.asarray
    while k < n:
        width, row = 1, k
        here = abs(a[k, k].real) if hermitian else _size(a[k, k])
        below = _size(a[k + 1 :, k])
        most = np.max(below, initial=0)
        if max(here, most) == 0:
            info = info or k + 1
            pivots[k] = k + 1
            k += 1
            continue
        if here < _GROWTH * most:
            row = k + 1 + int(below.argmax())
            others = [
                np.max(_size(a[row, k:row])),
                np.max(_size(a[row + 1 :, row]), initial=0),
            ]
            widest = max(others)
            there = abs(a[row, row].real) if hermitian else _size(a[row, row])
            if here >= _GROWTH * most * (most / widest):
                row = k
            elif there < _GROWTH * widest:
                width = 2
        last = k + width - 1
        _exchange(a, last, row, turned)
        if width == 2:
            a[[last, row], k] = a[[row, last], k] if last != row else a[[last, row], k]
        if hermitian:
            a[last, last], a[k, k] = a[last, last].real, a[k, k].real
        _eliminate(a, k, width, hermitian)
        pivots[k : k + width] = row + 1 if width == 1 else -(row + 1)
        k += width
    return info


def _exchange(a: Array, k: int, row: int, turned: Any) -> None:
    """Exchange a row and column with a later one, in the lower triangle."""
    if k == row:
        return
    a[row + 1 :, [k, row]] = a[row + 1 :, [row, k]]
    between = turned(a[k + 1 : row, k]).copy()
    a[k + 1 : row, k] = turned(a[row, k + 1 : row])
    a[row, k + 1 : row] = between
    a[row, k] = turned(a[row, k])
    a[k, k], a[row, row] = a[row, row], a[k, k]


def _eliminate(a: Array, k: int, width: int, hermitian: bool) -> None:
    """Divide the columns of a block by it, and take their products from the rest."""
    stop = k + width
    block = np.tril(a[k:stop, k:stop])
    block = block + (np.tril(block, -1).conj().T if hermitian else np.tril(block, -1).T)
    columns = a[stop:, k:stop].copy()
    scaled = np.linalg.solve(block.T, columns.T).T if len(columns) else columns
    change = scaled @ (columns.conj().T if hermitian else columns.T)
    a[stop:, stop:] -= np.tril(change)
    a[stop:, k:stop] = scaled


@operator(name="ldl_whole", operands=2)
def ldl_whole(packed: Operand, pivots: Operand, hermitian: bool = False) -> Answer:
    """Return the matrices whose factors are given: see `ldl`."""
    names, n = letters(packed.ndim - 2), str(packed.shape[-1])
    text = rule([[*names, "*", "*"], [*names, "*"]], [[*names, n, n]])
    return text, call(_whole, packed, pivots, hermitian)


def _whole(packed: Array, pivots: Array, hermitian: bool) -> Array:
    found = np.empty_like(packed)
    for index in np.ndindex(*packed.shape[:-2]):
        found[index] = _multiplied(packed[index], pivots[index], hermitian)
    return found


def _multiplied(packed: Array, pivots: Array, hermitian: bool) -> Array:
    n, k, starts = len(packed), 0, []
    while k < n:
        starts.append((k, 1 if pivots[k] > 0 else 2))
        k += starts[-1][1]
    whole = np.zeros_like(packed)
    for k, width in reversed(starts):
        stop, last = k + width, k + width - 1
        block = np.tril(packed[k:stop, k:stop])
        rest = np.tril(block, -1)
        block = block + (rest.conj().T if hermitian else rest.T)
        column = np.vstack([np.eye(width, dtype=packed.dtype), packed[stop:, k:stop]])
        whole[k:, k:] += column @ block @ (column.conj().T if hermitian else column.T)
        row = abs(int(pivots[last])) - 1
        whole[[last, row]] = whole[[row, last]]
        whole[:, [last, row]] = whole[:, [row, last]]
    return whole


# --- reflections ----------------------------------------------------------------------


@operator(name="geqrf", operands=1)
def reflectors(a: Operand) -> Answer:
    """Return R with the vectors of the reflections below it, and their factors."""
    m, n = a.shape[-2:]
    return _batches(a, [str(m), str(n)], [str(min(m, n))]), call(_reflectors, a)


def _reflectors(a: Array) -> tuple[Array, Array]:
    packed, tau = np.linalg.qr(a.astype(np.result_type(a, np.float32)), "raw")
    kept = np.result_type(a, np.float32)
    return np.swapaxes(packed, -2, -1).astype(kept), tau.astype(kept)
