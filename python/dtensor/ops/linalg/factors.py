"""Matrices of any shape: pseudo-inverse, rank, QR factors, singular values.

Matrices are made whole, stacks may be cut; all are collective (decompositions.py).
"""

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from dtensor.ops._make.operator import Operand, Rule, call, implements, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg import gradient as back

__all__ = ["cond", "matrix_rank", "pinv", "qr", "svd", "svdvals"]


def lengths(a: Operand) -> tuple[int, int]:
    """Return rows and columns; for fewer dims, lengths that the rule refuses."""
    return (a.shape[-2], a.shape[-1]) if a.ndim > 1 else (0, 0)


def _matrix(a: Operand, *results: str) -> Rule:
    """Return the rule of a function of matrices of m rows, n columns; k: the fewer."""
    m, n = lengths(a)
    known = {"m": f" {m}", "n": f" {n}", "k": f" {min(m, n)}"}
    words = ",".join("..." + "".join(known[c] for c in word) for word in results)
    return Rule(f"... {m} {n}->{words}")


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
        Singular values up to this, relative to the largest, count as 0.
    hermitian : bool
        Whether the matrices are known to be.
    """
    m, n = lengths(a)
    text = f"... {m} {n}{_tolerances(rcond, rtol)}->... {n} {m}"
    given = {} if rtol is np._NoValue else {"rtol": rtol}
    dtype = a.dtype if 0 in (m, n) else None  # as NumPy
    return Rule(text), call(np.linalg.pinv, a, rcond, hermitian, **given), dtype


pinv.vjp(lambda grad, out, a, *_, **__: back.of_pinv(grad, out, a))


@implements(np.linalg.matrix_rank)
@operator(agrees=LinAlgError)
def matrix_rank(
    A: Operand, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Answer:
    """Rank of matrices, shape (..., m, n) -> (...); of a vector: 0 or 1.

    Parameters
    ----------
    A : array
    tol, rtol : float or array of shape (...), optional
        Singular values up to this, or this fraction of the largest, count as 0.
    hermitian : bool
        Whether the matrices are known to be.
    """
    kernel = call(np.linalg.matrix_rank, A, tol, hermitian, rtol=rtol)
    if A.ndim < 2:
        return rule([["*"] * A.ndim], [[]]), kernel, np.intp
    m, n = lengths(A)
    return Rule(f"... {m} {n}{_tolerances(tol, rtol)}->..."), kernel, np.intp


@implements(np.linalg.cond)
@operator(agrees=LinAlgError)
def cond(x: Operand, p: Any = None) -> Answer:
    """Condition number of matrices, shape (..., m, n) -> (...), in the norm `p`."""
    return _matrix(x, ""), call(np.linalg.cond, x, p)


cond.vjp(lambda grad, _out, x, p=None: back.of_cond(grad, x, p))


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


svd.vjp(_svd_back)


@implements(np.linalg.svdvals)
@operator(agrees=LinAlgError)
def svdvals(x: Operand, /) -> Answer:
    """Singular values of matrices, shape (..., m, n) -> (..., min(m, n))."""
    return _matrix(x, "k"), call(np.linalg.svdvals, x)


svdvals.vjp(lambda grad, _out, x: back.of_svdvals(grad, *svd(x, False)[::2]))
