"""Products and diagonals by the names and arguments of numpy.linalg."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.composite import array_of, composite
from dtensor.ops._make.operator import implements
from dtensor.ops._make.out import same_dtype
from dtensor.ops.linalg.matmul import outer as _outer
from dtensor.ops.linalg.triangle import diagonal as _diagonal
from dtensor.ops.linalg.vectors import cross as _cross
from dtensor.ops.reduce.reductions import trace as _trace

__all__ = ["cross", "diagonal", "multi_dot", "outer", "trace"]


@implements(np.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sum of the diagonals of matrices, shape (..., m, n) -> (...)."""
    return _trace(x, offset, -2, -1, dtype)


@implements(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonals of matrices, shape (..., m, n)."""
    return _diagonal(x, offset, -2, -1)


@implements(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Any:
    """Products of all pairs of elements, shapes (m,) and (n,) -> (m, n)."""
    x1, x2 = array_of(x1), array_of(x2)
    if (x1.ndim, x2.ndim) != (1, 1):
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={x1.ndim} and x2.ndim={x2.ndim}."
        )
    return _outer(x1, x2)


@implements(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of 3 elements, which lie along `axis`."""
    x1, x2 = array_of(x1), array_of(x2)
    lengths = x1.shape[axis], x2.shape[axis]
    if lengths != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead."
        )
    return _cross(x1, x2, axis=axis)


@implements(np.linalg.multi_dot)
@functools.partial(composite, check=same_dtype)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """Product of several matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of 2 or more arrays
        Of 2 dims; the first may be a row and the last a column, of one.

    Raises
    ------
    ValueError
        For fewer arrays.
    LinAlgError
        If one has other dims.
    """
    given = [array_of(x) for x in arrays]
    if len(given) < 2:
        raise ValueError("Expecting at least two arrays.")
    for k, x in enumerate(given):
        if x.ndim != 2 and not (x.ndim == 1 and k in (0, len(given) - 1)):
            raise np.linalg.LinAlgError(
                f"{x.ndim}-dimensional array given. Array must be two-dimensional"
            )
    first = 1 if given[0].ndim == 1 else given[0].shape[0]
    lengths = [first, *(x.shape[0] for x in given[1:])]
    lengths.append(1 if given[-1].ndim == 1 else given[-1].shape[1])

    @functools.cache
    def best(i: int, j: int) -> tuple[int, int]:
        """Return the cost of the product of i to j, and where it is divided."""
        return (
            min(
                (
                    best(i, k)[0]
                    + best(k + 1, j)[0]
                    + lengths[i] * lengths[k + 1] * lengths[j + 1],
                    k,
                )
                for k in range(i, j)
            )
            if i < j
            else (0, i)
        )

    def product(i: int, j: int) -> Any:
        k = best(i, j)[1]
        return given[i] if i == j else np.matmul(product(i, k), product(k + 1, j))

    return product(0, len(given) - 1)
