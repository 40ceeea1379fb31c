"""``torch.linalg``: `dtensor.linalg`, which also takes `dim` and `keepdim`."""

from typing import Any

import numpy.typing as npt

from dtensor import linalg
from dtensor.linalg import *  # noqa: F403
from dtensor.torch import _reduce

__all__ = ["matrix_norm", "vector_norm"]
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
