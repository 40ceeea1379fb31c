"""LU factors, triangular systems, and least squares of batches: ``torch.linalg.lu``."""

from typing import Any

import numpy as np

from dtensor import _C, linalg as _linalg, ops as _ops
from dtensor.ops.linalg.pivoted import factored, permuted
from dtensor.torch._cast import cast, floating
from dtensor.torch._returned import TYPES

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg

__all__ = ["lu", "lu_solve", "lu_unpack"]


def lu_factor(A: Any, *, pivot: bool = True) -> tuple[Any, Any]:  # noqa: N803
    """Return the LU factors of matrices, packed, and their pivots.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
        Of a DTensor the last two dims are gathered; the others stay cut.
    pivot : bool, default True
        Whether rows change places.
    """
    A = floating(A)  # noqa: N806
    packed, pivots = factored(A.detach(), pivot)
    if not A.requires_grad:
        return _factored(packed, pivots)
    m, n = A.shape[-2:]
    k = min(m, n)
    low, up = _halves(packed)
    rows = permuted(pivots, m)
    moved = ops.take_along_axis(A, ops.expand_dims(rows, -1), -2)
    d = moved - moved.detach()  # 0, with a gradient; as all that follows
    corner = low[..., :k, :], _regular(up[..., :, :k])
    change = _over(linalg.solve(corner[0], d[..., :k, :k]), corner[1])
    below, above = ops.tril(change, -1), ops.triu(change)
    found = corner[0] @ below + above @ corner[1]
    if n > k:
        right = linalg.solve(corner[0], d[..., :k, k:]) - below @ up[..., :, k:]
        found = ops.concatenate([found, right], -1)
    if m > k:
        last = _over(d[..., k:, :], corner[1]) - low[..., k:, :] @ above
        found = ops.concatenate([found, last], -2)
    return _factored(packed + found, pivots)


def _factored(packed: Any, pivots: Any) -> tuple[Any, Any]:
    found: tuple[Any, Any] = TYPES["linalg_lu_factor"]((packed, pivots))
    return found


def _regular(up: Any) -> Any:
    """Return a triangular matrix with ones for zeros on its diagonal."""
    one = np.eye(up.shape[-1], dtype=np.dtype(up.dtype))
    return up + one * ops.equal(up, 0)


def _over(x: Any, y: Any) -> Any:
    """Return ``x @ inv(y)``."""
    return ops.swapaxes(
        linalg.solve(ops.swapaxes(y, -2, -1), ops.swapaxes(x, -2, -1)), -2, -1
    )


def _halves(packed: Any) -> tuple[Any, Any]:
    m, n = packed.shape[-2:]
    k = min(m, n)
    low = ops.tril(packed[..., :, :k], -1)
    one = np.eye(m, k, dtype=np.dtype(packed.dtype))
    return low + one, ops.triu(packed[..., :k, :])


def _nothing(x: Any) -> Any:
    found = ops.zeros_like(x.detach(), shape=(0,))
    return found.as_torch() if isinstance(x, _C.TorchTensor) else found


def lu_unpack(
    LU_data: Any,  # noqa: N803
    LU_pivots: Any,  # noqa: N803
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> tuple[Any, Any, Any]:
    """Return P, L and U of packed factors; empty tensors for what is not unpacked."""
    low = up = swaps = _nothing(LU_data)
    if unpack_data:
        low, up = _halves(LU_data)
    if unpack_pivots:
        m = LU_data.shape[-2]
        rows = permuted(LU_pivots, m)
        is_there = ops.equal(ops.expand_dims(rows, -2), np.arange(m)[:, None])
        swaps = cast(is_there, np.dtype(LU_data.dtype))
    found: tuple[Any, Any, Any] = TYPES["lu_unpack"]((swaps, low, up))
    return found


def lu(
    A: Any,  # noqa: N803
    pivot: bool = True,
    get_infos: bool = False,
    out: Any = None,
) -> tuple[Any, ...]:
    """Return the packed factors and the pivots, and numbers that say what failed: 0."""
    found = lu_factor(A, pivot=pivot)
    if not get_infos:
        return tuple(found)
    diagonal = ops.diagonal(found[0].detach(), axis1=-2, axis2=-1)
    if not diagonal.shape[-1]:
        return (*found, ops.zeros_like(found[1], shape=tuple(diagonal.shape[:-1])))
    first = ops.argmax(ops.equal(diagonal, 0), -1) + 1
    failed = ops.any(ops.equal(diagonal, 0), -1)
    return (*found, cast(ops.where(failed, first, 0), np.int32))


def linalg_lu(A: Any, *, pivot: bool = True) -> tuple[Any, Any, Any]:  # noqa: N803
    """Return P, L and U, with ``A = P @ L @ U``; P is empty without pivots."""
    found = lu_unpack(*lu_factor(A, pivot=pivot), unpack_pivots=pivot)
    made: tuple[Any, Any, Any] = TYPES["linalg_lu"](found)
    return made


def solve_triangular(
    A: Any,  # noqa: N803
    B: Any,  # noqa: N803
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Any:
    """Return X with ``A @ X = B``, or ``X @ A = B``, of the triangle of A alone."""
    part = ops.triu(A) if upper else ops.tril(A)
    if unitriangular:
        one = np.eye(A.shape[-1], dtype=np.dtype(A.dtype))
        part = part - part * one + one
    if left:
        return linalg.solve(part, B)
    return _over(B, part)


def linalg_lu_solve(
    LU: Any,  # noqa: N803
    pivots: Any,
    B: Any,  # noqa: N803
    *,
    left: bool = True,
    adjoint: bool = False,
) -> Any:
    """Return X with ``A @ X = B`` or, if not `left`, ``X @ A = B``, by factors of A."""
    swaps, low, up = lu_unpack(LU, pivots)
    whole = swaps @ low @ up
    if adjoint:
        whole = ops.conj(ops.swapaxes(whole, -2, -1))
    if left:
        return linalg.solve(whole, B)
    found = linalg.solve(ops.swapaxes(whole, -2, -1), ops.swapaxes(B, -2, -1))
    return ops.swapaxes(found, -2, -1)


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:  # noqa: N803
    """Return X with ``A @ X = b``, by factors of A."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


def lstsq(
    A: Any,  # noqa: N803
    B: Any,  # noqa: N803
    rcond: float | None = None,
    *,
    driver: str | None = None,
) -> Any:
    """Solve ``A @ X = B`` by least squares, for each matrix of a batch.

    Parameters
    ----------
    A : Tensor, shape (..., m, n)
    B : Tensor, shape (..., m, k), or (..., m) if `A` has batches of that shape
    rcond : float, optional
        Singular values up to this, relative to the largest, count as 0; default: the
        precision of the dtype times the longer side.
    driver : str, optional
        A name of LAPACK's, by default "gelsy": with "gelsd" and "gelss" there are
        singular values, with "gels" no ranks.

    Returns
    -------
    torch.return_types.linalg_lstsq
        The solution; with a `driver` other than "gelsy", sums of squares of what is
        left if m > n and all ranks are n; ranks; and the singular values.

    Raises
    ------
    RuntimeError
        If dims do not agree.
    """
    is_vector = B.ndim == A.ndim - 1
    right = ops.expand_dims(B, -1) if is_vector else B
    m, n = A.shape[-2:]
    if A.ndim < 2 or right.ndim < 2 or right.shape[-2] != m:
        raise RuntimeError(
            "torch.linalg.lstsq: input.size(-2) should match other.size(-2), got "
            f"{tuple(A.shape)} and {tuple(B.shape)}"
        )
    if rcond is None:
        rcond = max(m, n) * float(np.finfo(np.dtype(A.dtype)).eps)
    if A.ndim == 2 and right.ndim == 2:
        x, _, rank, values = linalg.lstsq(A, right, rcond)
    else:
        x = ops.matmul(linalg.pinv(A, rcond), right)
        values = linalg.svdvals(A)
        rank = ops.sum(ops.greater(values, rcond * values[..., :1]), axis=-1)
    left = none = ops.real(_nothing(A))
    given = "gelsy" if driver is None else driver
    full = given == "gels" or bool(ops.all(ops.equal(rank.detach(), n)))
    if m > n and given != "gelsy" and full:
        left = ops.sum(ops.square(ops.abs(right - ops.matmul(A, x))), axis=-2)
    if given not in ("gelsd", "gelss"):
        values = none
    rank = ops.astype(none if given == "gels" else rank, np.int64)
    x = ops.squeeze(x, -1) if is_vector else x
    return TYPES["linalg_lstsq"]((x, left, rank, values))
