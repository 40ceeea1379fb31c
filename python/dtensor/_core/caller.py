"""Where a call of the library comes from: the nearest line that is not ours."""

import sys
import warnings
from pathlib import Path

import numpy as np

from dtensor import _C

__all__ = ["OURS", "caller", "warn"]

# Frames of these folders are not the caller's.
OURS = tuple(str(Path(f).parent) for f in (_C.__file__, np.__file__))


def caller() -> tuple[str, int, int]:
    """Return file, line and stack level of the nearest frame that is not ours."""
    frame, level = sys._getframe(1), 1
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return frame.f_code.co_filename, frame.f_lineno, level


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the caller's line."""
    warnings.warn(text, category, stacklevel=caller()[2])
