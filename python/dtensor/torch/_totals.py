"""Totals of float32 and float64 by kernels in C, and running ones."""

from typing import Any

from dtensor import _C
from dtensor.ops._make.direct import Maybe
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops._make.operator import Operand, call, letters
from dtensor.ops._make.words import rule

__all__ = ["PRODUCT", "SUM", "running", "running_extreme", "total_call"]

SUM, PRODUCT = 0, 3  # sums of absolute values are 1, roots of sums of squares 2


def total_call(
    x: Operand, total: int, axes: tuple[int, ...], keepdim: Any, divisor: int = 1
) -> call | None:
    """Return the kernel's call; None for other dtypes, or dims that lie apart."""
    first, end = (axes[0], axes[-1] + 1) if axes else (0, 0)
    if x.dtype not in DIRECT or axes != tuple(range(first, end)):
        return None
    return call(_C.kernel("total"), x, total, first, end, bool(keepdim), divisor)


def _dim(x: Any, dim: Any) -> int | None:
    """Return a dim, from 0 on, of a tensor of this rank that there is a kernel for."""
    if not isinstance(x, Operand) or x.layout is not None or type(dim) is not int:
        return None
    return dim % x.ndim if x.dtype in DIRECT and -x.ndim <= dim < x.ndim else None


def running(x: Any, total: int, dim: Any) -> Maybe:
    """Return the row of running sums or products."""
    at = _dim(x, dim)
    if at is None:
        return None
    names = letters(x.ndim, whole=[at])
    return rule([names], [names]), call(_C.kernel("running"), x, total, at), x.dtype


def running_extreme(x: Any, least: bool, dim: Any, kernel: Any, index: Any) -> Maybe:
    """Return the row of running extremes and their indices."""
    at = _dim(x, dim)
    if at is None or 0 in x.shape:
        return None
    names = letters(x.ndim, whole=[at])
    return rule([names], [names, names]), call(kernel, x, least, at), (x.dtype, index)
