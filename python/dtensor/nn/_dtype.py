"""Which dtypes count as floating-point."""

from typing import Any

import numpy as np

__all__ = ["is_floating"]


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Return whether numbers of a dtype are real and have fractions.

    Also those of ``ml_dtypes.bfloat16``, which NumPy takes for raw bytes.
    """
    return dtype.kind == "f" or dtype.name == "bfloat16"
