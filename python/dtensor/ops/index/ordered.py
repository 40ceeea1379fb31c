"""Elements by index arrays, in the order in memory of each dialect."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["taken"]

Array = npt.NDArray[Any]
ALL = slice(None)


def taken(x: Array, index: tuple[Any, ...], rows: bool) -> Any:
    """Return ``x[index]`` of an index with arrays.

    NumPy puts the dims of the arrays first in memory, and the others in the order of
    `x`. With `rows` the result is in C order, as in PyTorch's dialect."""
    if not rows:
        return x[index]
    *before, last = index
    alone = isinstance(last, np.ndarray) and last.ndim > 0 and last.dtype.kind == "i"
    if alone and all(isinstance(k, slice) and k == ALL for k in before):
        if x.flags.c_contiguous and len(before) < x.ndim:
            return x.take(last, len(before))
    return np.asarray(x[index], order="C")
