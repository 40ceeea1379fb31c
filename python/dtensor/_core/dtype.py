"""What may be given as a dtype."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.require import require

__all__ = ["ML_DTYPES", "dtype_of"]

# Dtypes of the package ml_dtypes, whose names NumPy knows only once that is imported,
# and the bytes of an element.
ML_DTYPES = {"bfloat16": 2}


def dtype_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype that a name or a type means; also a name of `ML_DTYPES`.

    Raises
    ------
    ModuleNotFoundError
        If that needs ml_dtypes, with the command that installs it.
    """
    if isinstance(dtype, str) and dtype in ML_DTYPES:
        found: np.dtype[Any] = np.dtype(getattr(require("ml_dtypes"), dtype))
        return found
    return np.dtype(dtype)
