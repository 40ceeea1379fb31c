"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
import builtins
from collections.abc import Sequence
from typing import Any, overload

import numpy.typing as npt
from numpy.linalg import LinAlgError as LinAlgError

from dtensor._C import (
    _T,
    TorchTensor,
    _ArrayLike,
    _EighResult,
    _EigResult,
    _Out,
    _Plain,
    _QRResult,
    _Shape,
    _SlogdetResult,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vander",
    "vecdot",
    "vector_norm",
]

def cholesky(a: _T, /, *, upper: builtins.bool = False) -> _T: ...
def cholesky_ex(
    A: Any, *, upper: builtins.bool = False, check_errors: builtins.bool = False
) -> TorchTensor: ...
def cond(x: _T, p: builtins.float | builtins.str | None = None) -> _T: ...
@overload
def cross(input: _T, other: _ArrayLike, *, dim: builtins.int = -1) -> _T: ...
@overload
def cross(input: _Plain, other: _T, *, dim: builtins.int = -1) -> _T: ...
def det(a: _T) -> _T: ...
def diagonal(
    A: Any,
    *,
    offset: builtins.int = 0,
    dim1: builtins.int = -2,
    dim2: builtins.int = -1,
) -> TorchTensor: ...
def eig(A: Any) -> _EigResult[TorchTensor]: ...
def eigh(a: _T, UPLO: builtins.str = "L") -> _EighResult[_T]: ...
def eigvals(A: Any) -> TorchTensor: ...
def eigvalsh(a: _T, UPLO: builtins.str = "L") -> _T: ...
def householder_product(input: _T, tau: Any) -> _T: ...
def inv(a: _T) -> _T: ...
def inv_ex(A: Any, *, check_errors: builtins.bool = False) -> TorchTensor: ...
def ldl_factor(A: Any, *, hermitian: builtins.bool = False) -> TorchTensor: ...
def ldl_factor_ex(
    A: Any, *, hermitian: builtins.bool = False, check_errors: builtins.bool = False
) -> TorchTensor: ...
def ldl_solve(
    LD: Any, pivots: Any, B: Any, *, hermitian: builtins.bool = False
) -> TorchTensor: ...
def lstsq(
    A: Any,
    B: Any,
    rcond: builtins.float | None = None,
    *,
    driver: builtins.str | None = None,
) -> tuple[TorchTensor, TorchTensor, TorchTensor, TorchTensor]: ...
def lu(
    A: Any, *, pivot: builtins.bool = True
) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
def lu_factor(
    A: Any, *, pivot: builtins.bool = True
) -> tuple[TorchTensor, TorchTensor]: ...
def lu_factor_ex(
    A: Any, *, pivot: builtins.bool = True, check_errors: builtins.bool = False
) -> TorchTensor: ...
def lu_solve(
    LU: Any,
    pivots: Any,
    B: Any,
    *,
    left: builtins.bool = True,
    adjoint: builtins.bool = False,
) -> TorchTensor: ...
@overload
def matmul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def matrix_exp(input: _T) -> _T: ...
def matrix_norm(
    A: Any,
    ord: builtins.float | builtins.str = "fro",
    dim: Any = ...,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> TorchTensor: ...
def matrix_power(a: _T, n: builtins.int) -> _T: ...
def matrix_rank(
    A: Any,
    tol: builtins.float | None = None,
    hermitian: builtins.bool = False,
    *,
    atol: builtins.float | None = None,
    rtol: builtins.float | None = None,
) -> TorchTensor: ...
def matrix_transpose(x: _T, /) -> _T: ...
def multi_dot(arrays: Sequence[_T], *, out: _Out = None) -> _T: ...
def norm(
    A: Any,
    ord: builtins.float | builtins.str | None = None,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> TorchTensor: ...
@overload
def outer(x1: _T, x2: _ArrayLike, /) -> _T: ...
@overload
def outer(x1: _Plain, x2: _T, /) -> _T: ...
def pinv(
    A: Any,
    rcond: builtins.float | None = None,
    hermitian: builtins.bool = False,
    *,
    atol: builtins.float | None = None,
    rtol: builtins.float | None = None,
) -> TorchTensor: ...
def qr(a: _T, mode: builtins.str = "reduced") -> _QRResult[_T]: ...
def slogdet(a: _T) -> _SlogdetResult[_T]: ...
def solve(A: Any, B: Any, *, left: builtins.bool = True) -> TorchTensor: ...
def solve_ex(
    A: Any, B: Any, *, left: builtins.bool = True, check_errors: builtins.bool = False
) -> TorchTensor: ...
def solve_triangular(
    A: Any,
    B: Any,
    *,
    upper: builtins.bool,
    left: builtins.bool = True,
    unitriangular: builtins.bool = False,
) -> TorchTensor: ...
def svd(
    A: Any, full_matrices: builtins.bool = True, *, driver: builtins.str | None = None
) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
def svdvals(A: Any, *, driver: builtins.str | None = None) -> TorchTensor: ...
@overload
def tensordot(
    a: _T,
    b: _ArrayLike,
    axes: builtins.int | Sequence[builtins.int | Sequence[builtins.int]] = 2,
) -> _T: ...
@overload
def tensordot(
    a: _Plain,
    b: _T,
    axes: builtins.int | Sequence[builtins.int | Sequence[builtins.int]] = 2,
) -> _T: ...
def tensorinv(a: _T, ind: builtins.int = 2) -> _T: ...
def tensorsolve(A: Any, B: Any, dims: _Shape | None = None) -> TorchTensor: ...
def trace(
    x: _T, /, *, offset: builtins.int = 0, dtype: npt.DTypeLike | None = None
) -> _T: ...
def vander(x: _T, N: builtins.int | None = None) -> _T: ...
@overload
def vecdot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    axis: builtins.int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    axis: builtins.int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def vector_norm(
    x: _T,
    ord: builtins.float = 2,
    dim: Any = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
