"""Factors and solutions that may fail, and numbers that say what did: ``cholesky_ex``.

An info of 0 says that a matrix was fit; the results of the others are arbitrary. What
`check_errors` raises, all ranks raise.
"""

from typing import Any

import numpy as np

from dtensor import linalg as _linalg, ops as _ops
from dtensor.ops.linalg.indefinite import cholesky_info, ldl, ldl_whole
from dtensor.torch import _lu
from dtensor.torch._cast import floating
from dtensor.torch._errors import LinAlgError
from dtensor.torch._returned import TYPES

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
linalg: Any = _linalg


def _square(A: Any, name: str) -> Any:  # noqa: N803
    A, name = floating(A), name.removesuffix("_ex")  # noqa: N806
    if A.ndim < 2:
        raise RuntimeError(
            f"linalg.{name}: The input tensor A must have at least 2 dimensions."
        )
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are "
            f"{A.shape[-2]} by {A.shape[-1]} matrices"
        )
    return A


def _check(
    info: Any, asked: bool, text: str, error: type[RuntimeError] = LinAlgError
) -> None:
    """Raise what is wrong with the first matrix that failed, on all ranks."""
    if not asked:
        return
    full = info.full_tensor() if hasattr(info, "full_tensor") else info
    numbers = np.ravel(np.asarray(full))
    failed = np.flatnonzero(numbers)
    if failed.size:
        name, _, rest = text.partition(": ")
        batch = f"(Batch element {failed[0]}): " if full.ndim else ""
        raise error(f"{name}: {batch}{rest.format(k=numbers[failed[0]])}")


def cholesky_ex(
    A: Any,  # noqa: N803
    *,
    upper: bool = False,
    check_errors: bool = False,
) -> Any:
    """Return Cholesky factors, and the orders of the minors that are not positive.

    Parameters
    ----------
    A : Tensor, shape (..., n, n)
        Of a DTensor the last two dims are gathered; the others stay cut.
    upper : bool, default False
        Whether the factors are upper triangular.
    check_errors : bool, default False
        Whether to raise for matrices that are not positive definite.

    Raises
    ------
    RuntimeError
        If asked for, on all ranks; also for what are no square matrices.
    """
    found, orders = cholesky_info(_square(A, "cholesky_ex"))
    info = ops.astype(orders, np.int32)
    text = (
        "linalg.cholesky_ex: The factorization could not be completed because the "
        "input is not positive-definite (the leading minor of order {k} is not "
        "positive-definite)."
    )
    _check(info, check_errors, text)
    if upper:
        found = ops.conj(ops.swapaxes(found, -2, -1))
    return TYPES["linalg_cholesky_ex"]((found, info))


def _fit(A: Any) -> tuple[Any, Any, Any]:  # noqa: N803
    """Return A with the identity for singular matrices, which ones these are, and
    where their factors have a 0."""
    info = _lu.lu(A.detach(), get_infos=True)[2]
    failed = ops.expand_dims(ops.greater(info, 0), (-2, -1))
    one = np.eye(A.shape[-1], dtype=np.dtype(A.dtype))
    return ops.where(failed, one, A), failed, info


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:  # noqa: N803
    """Return inverses, NaN of singular matrices, and their first pivots that are 0.

    Parameters
    ----------
    A : Tensor, shape (..., n, n)
    check_errors : bool, default False
        Whether to raise for singular matrices.

    Raises
    ------
    RuntimeError
        If asked for, on all ranks; also for what are no square matrices.
    """
    fit, failed, info = _fit(_square(A, "inv_ex"))
    text = (
        "linalg.inv_ex: The diagonal element {k} is zero, the inversion could not be "
        "completed because the input matrix is singular."
    )
    _check(info, check_errors, text)
    return TYPES["linalg_inv_ex"]((ops.where(failed, np.nan, linalg.inv(fit)), info))


def solve_ex(
    A: Any,  # noqa: N803
    B: Any,  # noqa: N803
    *,
    left: bool = True,
    check_errors: bool = False,
) -> Any:
    """Return X with ``A @ X == B``, or ``X @ A == B``; NaN where A is singular.

    Parameters
    ----------
    A : Tensor, shape (..., n, n)
    B : Tensor, shape (..., n, k) or (n, k), or (..., n) with the batches of A
    left : bool, default True
        Whether A is on the left.
    check_errors : bool, default False
        Whether to raise for singular matrices.

    Raises
    ------
    RuntimeError
        If asked for, on all ranks; also if shapes do not fit.
    """
    fit, failed, info = _fit(_square(A, "solve_ex"))
    text = (
        "torch.linalg.solve_ex: The solver failed because the input matrix is singular."
    )
    _check(info, check_errors, text)
    is_vector = B.ndim == 1 or (
        A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1])
    )
    right = ops.expand_dims(B, -1) if is_vector else B
    if left:
        found = linalg.solve(fit, right)
    else:
        turned = (ops.swapaxes(x, -2, -1) for x in (fit, right))
        found = ops.swapaxes(linalg.solve(*turned), -2, -1)
    found = ops.where(failed, np.nan, found)
    return TYPES["linalg_solve_ex"](
        (ops.squeeze(found, -1) if is_vector else found, info)
    )


def lu_factor_ex(
    A: Any,  # noqa: N803
    *,
    pivot: bool = True,
    check_errors: bool = False,
) -> Any:
    """Return packed factors and pivots as `lu_factor`, and the first diagonal element
    of U that is 0, counted from 1; 0 if none is.

    Raises
    ------
    RuntimeError
        If `check_errors` and there is one, on all ranks.
    """
    found = TYPES["linalg_lu_factor_ex"](_lu.lu(A, pivot, get_infos=True))
    text = (
        "torch.linalg.lu_factor_ex: U[{k},{k}] is zero and using it on lu_solve would "
        "result in a division by zero. If you still want to perform the factorization, "
        "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
    )
    _check(found.info, check_errors, text, RuntimeError)
    return found


def ldl_factor_ex(
    A: Any,  # noqa: N803
    *,
    hermitian: bool = False,
    check_errors: bool = False,
) -> Any:
    """Return ``A = L @ D @ L.mT`` of lower triangles in one matrix, pivots, and infos.

    Parameters
    ----------
    A : Tensor, shape (..., n, n)
        Without gradients, as in PyTorch.
    hermitian : bool, default False
        Whether complex matrices are Hermitian rather than symmetric.
    check_errors : bool, default False
        Whether to raise if a block of D is 0, on all ranks.
    """
    found = TYPES["linalg_ldl_factor_ex"](
        ldl(_square(A, "ldl_factor_ex").detach(), hermitian)
    )
    text = "torch.linalg.ldl_factor_ex: block {k} of D is zero."
    _check(found.info, check_errors, text, RuntimeError)
    return found


def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:  # noqa: N803
    """Return what `ldl_factor_ex` does, without infos."""
    return TYPES["linalg_ldl_factor"](ldl_factor_ex(A, hermitian=hermitian)[:2])


def ldl_solve(
    LD: Any,  # noqa: N803
    pivots: Any,
    B: Any,  # noqa: N803
    *,
    hermitian: bool = False,
) -> Any:
    """Return X with ``A @ X == B``, by the factors of A: see `ldl_factor`."""
    return linalg.solve(ldl_whole(LD.detach(), pivots, hermitian), B)
