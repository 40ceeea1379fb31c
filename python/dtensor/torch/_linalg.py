"""Functions of ``torch.linalg`` with PyTorch's arguments, where NumPy's have others."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import linalg as _linalg, ops as _ops
from dtensor.ops.linalg.triangle import written_diagonal
from dtensor.torch import _reduce
from dtensor.torch._cast import floating
from dtensor.torch._returned import TYPES
from dtensor.torch._rows import in_rows
from dtensor.torch._types import keeps, numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg


def vector_norm(
    x: Any,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the norm of the vectors along dims; default: of all elements."""
    return _reduce.norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any,  # noqa: N803
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the norm of the matrices in two dims, by default the last."""
    if dtype is not None:
        A = ops.astype(A, numpy_dtype(dtype))  # noqa: N806
    return linalg.norm(A, ord, tuple(dim), keepdim)


def _limit(A: Any, atol: Any, rtol: Any, values: Any) -> Any:  # noqa: N803
    """Return up to what singular values count as 0, for each matrix."""
    if rtol is None:
        eps = float(np.finfo(np.dtype(A.dtype)).eps) * max(A.shape[-2:])
        rtol = eps if atol is None else ops.where(ops.greater(atol, 0), 0.0, eps)
    most = ops.max(values, axis=-1, initial=0)
    return ops.maximum(0.0 if atol is None else atol, rtol * most)


@keeps
def matrix_rank(
    A: Any,  # noqa: N803
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """Return how many singular values of matrices count.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    tol, atol : float or Tensor of shape (...), optional
        Values up to this do not.
    hermitian : bool, default False
        Whether the matrices are known to be: then eigenvalues are taken.
    rtol : float or Tensor of shape (...), optional
        Nor those up to this, relative to the largest; default: the precision of the
        dtype times the longer side, or 0 if `atol` is above 0.
    """
    A, atol = floating(A), tol if atol is None else atol  # noqa: N806
    if not A.shape[-1] or not A.shape[-2]:
        return ops.zeros_like(A, shape=tuple(A.shape[:-2]), dtype=np.int64)
    values = ops.abs(linalg.eigvalsh(A)) if hermitian else linalg.svdvals(A)
    limit = ops.expand_dims(_limit(A, atol, rtol, values), -1)
    return ops.sum(ops.greater(values, limit), axis=-1)


def pinv(
    A: Any,  # noqa: N803
    rcond: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Any:
    """Return pseudoinverses of matrices; `matrix_rank` says which values count."""
    rtol = rcond if rtol is None else rtol
    if rtol is not None and getattr(rtol, "dtype", None) is not None:
        if np.dtype(rtol.dtype).kind == "c":
            raise RuntimeError(
                "torch.linalg.pinv: rcond tensor of complex type is not supported."
            )
    if (atol is None and not hasattr(rtol, "shape")) or 0 in A.shape:
        return linalg.pinv(A, rtol if not hasattr(rtol, "shape") else None, hermitian)
    values = linalg.svdvals(A.detach())
    most = ops.max(values, axis=-1)
    limit = _limit(A, atol, rtol, values) / ops.where(ops.equal(most, 0), 1.0, most)
    lead = np.broadcast_shapes(tuple(A.shape[:-2]), tuple(limit.shape))
    A = ops.broadcast_to(A, (*lead, *A.shape[-2:]))  # noqa: N806
    return linalg.pinv(A, ops.broadcast_to(limit, lead), hermitian)


def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:  # noqa: N803
    """Return X with ``tensordot(A, X, X.ndim) == B``; `dims` of A are moved last."""
    return linalg.tensorsolve(A, B, axes=dims)


def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """Return the cross products of vectors of three elements along a dim."""
    return linalg.cross(input, other, axis=dim)


def diagonal(
    A: Any,  # noqa: N803
    *,
    offset: int = 0,
    dim1: int = -2,
    dim2: int = -1,
) -> Any:
    """Return the diagonals of matrices, as the last dim: a view."""
    return written_diagonal(A, offset, dim1, dim2)


def vander(x: Any, N: int | None = None) -> Any:  # noqa: N803
    """Return the powers of the elements of vectors, from 0 on, along a new last dim.

    Raises
    ------
    RuntimeError
        If there are not more than one.
    """
    x = x if x.ndim else ops.expand_dims(x, 0)
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    dtype = np.dtype(x.dtype)
    dtype = np.dtype(np.int64) if dtype.kind in "bui" else dtype
    x = ops.expand_dims(ops.astype(x, dtype), -1)
    given = np.ones(count, bool)
    given[0] = False
    return ops.cumprod(ops.where(given, x, np.ones((), dtype)), axis=-1)


def eig(A: Any) -> Any:  # noqa: N803
    """Return eigenvalues and vectors of square matrices, complex numbers."""
    found = linalg.eig(A)
    to = np.result_type(np.dtype(floating(A).dtype), np.complex64)
    parts = [x if x.dtype == to else ops.astype(x, to) for x in found]
    return TYPES["linalg_eig"](parts)


def eigvals(A: Any) -> Any:  # noqa: N803
    """Return the eigenvalues of square matrices, complex numbers."""
    found = linalg.eigvals(A)
    to = np.result_type(np.dtype(floating(A).dtype), np.complex64)
    return found if found.dtype == to else ops.astype(found, to)


def norm(
    A: Any,  # noqa: N803
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the norm of vectors or matrices; default: of all elements as one vector.

    Parameters
    ----------
    A : Tensor
    ord : float, "fro" or "nuc", optional
        Of vectors by default 2, of matrices "fro".
    dim : int or pair of int, optional
        That of vectors, or those of matrices.
    keepdim : bool, default False
        Whether the dims stay, with length 1.
    dtype : optional
        In which the elements are taken.
    """
    A = A if dtype is None else ops.astype(A, numpy_dtype(dtype))  # noqa: N806
    dim = tuple(dim) if isinstance(dim, list) else dim
    if not A.ndim and dim is not None and not isinstance(ord, str):
        return _reduce.norm(A, ord, dim, keepdim)
    return linalg.norm(A, ord, dim, keepdim)


def solve(A: Any, B: Any, *, left: bool = True) -> Any:  # noqa: N803
    """Return X with ``A @ X == B`` or, if not `left`, ``X @ A == B``."""
    if left:
        return linalg.solve(A, B)
    if B.ndim == 1 or tuple(B.shape) == tuple(A.shape[:-1]):
        return linalg.solve(ops.swapaxes(A, -2, -1), B)
    found = linalg.solve(ops.swapaxes(A, -2, -1), ops.swapaxes(B, -2, -1))
    return in_rows(ops.swapaxes(found, -2, -1))


def svd(A: Any, full_matrices: bool = True, *, driver: str | None = None) -> Any:  # noqa: N803
    """Return U, S and Vh with ``A == U @ diag(S) @ Vh``; `driver` is ignored."""
    return TYPES["linalg_svd"](linalg.svd(A, full_matrices))


def svdvals(A: Any, *, driver: str | None = None) -> Any:  # noqa: N803
    """Return singular values, the largest first; `driver` is ignored."""
    return linalg.svdvals(A)
