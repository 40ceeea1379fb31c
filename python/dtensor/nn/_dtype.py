"""Which dtypes count as floating-point."""

from typing import Any

import numpy as np

__all__ = ["is_floating"]


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is a real floating-point one.

    This includes ``ml_dtypes.bfloat16``, which NumPy treats as raw bytes.
    """
    return dtype.kind == "f" or dtype.name == "bfloat16"
