"""Numbers in equal steps, with PyTorch's bits: those of the first half count from the
start, the others from the end."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["spaced", "spaced_floats"]


def _places(steps: int) -> npt.NDArray[Any]:
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    return np.arange(steps)


def spaced_floats(start: Any, end: Any, steps: int) -> npt.NDArray[Any]:
    """Return PyTorch's bits: the step is rounded, and its product is not."""
    place = _places(steps)
    if steps < 2:
        return np.full(steps, start)
    step = np.longdouble((end - start) / type(start)(steps - 1))
    near, far = start + step * place, end - step * (steps - 1 - place)
    return np.asarray(np.where(place < steps // 2, near, far), type(start))


def spaced(start: int, end: int, steps: int, first: int) -> npt.NDArray[Any]:
    """Return numbers in equal steps: the first from `start`, the others from `end`."""
    place, step = _places(steps), (end - start) / max(steps - 1, 1)
    far = end - step * (steps - 1 - place)
    return np.where(place < first, start + step * place, far)
