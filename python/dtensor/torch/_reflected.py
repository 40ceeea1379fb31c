"""Products of Householder's reflections, and matrices of low rank: ``torch.geqrf``."""

from typing import Any, NamedTuple

import numpy as np

from dtensor import linalg as _linalg, ops as _ops
from dtensor.ops.linalg.indefinite import reflectors
from dtensor.torch._alike import randn_like
from dtensor.torch._cast import floating
from dtensor.torch._returned import TYPES
from dtensor.torch._types import keeps

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg

__all__ = ["geqrf", "lobpcg", "orgqr", "ormqr", "pca_lowrank", "svd_lowrank"]


def _turned(x: Any) -> Any:
    return ops.conj(ops.swapaxes(x, -2, -1))


def geqrf(input: Any) -> Any:
    """Return R with the vectors of Householder's reflections below it, and `tau`.

    Parameters
    ----------
    input : Tensor, shape (..., m, n)
        Of a DTensor the last two dims are gathered; the others stay cut. There is no
        gradient, as in PyTorch: see ``torch.linalg.qr``.
    """
    return TYPES["geqrf"](reflectors(floating(input).detach()))


def _applied(vectors: Any, tau: Any, x: Any, turned: bool) -> Any:
    """Return the product of the reflections, or its adjoint, and a matrix."""
    count = int(tau.shape[-1])
    for k in range(count) if turned else reversed(range(count)):
        v = vectors[..., :, k : k + 1]
        factor = tau[..., k, None, None]
        factor = ops.conj(factor) if turned else factor
        x = x - factor * ops.matmul(v, ops.matmul(_turned(v), x))
    return x


def _vectors(input: Any, tau: Any) -> Any:
    m, k = input.shape[-2], int(tau.shape[-1])
    one = np.eye(m, k, dtype=np.dtype(input.dtype))
    return ops.tril(input[..., :k], -1) + one


@keeps
def orgqr(input: Any, tau: Any) -> Any:
    """Return the first columns of a product of reflections: Q of `geqrf`.

    Parameters
    ----------
    input : Tensor, shape (..., m, n)
        The vectors, below the diagonal, n <= m.
    tau : Tensor, shape (..., k)
        Their factors, k <= n.

    Raises
    ------
    RuntimeError
        If shapes do not fit.
    """
    m, n = input.shape[-2:]
    if n > m or tau.shape[-1] > n:
        what = f"input.shape[-2] ({m}) >= input.shape[-1] ({n}) >= tau.shape[-1]"
        raise RuntimeError(
            f"torch.linalg.householder_product: expected {what} ({tau.shape[-1]})"
        )
    one = ops.zeros_like(input.detach()) + np.eye(m, n, dtype=np.dtype(input.dtype))
    return _applied(_vectors(input, tau), tau, one, False)


def ormqr(
    input: Any, tau: Any, other: Any, left: bool = True, transpose: bool = False
) -> Any:
    """Return Q, of reflections, or its adjoint times a matrix, or a matrix times it.

    Parameters
    ----------
    input, tau
        As for `orgqr`; the product has all m columns.
    other : Tensor, shape (..., m, n), or (..., n, m) if not `left`
    left, transpose : bool
        Whether Q is on the left, and whether its adjoint is meant.

    Raises
    ------
    RuntimeError
        If shapes do not fit.
    """
    side = -2 if left else -1
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(
            f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]"
        )
    vectors = _vectors(input, tau)
    if left:
        return _applied(vectors, tau, other, transpose)
    return _turned(_applied(vectors, tau, _turned(other), not transpose))


# --- low rank -------------------------------------------------------------------------


class LowRank(NamedTuple):
    """What `svd_lowrank` and `pca_lowrank` return: ``U @ diag(S) @ V.mH``."""

    U: Any
    S: Any
    V: Any


def svd_lowrank(
    A: Any,  # noqa: N803
    q: int | None = 6,
    niter: int | None = 2,
    M: Any = None,  # noqa: N803
) -> Any:
    """Return the largest singular values of matrices, about, and their vectors.

    By products with random vectors: those are not PyTorch's.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    q : int, default 6
        How many; a few more than the rank make them better.
    niter : int, default 2
        How often the vectors are multiplied by A and its adjoint.
    M : Tensor, optional
        To be taken from A, of a shape that broadcasts to that of A.
    """
    A = A if M is None else A - M  # noqa: N806
    m, n = A.shape[-2:]
    q = 6 if q is None else q
    if m < n:
        found = svd_lowrank(_turned(A), q, niter)
        return LowRank(found.V, found.S, found.U)
    start = ops.zeros_like(A.detach(), shape=(*A.shape[:-2], n, q))
    basis = linalg.qr(ops.matmul(A, randn_like(start)))[0]
    for _ in range(2 if niter is None else niter):
        back = linalg.qr(ops.matmul(_turned(A), basis))[0]
        basis = linalg.qr(ops.matmul(A, back))[0]
    u, s, vh = linalg.svd(ops.matmul(_turned(basis), A), full_matrices=False)
    return LowRank(ops.matmul(basis, u), s, _turned(vh))


def pca_lowrank(
    A: Any,  # noqa: N803
    q: int | None = None,
    center: bool = True,
    niter: int = 2,
) -> Any:
    """Return the principal components of rows, about: `svd_lowrank` without the mean.

    Raises
    ------
    ValueError
        If `q` is negative or above the lengths of A, or `niter` is negative.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than "
            f"min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - ops.mean(A, axis=-2, keepdims=True)  # noqa: N806
    return svd_lowrank(A, q, niter)


def lobpcg(
    A: Any,  # noqa: N803
    k: int | None = None,
    B: Any = None,  # noqa: N803
    X: Any = None,  # noqa: N803
    n: int | None = None,
    iK: Any = None,  # noqa: N803
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Any, Any]:
    """Return the largest eigenvalues of symmetric matrices, and their vectors.

    All are computed, by `eigh`, and the first of them returned: what says how PyTorch
    finds them, and when it stops, is ignored.

    Parameters
    ----------
    A : Tensor, shape (..., m, m)
    k : int, optional
        How many; default: the columns of X, or 1.
    B : Tensor, optional
        Positive definite: then ``A @ v == e * B @ v``.
    X : Tensor, optional
        Its columns are as many as `k`.
    largest : bool, default True
        Whether the largest or the smallest are meant.

    Raises
    ------
    ValueError
        If there are less than ``3 * k`` rows.
    """
    m = A.shape[-1]
    count = (1 if X is None else X.shape[-1]) if k is None else k
    if m < 3 * count:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is "
            f"smaller than 3 x the number of requested eigenpairs (={count})"
        )
    low = None if B is None else linalg.cholesky(B)
    if low is not None:
        A = _turned(linalg.solve(low, _turned(linalg.solve(low, A))))  # noqa: N806
    values, vectors = linalg.eigh(A)
    if low is not None:
        vectors = linalg.solve(_turned(low), vectors)
    if largest is None or largest:
        values, vectors = ops.flip(values, -1), ops.flip(vectors, -1)
    return values[..., :count], vectors[..., :count]
