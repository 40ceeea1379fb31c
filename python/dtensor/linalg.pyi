"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy.typing as npt
from numpy.linalg import LinAlgError as LinAlgError

from dtensor import _C
from dtensor._C import (
    _T,
    DTensor,
    _ArrayLike,
    _Axis,
    _EighResult,
    _EigResult,
    _Out,
    _Plain,
    _QRResult,
    _SlogdetResult,
    _SVDResult,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
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
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

@overload
def cholesky(a: _T, /, *, upper: bool = False) -> _T: ...
@overload
def cholesky(a: _Plain, /, *, upper: bool = False) -> _C.Tensor: ...
@overload
def cond(x: _T, p: float | str | None = None) -> _T: ...
@overload
def cond(x: _Plain, p: float | str | None = None) -> _C.Tensor: ...
@overload
def cross(x1: _T, x2: _ArrayLike, /, *, axis: int = -1) -> _T: ...
@overload
def cross(x1: _Plain, x2: _T, /, *, axis: int = -1) -> _T: ...
@overload
def cross(x1: _Plain, x2: _Plain, /, *, axis: int = -1) -> _C.Tensor: ...
@overload
def det(a: _T) -> _T: ...
@overload
def det(a: _Plain) -> _C.Tensor: ...
@overload
def diagonal(x: _T, /, *, offset: int = 0) -> _T: ...
@overload
def diagonal(x: _Plain, /, *, offset: int = 0) -> _C.Tensor: ...
@overload
def eig(a: _T) -> _EigResult[_T]: ...
@overload
def eig(a: _Plain) -> _EigResult[_C.Tensor]: ...
@overload
def eigh(a: _T, UPLO: str = "L") -> _EighResult[_T]: ...
@overload
def eigh(a: _Plain, UPLO: str = "L") -> _EighResult[_C.Tensor]: ...
@overload
def eigvals(a: _T) -> _T: ...
@overload
def eigvals(a: _Plain) -> _C.Tensor: ...
@overload
def eigvalsh(a: _T, UPLO: str = "L") -> _T: ...
@overload
def eigvalsh(a: _Plain, UPLO: str = "L") -> _C.Tensor: ...
@overload
def inv(a: _T) -> _T: ...
@overload
def inv(a: _Plain) -> _C.Tensor: ...
@overload
def lstsq(
    a: _T, b: _ArrayLike, rcond: float | None = None
) -> tuple[_T, _T, _T, _T]: ...
@overload
def lstsq(a: _Plain, b: _T, rcond: float | None = None) -> tuple[_T, _T, _T, _T]: ...
@overload
def lstsq(
    a: _Plain, b: _Plain, rcond: float | None = None
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def matmul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def matrix_norm(
    x: _T, /, *, keepdims: bool = False, ord: float | str = "fro"
) -> _T: ...
@overload
def matrix_norm(
    x: _Plain, /, *, keepdims: bool = False, ord: float | str = "fro"
) -> _C.Tensor: ...
@overload
def matrix_power(a: _T, n: int) -> _T: ...
@overload
def matrix_power(a: _Plain, n: int) -> _C.Tensor: ...
def matrix_rank(
    A: _ArrayLike,
    tol: float | None = None,
    hermitian: bool = False,
    *,
    rtol: float | None = None,
) -> DTensor: ...
@overload
def matrix_transpose(x: _T, /) -> _T: ...
@overload
def matrix_transpose(x: _Plain, /) -> _C.Tensor: ...
@overload
def multi_dot(arrays: Sequence[_T], *, out: _Out = None) -> _T: ...
@overload
def multi_dot(arrays: Sequence[_Plain], *, out: _Out = None) -> _C.Tensor: ...
@overload
def norm(
    x: _T,
    ord: float | str | None = None,
    axis: _Axis | None = None,
    keepdims: bool = False,
) -> _T: ...
@overload
def norm(
    x: _Plain,
    ord: float | str | None = None,
    axis: _Axis | None = None,
    keepdims: bool = False,
) -> _C.Tensor: ...
@overload
def norm(
    x: _T, ord: float | str | None = None, *, dim: _Axis | None, keepdim: bool = False
) -> _T: ...
@overload
def norm(
    x: _Plain,
    ord: float | str | None = None,
    *,
    dim: _Axis | None,
    keepdim: bool = False,
) -> _C.Tensor: ...
@overload
def outer(x1: _T, x2: _ArrayLike, /) -> _T: ...
@overload
def outer(x1: _Plain, x2: _T, /) -> _T: ...
@overload
def outer(x1: _Plain, x2: _Plain, /) -> _C.Tensor: ...
@overload
def pinv(
    a: _T, rcond: float | None = None, hermitian: bool = False, *, rtol: float = ...
) -> _T: ...
@overload
def pinv(
    a: _Plain, rcond: float | None = None, hermitian: bool = False, *, rtol: float = ...
) -> _C.Tensor: ...
@overload
def qr(a: _T, mode: Literal["reduced", "complete"] = "reduced") -> _QRResult[_T]: ...
@overload
def qr(
    a: _Plain, mode: Literal["reduced", "complete"] = "reduced"
) -> _QRResult[_C.Tensor]: ...
@overload
def qr(a: _T, mode: Literal["r"]) -> _T: ...
@overload
def qr(a: _Plain, mode: Literal["r"]) -> _C.Tensor: ...
@overload
def qr(a: _T, mode: Literal["raw"]) -> tuple[_T, _T]: ...
@overload
def qr(a: _Plain, mode: Literal["raw"]) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def qr(a: _T, mode: str = "reduced") -> Any: ...
@overload
def qr(a: _Plain, mode: str = "reduced") -> Any: ...
@overload
def slogdet(a: _T) -> _SlogdetResult[_T]: ...
@overload
def slogdet(a: _Plain) -> _SlogdetResult[_C.Tensor]: ...
@overload
def solve(a: _T, b: _ArrayLike) -> _T: ...
@overload
def solve(a: _Plain, b: _T) -> _T: ...
@overload
def solve(a: _Plain, b: _Plain) -> _C.Tensor: ...
@overload
def svd(
    a: _T,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> _SVDResult[_T]: ...
@overload
def svd(
    a: _Plain,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    hermitian: bool = False,
) -> _SVDResult[_C.Tensor]: ...
@overload
def svd(
    a: _T,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
) -> _T: ...
@overload
def svd(
    a: _Plain,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    hermitian: bool = False,
) -> _C.Tensor: ...
@overload
def svd(
    a: _T, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any: ...
@overload
def svd(
    a: _Plain,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any: ...
@overload
def svdvals(x: _T, /) -> _T: ...
@overload
def svdvals(x: _Plain, /) -> _C.Tensor: ...
@overload
def tensordot(
    a: _T, b: _ArrayLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> _T: ...
@overload
def tensordot(
    a: _Plain, b: _T, axes: int | Sequence[int | Sequence[int]] = 2
) -> _T: ...
@overload
def tensordot(
    a: _Plain, b: _Plain, axes: int | Sequence[int | Sequence[int]] = 2
) -> _C.Tensor: ...
@overload
def tensorinv(a: _T, ind: int = 2) -> _T: ...
@overload
def tensorinv(a: _Plain, ind: int = 2) -> _C.Tensor: ...
@overload
def tensorsolve(a: _T, b: _ArrayLike, axes: Sequence[int] | None = None) -> _T: ...
@overload
def tensorsolve(a: _Plain, b: _T, axes: Sequence[int] | None = None) -> _T: ...
@overload
def tensorsolve(
    a: _Plain, b: _Plain, axes: Sequence[int] | None = None
) -> _C.Tensor: ...
@overload
def trace(x: _T, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def trace(
    x: _Plain, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def vecdot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def vecdot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def vector_norm(
    x: _T, /, *, axis: _Axis | None = None, keepdims: bool = False, ord: float | str = 2
) -> _T: ...
@overload
def vector_norm(
    x: _Plain,
    /,
    *,
    axis: _Axis | None = None,
    keepdims: bool = False,
    ord: float | str = 2,
) -> _C.Tensor: ...
@overload
def vector_norm(
    x: _T, /, *, dim: _Axis | None, keepdim: bool = False, ord: float | str = 2
) -> _T: ...
@overload
def vector_norm(
    x: _Plain, /, *, dim: _Axis | None, keepdim: bool = False, ord: float | str = 2
) -> _C.Tensor: ...
