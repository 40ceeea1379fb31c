"""LU factors of small matrices, packed as LAPACK packs them, and their permutations."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, rule

__all__ = ["factored", "permuted"]

Array = npt.NDArray[Any]


@operator(name="lu_factor", operands=1)
def factored(a: Operand, pivot: bool = True) -> Answer:
    """Return the factors of matrices in one array, and their pivots, from 1 on.

    The unit lower factor is below the diagonal. Matrices must not be cut; batches may
    be.
    """
    *lead, m, n = a.shape
    names = letters(len(lead))
    results = [[*names, str(m), str(n)], [*names, str(min(m, n))]]
    return rule([[*names, "*", "*"]], results), call(_factored, a, pivot)


@np.errstate(all="ignore")
def _factored(a: Array, pivot: bool) -> tuple[Array, Array]:
    *lead, m, n = a.shape
    lu = a.reshape(math.prod(lead), m, n).astype(np.promote_types(a.dtype, np.float32))
    pivots = np.empty((len(lu), min(m, n)), np.int32)
    each = np.arange(len(lu))
    for k in range(min(m, n)):
        size = np.abs(lu[:, k:, k].real) + np.abs(lu[:, k:, k].imag)  # as LAPACK's
        row = np.argmax(size, 1) + k if pivot else np.full(len(lu), k)
        pivots[:, k] = row + 1
        lu[each, row], lu[:, k] = lu[:, k].copy(), lu[each, row]
        top = lu[:, k, k, None]
        lu[:, k + 1 :, k] = np.where(top == 0, 0, lu[:, k + 1 :, k] / top)
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return lu.reshape(a.shape), pivots.reshape(*lead, min(m, n))


@operator(name="lu_permutation", operands=1)
def permuted(pivots: Operand, m: int) -> Answer:
    """Return P of ``A = P @ L @ U`` as the row of A that each row of L is of."""
    *lead, _ = pivots.shape
    names = letters(len(lead))
    return rule([[*names, "*"]], [[*names, str(m)]]), call(_permuted, pivots, m)


def _permuted(pivots: Array, m: int) -> Array:
    *lead, count = pivots.shape
    flat = pivots.reshape(math.prod(lead), count)
    rows = np.tile(np.arange(m), (len(flat), 1))
    each = np.arange(len(flat))
    for k in range(min(count, m)):
        other = flat[:, k] - 1
        rows[each, other], rows[:, k] = rows[:, k].copy(), rows[each, other]
    return rows.reshape(*lead, m)
