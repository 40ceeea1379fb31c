"""Exceptions of operators on tensors in PyTorch's dialect: RuntimeErrors, as PyTorch's.

They are still what NumPy raises, too.
"""

import numpy as np

from dtensor import _C

__all__ = ["ArgumentError", "LinAlgError"]


class ArgumentError(RuntimeError, ValueError):
    """Shapes do not fit each other, or an argument has a value that it cannot have."""


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite, or an iteration did not end."""


_C.set_torch_errors({ValueError: ArgumentError, np.linalg.LinAlgError: LinAlgError})
