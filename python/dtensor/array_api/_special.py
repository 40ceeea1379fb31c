"""SciPy's special functions, which SciPy asks a namespace for with SCIPY_ARRAY_API=1.

They are ufuncs, so they compute on each part of an array and leave it cut. Nothing is
here without SciPy, and nothing of it is imported: whoever asks has done so.
"""

import sys
from typing import Any

import numpy as np

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    found = getattr(sys.modules.get("scipy.special._ufuncs"), name, None)
    if not isinstance(found, np.ufunc):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
