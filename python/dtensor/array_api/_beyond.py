"""Names that other libraries ask a namespace for, and that the standard lacks."""

from typing import Any

import numpy as np

from dtensor.array_api import _special
from dtensor.array_api._answer import answer

__all__ = ["beyond"]

_NAMES = {
    "pad": answer(np.pad),  # xarray
    "lib": np.lib,  # xarray: windows, which NumPy dispatches
    "special": _special,  # SciPy, with SCIPY_ARRAY_API=1
}


def beyond(name: str) -> Any:
    """Return what a namespace has under a name beside the standard's names."""
    if name not in _NAMES:
        raise AttributeError(f"module 'dtensor.array_api' has no attribute {name!r}")
    return _NAMES[name]
