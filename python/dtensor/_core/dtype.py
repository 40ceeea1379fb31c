"""What may be given as a dtype."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.require import require

__all__ = ["ML_DTYPES", "dtype_of"]

# Dtypes of ml_dtypes and their sizes in bytes. NumPy knows their names only after that
# package has been imported.
ML_DTYPES = {"bfloat16": 2}


def dtype_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype for a name or a type, including the names in `ML_DTYPES`.

    Raises
    ------
    ModuleNotFoundError
        If ml_dtypes is needed and missing, with the command that installs it.
    """
    if isinstance(dtype, str) and dtype in ML_DTYPES:
        found: np.dtype[Any] = np.dtype(getattr(require("ml_dtypes"), dtype))
        return found
    return np.dtype(dtype)
