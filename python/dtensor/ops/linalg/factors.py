"""Matrices of any shape: pseudo-inverse, rank, QR factors, singular values.

A tall or wide matrix that is cut stays cut (`tall_parts`): each rank sends a factor as
small as a square of the shorter side. So does another one above 64 MiB (`square`,
`spectra`). Others are made whole; stacks of them may be cut. All are collective
(decompositions.py).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from dtensor.ops._make.composite import as_dtype, within
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand, Rule, call, implements, operator
from dtensor.ops._make.recorded import recorded
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg import gradient as back, spectra, square, tall
from dtensor.ops.linalg.large import is_large
from dtensor.ops.linalg.tall_parts import is_tall, is_wide

__all__ = ["cond", "matrix_rank", "pinv", "qr", "svd", "svdvals"]

Step = Callable[..., Any]


def lengths(a: Operand) -> tuple[int, int]:
    """Return rows and columns; for fewer dims, lengths that the rule refuses."""
    return (a.shape[-2], a.shape[-1]) if a.ndim > 1 else (0, 0)


def _matrix(a: Operand, *results: str) -> Rule:
    """Return the rule of a function of matrices of m rows, n columns; k: the fewer."""
    m, n = lengths(a)
    known = {"m": f" {m}", "n": f" {n}", "k": f" {min(m, n)}"}
    words = ",".join("..." + "".join(known[c] for c in word) for word in results)
    return Rule(f"... {m} {n}->{words}")


def _is_long(a: Operand) -> bool:
    """Return whether the matrix, or its transpose, is to be factored in parts."""
    return is_tall(a) or is_wide(a)


def _in_parts(a: Operand, hermitian: bool) -> bool:
    """Return whether singular values are to be found in parts: not of a matrix that is
    said to be Hermitian, of which only one triangle is read."""
    if hermitian and a.ndim > 1 and a.shape[-2] != a.shape[-1]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return not hermitian and (_is_long(a) or is_large(a))


def _tolerances(*given: Any) -> str:
    """Return the terms of those that are arrays, one for each matrix."""
    return ",..." * sum(isinstance(x, Operand) for x in given)


@implements(np.linalg.pinv)
@operator(agrees=LinAlgError)
def pinv(
    a: Operand, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue
) -> Answer | Step:
    """Pseudo-inverse of matrices, shape (..., m, n) -> (..., n, m).

    That of a tall matrix in parts is cut by columns, of a wide one by rows; so is that
    of another matrix above 64 MiB that is cut.

    Parameters
    ----------
    a : array
    rcond, rtol : float or array of shape (...), optional
        Singular values up to this, relative to the largest, count as 0.
    hermitian : bool
        Whether the matrices are known to be: they are made whole.
    """
    m, n = lengths(a)
    text = f"... {m} {n}{_tolerances(rcond, rtol)}->... {n} {m}"
    given = {} if rtol is np._NoValue else {"rtol": rtol}
    dtype = a.dtype if 0 in (m, n) else None  # as NumPy
    answer = Rule(text), call(np.linalg.pinv, a, rcond, hermitian, **given), dtype
    is_cut = _in_parts(a, hermitian)
    if rtol is np._NoValue and not isinstance(rcond, Operand) and is_cut:
        return partial(_pinv_of_parts, 1e-15 if rcond is None else rcond)
    if rcond is None and not isinstance(rtol, Operand) and is_cut:
        return partial(_pinv_of_parts, tall.tolerance(a, rtol))
    return answer


def _pinv_of_parts(relative: Any, a: Any, /, *_: Any, **__: Any) -> Any:
    function = tall.pinv if _is_long(a) else spectra.pinv
    return recorded("pinv", function, _pinv_back, (a,), relative)


def _pinv_back(grad: Any, out: Any, a: Any, *_: Any, **__: Any) -> Any:
    return back.of_pinv(grad, out, a)


pinv.vjp(_pinv_back)


@implements(np.linalg.matrix_rank)
@operator(agrees=LinAlgError)
def matrix_rank(
    A: Operand, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Answer | Step:
    """Rank of matrices, shape (..., m, n) -> (...); of a vector: 0 or 1.

    Parameters
    ----------
    A : array
    tol, rtol : float or array of shape (...), optional
        Singular values up to this, or this fraction of the largest, count as 0.
    hermitian : bool
        Whether the matrices are known to be: they are made whole.
    """
    kernel = call(np.linalg.matrix_rank, A, tol, hermitian, rtol=rtol)
    if A.ndim < 2:
        return rule([["*"] * A.ndim], [[]]), kernel, np.intp
    m, n = lengths(A)
    text = f"... {m} {n}{_tolerances(tol, rtol)}->..."
    is_cut = _in_parts(A, hermitian)
    if is_cut and not _tolerances(tol, rtol) and None in (tol, rtol):
        return partial(_rank_of_parts, tol, rtol)
    return Rule(text), kernel, np.intp


def _rank_of_parts(tol: Any, rtol: Any, a: Any, /, *_: Any, **__: Any) -> Any:
    a = as_dtype(a.detach(), inexact(a.dtype))
    if tol is None:
        rtol = tall.tolerance(a, rtol)
    if _is_long(a):
        rank = partial(np.linalg.matrix_rank, tol=tol, rtol=rtol)
        return tall.of_r("matrix_rank", rank)(a)
    with within("matrix_rank", a):
        return spectra.matrix_rank(a, tol, rtol)


@implements(np.linalg.cond)
@operator(agrees=LinAlgError)
def cond(x: Operand, p: Any = None) -> Answer | Step:
    """Condition number of matrices, shape (..., m, n) -> (...), in the norm `p`."""
    if p in (None, 2, -2) and (_is_long(x) or is_large(x)):
        return _cond_of_parts
    return _matrix(x, ""), call(np.linalg.cond, x, p)


def _cond_of_parts(x: Any, p: Any = None) -> Any:
    found = tall.of_r("cond", np.linalg.cond) if _is_long(x) else spectra.cond
    return recorded("cond", found, _cond_back, (x,), p)


def _cond_back(grad: Any, _out: Any, x: Any, p: Any = None) -> Any:
    return back.of_cond(grad, x, p)


cond.vjp(_cond_back)


@implements(np.linalg.qr)
@operator(agrees=LinAlgError)
def qr(a: Operand, mode: str = "reduced") -> Answer | Step:
    """QR factors of matrices, shape (..., m, n).

    Of a tall matrix in parts, q is cut by rows, r is on every rank; of a wide one the
    other way round. Other matrices above 64 MiB that are cut are factored block by
    block, and the rows of both factors are cut. All have the signs of LAPACK's.

    Parameters
    ----------
    a : array
    mode : {"reduced", "complete", "r", "raw"}
        What is computed; "complete" makes a tall matrix whole, "raw" any.

    Returns
    -------
    named tuple of Q and R, or R, or for "raw" (h, tau)
    """
    if (
        mode in _OF_PARTS
        and is_tall(a)
        or mode in (*_OF_PARTS, "complete")
        and is_wide(a)
    ):
        return _qr_of_parts
    if is_large(a) and mode in _OF_PARTS:
        return _qr_of_blocks
    words = {"complete": ("mm", "mn"), "r": ("kn",), "raw": ("nm", "k")}
    return _matrix(a, *words.get(mode, ("mk", "kn"))), call(np.linalg.qr, a, mode)


_OF_PARTS = ("reduced", "r")


def _qr_of_parts(a: Any, mode: str = "reduced") -> Any:
    return recorded("qr", tall.qr, _qr_back, (a,), mode)


def _qr_of_blocks(a: Any, mode: str = "reduced") -> Any:
    return recorded("qr", square.qr, _qr_back, (a,), mode)


def _qr_back(grad: Any, out: Any, a: Any, mode: str = "reduced") -> Any:
    if mode == "raw" or mode == "complete" and a.shape[-2] > a.shape[-1]:
        raise NotImplementedError(
            f"derivative for qr in mode {mode!r} of tall matrices"
        )
    if mode == "r":
        return back.of_qr(None, grad, a, qr(a)[0], out)
    (gq, gr), (q, r) = grad, out
    return back.of_qr(gq, gr, a, q, r)


qr.vjp(_qr_back)


@implements(np.linalg.svd)
@operator(agrees=LinAlgError)
def svd(
    a: Operand,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Answer | Step:
    """Singular value decomposition of matrices, shape (..., m, n).

    Of a tall matrix in parts, U is cut by rows; of a wide one Vh is by columns. With
    `full_matrices` one of them is a square of the longer side: matrices that are not
    square are made whole. Of other matrices above 64 MiB that are cut, U is cut by rows
    and Vh by columns; blocks of columns go from rank to rank several times.

    Parameters
    ----------
    a : array
    full_matrices : bool
        Whether U and Vh are square.
    compute_uv : bool
        Whether they are computed at all.
    hermitian : bool
        Whether the matrices are known to be: they are made whole.

    Returns
    -------
    named tuple of U, S and Vh, or S
    """
    is_cut = _in_parts(a, hermitian)
    if not compute_uv and is_cut:
        return lambda a, *_, **__: svdvals(a)
    if not full_matrices and is_cut and _is_long(a):
        return _svd_of_parts
    if is_cut and is_large(a) and (not full_matrices or a.shape[0] == a.shape[1]):
        return _svd_of_blocks
    words = ("mm", "k", "nn") if full_matrices else ("mk", "k", "kn")
    kernel = call(np.linalg.svd, a, full_matrices, compute_uv, hermitian)
    return _matrix(a, *(words if compute_uv else "k")), kernel


def _svd_back(
    grad: Any,
    out: Any,
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    if not compute_uv:
        u, _, vh = svd(a, False, True, hermitian)
        return back.of_svdvals(grad, u, vh)
    k = min(a.shape[-2:])
    (u, s, vh), (gu, gs, gvh) = out, grad
    return back.of_svd(
        (gu[..., :k], gs, gvh[..., :k, :]), (u[..., :k], s, vh[..., :k, :])
    )


def _svd_of_parts(a: Any, *_: Any, **__: Any) -> Any:
    return recorded("svd", tall.svd, _svd_back, (a,), False)


def _svd_of_blocks(a: Any, *_: Any, **__: Any) -> Any:
    return recorded("svd", spectra.svd, _svd_back, (a,), False)


svd.vjp(_svd_back)


@implements(np.linalg.svdvals)
@operator(agrees=LinAlgError)
def svdvals(x: Operand, /) -> Answer | Step:
    """Singular values of matrices, shape (..., m, n) -> (..., min(m, n))."""
    if _is_long(x):
        return _svdvals_of_parts
    if is_large(x):
        return _svdvals_of_blocks
    return _matrix(x, "k"), call(np.linalg.svdvals, x)


def _svdvals_of_parts(x: Any) -> Any:
    found = tall.of_r("svdvals", np.linalg.svdvals)
    return recorded("svdvals", found, _svdvals_back, (x,))


def _svdvals_of_blocks(x: Any) -> Any:
    return recorded("svdvals", spectra.svdvals, _svdvals_back, (x,))


def _svdvals_back(grad: Any, _out: Any, x: Any) -> Any:
    return back.of_svdvals(grad, *svd(x, False)[::2])


svdvals.vjp(_svdvals_back)
