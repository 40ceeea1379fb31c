"""Linear algebra: ``numpy.linalg`` on DTensors and Tensors."""

from numpy.linalg import LinAlgError

from dtensor.ops.linalg import (
    decompositions as _linalg,
    least_squares as _linalg_least_squares,
    norms as _linalg_norm,
    products as _linalg_product,
)
from dtensor.ops.linalg.decompositions import *  # noqa: F403
from dtensor.ops.linalg.least_squares import *  # noqa: F403
from dtensor.ops.linalg.matmul import matmul, tensordot, vecdot
from dtensor.ops.linalg.norms import *  # noqa: F403
from dtensor.ops.linalg.products import *  # noqa: F403
from dtensor.ops.shape.view import matrix_transpose

__all__ = ["LinAlgError", "matmul", "matrix_transpose", "tensordot", "vecdot"]
__all__ += _linalg.__all__
__all__ += _linalg_least_squares.__all__
__all__ += _linalg_norm.__all__
__all__ += _linalg_product.__all__
