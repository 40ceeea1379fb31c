"""Linear algebra: ``numpy.linalg`` on DTensors and Tensors."""

from numpy.linalg import LinAlgError

from dtensor.ops import (
    linalg as _linalg,
    linalg_norm as _linalg_norm,
    linalg_product as _linalg_product,
)
from dtensor.ops.linalg import *  # noqa: F403
from dtensor.ops.linalg_norm import *  # noqa: F403
from dtensor.ops.linalg_product import *  # noqa: F403
from dtensor.ops.matmul import matmul, tensordot, vecdot
from dtensor.ops.view import matrix_transpose

__all__ = ["LinAlgError", "matmul", "matrix_transpose", "tensordot", "vecdot"]
__all__ += _linalg.__all__
__all__ += _linalg_norm.__all__
__all__ += _linalg_product.__all__
