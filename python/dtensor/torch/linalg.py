"""``torch.linalg``: `dtensor.linalg`, which also takes `dim` and `keepdim`."""

from typing import Any

from dtensor import linalg
from dtensor.linalg import *  # noqa: F403
from dtensor.torch import (
    _checked,
    _edges,
    _errors,
    _linalg,
    _lu,
    _matrix,
    _measures,
    _reflected,
)
from dtensor.torch._returned import typed
from dtensor.torch._types import keeps

__all__ = [
    "cholesky_ex",
    "cross",
    "diagonal",
    "eig",
    "eigvals",
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
    "matrix_rank",
    "norm",
    "pinv",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorsolve",
    "vander",
    "vector_norm",
]
__all__ += [name for name in linalg.__all__ if name not in __all__]


cholesky_ex = _edges.writes(_checked.cholesky_ex)
cross = _linalg.cross
diagonal = _linalg.diagonal
eig = _linalg.eig
eigvals = _linalg.eigvals
householder_product = _edges.writes(keeps(_reflected.orgqr))
inv_ex = _edges.writes(_checked.inv_ex)
ldl_factor = _edges.writes(_checked.ldl_factor)
ldl_factor_ex = _edges.writes(_checked.ldl_factor_ex)
ldl_solve = _edges.writes(_checked.ldl_solve)
lstsq = keeps(_lu.lstsq)
lu = _lu.linalg_lu
lu_factor = _lu.lu_factor
lu_factor_ex = _edges.writes(_checked.lu_factor_ex)
lu_solve = _lu.linalg_lu_solve
matrix_exp = _matrix.matrix_exp
matrix_norm = _linalg.matrix_norm
matrix_rank = _linalg.matrix_rank
norm = _linalg.norm
pinv = _linalg.pinv
solve = _linalg.solve
solve_ex = _edges.writes(keeps(_checked.solve_ex))
solve_triangular = _lu.solve_triangular
svd = _linalg.svd
svdvals = _linalg.svdvals
tensorsolve = _linalg.tensorsolve
vander = _linalg.vander
vector_norm = _linalg.vector_norm
_errors.speak(globals(), [name for name in __all__ if name != "norm"])
norm = _errors.refuses("norm", norm)
_of_vectors: dict[str, Any] = {"vector_norm": vector_norm}
_measures.direct(_of_vectors)
globals().update(_of_vectors)
# Those that NumPy calls a matrix `a`.
PLACED = """
    cholesky cond det eigh eigvalsh inv matrix_power multi_dot qr slogdet tensorinv
    vecdot
""".split()
for _name in PLACED:
    globals()[_name] = _edges.placed(globals()[_name])
for _name in ("eigh", "qr", "slogdet"):
    globals()[_name] = typed(globals()[_name], f"linalg_{_name}")
