"""Least squares: `lstsq`."""

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from dtensor.ops._make.composite import array_of, as_dtype, composite
from dtensor.ops._make.operator import Operand, call, implements, operator
from dtensor.ops._make.parts import number_of
from dtensor.ops._make.recorded import recorded
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import adjoint
from dtensor.ops.linalg.gradient import of_least_squares
from dtensor.ops.linalg.tall_parts import (
    Factors,
    by_rows,
    common_dtype,
    is_tall,
    is_wide,
)

__all__ = ["lstsq"]


@operator(name="lstsq", operands=2, agrees=LinAlgError)
def _solution(a: Operand, b: Operand, rcond: float) -> Answer | Any:
    """Return the solution, the rank and the singular values."""
    if is_tall(a) or is_wide(a):
        return _solution_of_parts
    (m, n), right = a.shape, list(map(str, b.shape[1:]))
    whole = [["*"] * x.ndim for x in (a, b)]
    results = [[str(n), *right], [], [str(min(m, n))]]
    return rule(whole, results), call(_solved, a, b, rcond)


def _solved(a: Any, b: Any, rcond: float) -> Any:
    x, _, rank, s = np.linalg.lstsq(a, b, rcond)
    return x, rank, s


def _solution_of_parts(a: Any, b: Any, rcond: float) -> Any:
    return recorded("lstsq", _solved_in_parts, _back, (a, b), rcond)


def _solved_in_parts(a: Any, b: Any, rcond: float) -> Any:
    """Solve with the factors of `a`, or those of its adjoint."""
    tall = a.shape[0] >= a.shape[1]
    factors = Factors("lstsq", by_rows("lstsq", a if tall else adjoint(a)))
    q, r = factors.times(), factors.r
    if tall:
        return _solution(r, adjoint(q) @ b, rcond)
    x, rank, s = _solution(adjoint(r), b, rcond)
    return q @ x, rank, s


def _back(grad: Any, out: Any, a: Any, b: Any, _rcond: float) -> Any:
    return of_least_squares(grad[0], a, b)


@_solution.vjp_all
def _(_needs: Any, grad: Any, _out: Any, a: Any, b: Any, rcond: float) -> Any:
    return _back(grad, _out, a, b, rcond)


@implements(np.linalg.lstsq)
@composite
def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """Solve ``a @ x = b`` by least squares; of the solutions the shortest.

    Parameters
    ----------
    a : array, shape (m, n)
        A tall or wide matrix that is cut stays cut: what is sent is as small as a
        square of the shorter side.
    b : array, shape (m,) or (m, k)
    rcond : float, optional
        Singular values up to this, relative to the largest, count as 0.

    Returns
    -------
    x : array, shape (n,) or (n, k)
        Cut by rows if `a` is wide and in parts.
    residuals : array, shape (k,), (1,) or (0,)
        Sums of squares of ``b - a @ x``; none unless the rank is n < m.
    rank : array
    s : array
        The singular values of `a`.

    Raises
    ------
    LinAlgError
        If the dims do not agree, or the iteration does not converge.
    """
    a, b = array_of(a), array_of(b)
    for x in (a, b if np.ndim(b) != 1 else a):
        if np.ndim(x) != 2:
            raise LinAlgError(
                f"{np.ndim(x)}-dimensional array given. Array must be two-dimensional"
            )
    if a.shape[0] != b.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    dtype = common_dtype(a, b)
    a, b = as_dtype(a, dtype), as_dtype(b, dtype)
    m, n = a.shape
    if rcond is None:
        rcond = max(m, n) * float(np.finfo(float).eps)  # NumPy's, of any dtype
    x, rank, s = _solution(a, b, rcond)
    if getattr(a, "requires_grad", False):
        s = np.linalg.svdvals(a)
    left = b - a @ x
    left = left if left.ndim == 2 else np.expand_dims(left, 1)
    if m > n and number_of("lstsq", rank, n) == n:
        return x, np.sum(np.real(left * np.conj(left)), axis=0), rank, s
    return x, np.sum(np.real(left[:0]), axis=1), rank, s
