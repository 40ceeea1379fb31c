"""What may be given as a dtype."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.require import require

__all__ = ["dtype_of"]


def dtype_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return the dtype that a name or a type means; also that of "bfloat16".

    Raises
    ------
    ModuleNotFoundError
        If that needs ml_dtypes, with the command that installs it.
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        found: np.dtype[Any] = np.dtype(require("ml_dtypes").bfloat16)
        return found
    return np.dtype(dtype)
