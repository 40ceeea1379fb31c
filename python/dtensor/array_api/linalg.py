"""The extension `linalg` of the array API standard."""

import numpy as np

from dtensor.array_api._answer import answer

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

cholesky = answer(np.linalg.cholesky)
cross = answer(np.linalg.cross)
det = answer(np.linalg.det)
diagonal = answer(np.linalg.diagonal)
eigh = answer(np.linalg.eigh)
eigvalsh = answer(np.linalg.eigvalsh)
inv = answer(np.linalg.inv)
matmul = answer(np.linalg.matmul)
matrix_norm = answer(np.linalg.matrix_norm)
matrix_power = answer(np.linalg.matrix_power)
matrix_rank = answer(np.linalg.matrix_rank)
matrix_transpose = answer(np.linalg.matrix_transpose)
outer = answer(np.linalg.outer)
pinv = answer(np.linalg.pinv)
qr = answer(np.linalg.qr)
slogdet = answer(np.linalg.slogdet)
solve = answer(np.linalg.solve)
svd = answer(np.linalg.svd)
svdvals = answer(np.linalg.svdvals)
tensordot = answer(np.linalg.tensordot)
trace = answer(np.linalg.trace)
vecdot = answer(np.linalg.vecdot)
vector_norm = answer(np.linalg.vector_norm)
