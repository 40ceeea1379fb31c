"""What may be given as a dtype."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.require import require

__all__ = ["CASTS", "ML_DTYPES", "dtype_of"]

# Dtypes of ml_dtypes and their sizes in bytes. NumPy knows their names only after that
# package has been imported.
ML_DTYPES = {"bfloat16": 2}

# Methods that cast, as in torch.
CASTS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}


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
