"""Reshaping in Fortran's order: where NumPy copies the whole, every part is copied."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from dtensor.ops._make.words import Shape

__all__ = ["copies_whole", "long_dims", "reordered"]


def copies_whole(old: Shape, new: Shape) -> bool:
    """Return whether NumPy copies an array that lies in C order to reshape it."""
    strides = [math.prod(old[dim + 1 :]) for dim in range(len(old))]
    whole = as_strided(np.empty(1, bool), old, strides)  # takes no memory
    try:
        whole.reshape(new, order="F", copy=False)
    except ValueError:
        return True
    return False


def long_dims(shape: Shape) -> tuple[int, ...]:
    """Return the dims by whose strides the order of an array can be known."""
    return tuple(dim for dim, length in enumerate(shape) if length > 1)


def reordered(
    part: npt.NDArray[Any], shape: Shape | int, dims: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Return a reshaped part: a copy if it lies in C order.

    If it is short or empty it is in both orders, which other parts are not: but for its
    strides in the long dims of the whole. Where they are equal, too, it is in C order.
    """
    steps = [part.strides[dim] for dim in dims]
    in_c = steps == sorted(steps, reverse=True)
    return part.reshape(shape, order="F", copy=True if in_c else None)
