"""``torch.linalg``: `dtensor.linalg`, which also takes `dim` and `keepdim`."""

from typing import Any

import numpy.typing as npt

from dtensor import linalg
from dtensor.linalg import *  # noqa: F403
from dtensor.torch import (
    _checked,
    _edges,
    _errors,
    _lu,
    _matrix,
    _measures,
    _reduce,
    _reflected,
    _shape,
)

__all__ = [
    "cholesky_ex",
    "diagonal",
    "householder_product",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matrix_exp",
    "matrix_norm",
    "solve_ex",
    "solve_triangular",
    "vander",
    "vector_norm",
]
__all__ += [name for name in linalg.__all__ if name not in __all__]


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


def matrix_norm(A: Any, ord: Any = "fro", *, keepdim: bool = False) -> Any:  # noqa: N803
    """Return the norm of the matrices in the last two dims."""
    return linalg.matrix_norm(A, ord=ord, keepdims=keepdim)


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803
    """Return the diagonals of matrices, as the last dim: a view."""
    return _shape.diagonal(A, offset, dim1, dim2)


cholesky_ex = _edges.writes(_checked.cholesky_ex)
householder_product = _edges.writes(_reflected.orgqr)
inv_ex = _edges.writes(_checked.inv_ex)
ldl_factor = _edges.writes(_checked.ldl_factor)
ldl_factor_ex = _edges.writes(_checked.ldl_factor_ex)
ldl_solve = _edges.writes(_checked.ldl_solve)
lstsq = _lu.lstsq
lu = _lu.linalg_lu
lu_factor = _lu.lu_factor
lu_factor_ex = _edges.writes(_checked.lu_factor_ex)
lu_solve = _lu.linalg_lu_solve
matrix_exp = _matrix.matrix_exp
solve_ex = _edges.writes(_checked.solve_ex)
solve_triangular = _lu.solve_triangular
vander = _matrix.vander
_errors.speak(globals(), [name for name in __all__ if name != "norm"])
_of_vectors: dict[str, Any] = {"vector_norm": vector_norm}
_measures.direct(_of_vectors)
globals().update(_of_vectors)
