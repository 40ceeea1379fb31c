"""Decompositions and equations: matrices are whole, stacks of them may be cut.

A matrix that NumPy refuses (singular, not positive definite) raises LinAlgError on all
ranks, also on those that do not hold it. So these functions are collective.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from dtensor._C import DTensor
from dtensor.ops._operator import (
    Operand,
    Rule,
    call,
    implements,
    operator,
)
from dtensor.ops._parts import inside
from dtensor.ops._words import Answer, rule

__all__ = [
    "cholesky",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matrix_power",
    "matrix_rank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
]

# --- rules ----------------------------------------------------------------------------


def _lengths(a: Operand) -> tuple[int, int]:
    """Return rows and columns; of what is no matrix, lengths that its rule refuses."""
    return (a.shape[-2], a.shape[-1]) if a.ndim > 1 else (0, 0)


def _square(a: Operand, *results: str) -> Rule:
    """Return the rule of a function of square matrices; "n" is their length."""
    n = _lengths(a)[1]
    words = ",".join("..." + word.replace("n", f" {n}") for word in results)
    return Rule(f"... {n} {n}->{words}")


def _matrix(a: Operand, *results: str) -> Rule:
    """Return the rule of a function of matrices of m rows, n columns; k: the fewer."""
    m, n = _lengths(a)
    lengths = {"m": f" {m}", "n": f" {n}", "k": f" {min(m, n)}"}
    words = ",".join("..." + "".join(lengths[c] for c in word) for word in results)
    return Rule(f"... {m} {n}->{words}")


# --- square matrices ------------------------------------------------------------------


@implements(np.linalg.inv)
@operator(agrees=LinAlgError)
def inv(a: Operand) -> Answer:
    """Inverse of matrices, shape (..., n, n). LinAlgError for singular ones."""
    return _square(a, "nn"), call(np.linalg.inv, a)


@implements(np.linalg.det)
@operator(agrees=LinAlgError)
def det(a: Operand) -> Answer:
    """Determinants of matrices, shape (..., n, n) -> (...)."""
    return _square(a, ""), call(np.linalg.det, a)


@implements(np.linalg.slogdet)
@operator(agrees=LinAlgError)
def slogdet(a: Operand) -> Answer:
    """Sign and logarithm of determinants, shape (..., n, n) -> (...), named tuple."""
    return _square(a, "", ""), call(np.linalg.slogdet, a)


@implements(np.linalg.cholesky)
@operator(agrees=LinAlgError)
def cholesky(a: Operand, /, *, upper: bool = False) -> Answer:
    """Cholesky factor of matrices, shape (..., n, n).

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """
    return _square(a, "nn"), call(np.linalg.cholesky, a, upper=upper)


@implements(np.linalg.matrix_power)
@operator(agrees=LinAlgError)
def matrix_power(a: Operand, n: int) -> Answer:
    """Power of matrices, shape (..., n, n); negative: of their inverse."""
    return _square(a, "nn"), call(np.linalg.matrix_power, a, n)


@implements(np.linalg.eigh)
@operator(agrees=LinAlgError)
def eigh(a: Operand, UPLO: str = "L") -> Answer:
    """Eigenvalues and -vectors of Hermitian matrices, shape (..., n, n)."""
    return _square(a, "n", "nn"), call(np.linalg.eigh, a, UPLO)


@implements(np.linalg.eigvalsh)
@operator(agrees=LinAlgError)
def eigvalsh(a: Operand, UPLO: str = "L") -> Answer:
    """Eigenvalues of Hermitian matrices, shape (..., n, n) -> (..., n), ascending."""
    return _square(a, "n"), call(np.linalg.eigvalsh, a, UPLO)


# NumPy gives real eigenvalues where no matrix has others: known at the end only.

_EigResult: Any = type(np.linalg.eig(np.eye(1)))


def _complex_eig(a: Any) -> Any:
    values, vectors = np.linalg.eig(a)
    dtype = np.result_type(values, np.complex64)
    return _EigResult(values.astype(dtype), vectors.astype(dtype))


def _complex_eigvals(a: Any) -> Any:
    values = np.linalg.eigvals(a)
    return values.astype(np.result_type(values, np.complex64))


@operator(name="eig", agrees=LinAlgError)
def _eig(a: Operand) -> Answer:
    return _square(a, "n", "nn"), call(_complex_eig, a)


@operator(name="eigvals", agrees=LinAlgError)
def _eigvals(a: Operand) -> Answer:
    return _square(a, "n"), call(_complex_eigvals, a)


def _are_real(a: Any, values: Any) -> bool:
    """Return whether NumPy gives these eigenvalues of `a` as real numbers."""
    if a.dtype.kind == "c" or (isinstance(a, DTensor) and not inside(a.layout)):
        return False  # a rank outside the mesh has none of them
    return not np.any(np.imag(values))


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    """Eigenvalues and -vectors of matrices, shape (..., n, n), as a named tuple.

    They are real if all are, which takes a collective call to find out.
    """
    values, vectors = _eig(a)
    real = _are_real(a, values)
    return _EigResult(*(map(np.real, (values, vectors)) if real else (values, vectors)))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """Eigenvalues of matrices, shape (..., n, n) -> (..., n).

    They are real if all are, which takes a collective call to find out.
    """
    values = _eigvals(a)
    return np.real(values) if _are_real(a, values) else values


# --- equations ------------------------------------------------------------------------


@implements(np.linalg.solve)
@operator(operands=2, agrees=LinAlgError)
def solve(a: Operand, b: Operand) -> Answer:
    """Solve ``a @ x = b``.

    Parameters
    ----------
    a : array, shape (..., n, n)
    b : array, shape (n,) or (..., n, k)
        Its columns may be cut.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    n = _lengths(a)[1]
    right = f" {n}" if b.ndim == 1 else f"... {n} k"
    text = f"... {n} {n},{right}->... {n}{'' if b.ndim == 1 else ' k'}"
    return Rule(text, partial="1"), call(np.linalg.solve, a, b)


@implements(np.linalg.tensorinv)
@operator(agrees=LinAlgError)
def tensorinv(a: Operand, ind: int = 2) -> Answer:
    """Inverse of the matrix whose rows are the first `ind` dims; `a` is whole."""
    after = map(str, a.shape[ind:] + a.shape[:ind])
    return rule([["*"] * a.ndim], [after]), call(np.linalg.tensorinv, a, ind)


@implements(np.linalg.tensorsolve)
@operator(operands=2, agrees=LinAlgError)
def tensorsolve(a: Operand, b: Operand, axes: Sequence[int] | None = None) -> Answer:
    """Solve ``tensordot(a, x, x.ndim) = b``; both are whole.

    Parameters
    ----------
    a, b : array
    axes : sequence of int, optional
        Dims of `a` to move to the end first.
    """
    order = [dim for dim in range(a.ndim) if dim not in (axes or ())] + [*(axes or ())]
    after = [str(a.shape[dim]) for dim in order[b.ndim :]]
    terms = [["*"] * a.ndim, ["*"] * b.ndim]
    return rule(terms, [after], "1"), call(np.linalg.tensorsolve, a, b, axes)


# --- any matrices ---------------------------------------------------------------------


def _tolerances(*given: Any) -> str:
    """Return the terms of those that are arrays, one for each matrix."""
    return ",..." * sum(isinstance(x, Operand) for x in given)


@implements(np.linalg.pinv)
@operator(agrees=LinAlgError)
def pinv(
    a: Operand, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue
) -> Answer:
    """Pseudo-inverse of matrices, shape (..., m, n) -> (..., n, m).

    Parameters
    ----------
    a : array
    rcond, rtol : float or array of shape (...), optional
        Which singular values are taken for 0, relative to the largest.
    hermitian : bool
        Whether the matrices are known to be.
    """
    m, n = _lengths(a)
    text = f"... {m} {n}{_tolerances(rcond, rtol)}->... {n} {m}"
    given = {} if rtol is np._NoValue else {"rtol": rtol}
    dtype = a.dtype if 0 in (m, n) else None  # as NumPy
    return Rule(text), call(np.linalg.pinv, a, rcond, hermitian, **given), dtype


@implements(np.linalg.matrix_rank)
@operator(agrees=LinAlgError)
def matrix_rank(
    A: Operand, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Answer:
    """Rank of matrices, shape (..., m, n) -> (...); of a vector: whether it has any.

    Parameters
    ----------
    A : array
    tol, rtol : float or array of shape (...), optional
        Singular values up to this, or this much of the largest, are taken for 0.
    hermitian : bool
        Whether the matrices are known to be.
    """
    kernel = call(np.linalg.matrix_rank, A, tol, hermitian, rtol=rtol)
    if A.ndim < 2:
        return rule([["*"] * A.ndim], [[]]), kernel, np.intp
    m, n = _lengths(A)
    return Rule(f"... {m} {n}{_tolerances(tol, rtol)}->..."), kernel, np.intp


@implements(np.linalg.cond)
@operator(agrees=LinAlgError)
def cond(x: Operand, p: Any = None) -> Answer:
    """Condition number of matrices, shape (..., m, n) -> (...), in the norm `p`."""
    return _matrix(x, ""), call(np.linalg.cond, x, p)


@implements(np.linalg.qr)
@operator(agrees=LinAlgError)
def qr(a: Operand, mode: str = "reduced") -> Answer:
    """QR factors of matrices, shape (..., m, n).

    Parameters
    ----------
    a : array
    mode : {"reduced", "complete", "r", "raw"}
        What is computed.

    Returns
    -------
    named tuple of Q and R, or R, or for "raw" (h, tau)
    """
    words = {"complete": ("mm", "mn"), "r": ("kn",), "raw": ("nm", "k")}
    return _matrix(a, *words.get(mode, ("mk", "kn"))), call(np.linalg.qr, a, mode)


@implements(np.linalg.svd)
@operator(agrees=LinAlgError)
def svd(
    a: Operand,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Answer:
    """Singular value decomposition of matrices, shape (..., m, n).

    Parameters
    ----------
    a : array
    full_matrices : bool
        Whether U and Vh are square.
    compute_uv : bool
        Whether they are computed at all.
    hermitian : bool
        Whether the matrices are known to be.

    Returns
    -------
    named tuple of U, S and Vh, or S
    """
    words = ("mm", "k", "nn") if full_matrices else ("mk", "k", "kn")
    kernel = call(np.linalg.svd, a, full_matrices, compute_uv, hermitian)
    return _matrix(a, *(words if compute_uv else "k")), kernel


@implements(np.linalg.svdvals)
@operator(agrees=LinAlgError)
def svdvals(x: Operand, /) -> Answer:
    """Singular values of matrices, shape (..., m, n) -> (..., min(m, n))."""
    return _matrix(x, "k"), call(np.linalg.svdvals, x)
