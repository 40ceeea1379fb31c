"""Norms: local sums, a reduction, and one operation on the total."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite, rounded_once
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.numbers import as_python_int
from dtensor.ops._make.operator import (
    Operand,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.reduction import kept
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.elementwise.functions import where
from dtensor.ops.linalg.decompositions import svdvals
from dtensor.ops.reduce import reductions as extremes
from dtensor.ops.shape.view import expand_dims, moveaxis, squeeze

__all__ = ["matrix_norm", "norm", "vector_norm"]

Axes = tuple[int, ...]


def _squares(x: npt.NDArray[Any], axes: Axes, keepdims: bool) -> Any:
    """Return sums of ``abs(x) ** 2``; of all elements without an array of squares."""
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    if len(axes) < x.ndim:
        return (x.conj() * x).real.sum(axis=axes, keepdims=keepdims)
    row = x
    if x.dtype.kind == "c":  # as pairs: BLAS makes NaN of infinite complex numbers
        row = np.ravel(x).view(x.real.dtype)
    total = np.vdot(row, row)
    return np.reshape(total, (1,) * x.ndim) if keepdims else total


@operator(name="norm")
def _sum_squares(x: Operand, axes: Axes, keepdims: bool) -> Answer:
    names = letters(x.ndim)
    text = rule([names], [kept(names, axes, keepdims)])
    return text, call(_squares, x, axes, keepdims)


_sum_squares.vjp(
    lambda grad, _out, x, axes, keepdims: (
        2 * (grad if keepdims else expand_dims(grad, axes)) * x
    )
)


# At 0 a norm has a kink: its gradient is 0 there, as PyTorch's.


@operator(name="norm")
def _root(total: Operand, order: float) -> Answer:
    kernel = call(np.sqrt, total) if order == 2 else call(np.power, total, 1 / order)
    return broadcast([total]), kernel


@operator(name="norm")
def _powers(size: Operand, order: float) -> Answer:
    return broadcast([size]), call(np.power, size, order)


_root.vjp(
    lambda grad, out, _total, order: where(
        out == 0, 0, grad * where(out == 0, 1, out) ** (1 - order) / order
    )
)
_powers.vjp(
    lambda grad, _out, size, order: where(
        size == 0, 0, grad * order * where(size == 0, 1, size) ** (order - 1)
    )
)


def _absolute(x: Any) -> Any:
    return np.abs(x if x.dtype.kind in "fc" else x.astype(float))


def _norm_of_vectors(x: Any, order: Any, axes: Axes, keepdims: bool) -> Any:
    """Return norms of what lies along `axes`, as if that were one dim."""
    order = as_python_int(order)
    if order is None or order == 2:
        return _root(_sum_squares(x, axes, keepdims), 2)
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    size = _absolute(x)
    if order == math.inf:
        return extremes.max(size, axes, keepdims=keepdims, initial=0)
    if order == -math.inf:
        return extremes.min(size, axes, keepdims=keepdims)
    if order == 0:
        counted = (size != 0).astype(size.dtype)
        return counted.sum(axis=axes, keepdims=keepdims)
    if order == 1:
        return size.sum(axis=axes, keepdims=keepdims)
    return _root(_powers(size, order).sum(axis=axes, keepdims=keepdims), order)


# order -> what is summed: dim 0 or 1 of the two, and what is taken of the sums
_SUMS: dict[Any, tuple[int, Any, dict[str, int]]] = {
    1: (0, np.max, {"initial": 0}),
    -1: (0, np.min, {}),
    math.inf: (1, np.max, {"initial": 0}),
    -math.inf: (1, np.min, {}),
}
# order -> what is taken of the singular values
_SINGULAR: dict[Any, tuple[Any, dict[str, int]]] = {
    2: (np.max, {"initial": 0}),
    -2: (np.min, {}),
    "nuc": (np.sum, {}),
}


def _norm_of_matrices(x: Any, order: Any, axes: Axes, keepdims: bool) -> Any:
    rows, columns = (normalize_axis_index(axis, x.ndim) for axis in axes)
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    if order in (None, "fro", "f"):
        return _root(_sum_squares(x, (rows, columns), keepdims), 2)
    if order in _SUMS:
        side, take, initial = _SUMS[order]
        first, second = ((rows, columns), (columns, rows))[side]
        sums = np.sum(_absolute(x), axis=first, keepdims=True)
        found = take(sums, axis=second, keepdims=True, **initial)
        return found if keepdims else squeeze(found, (rows, columns))
    if order in _SINGULAR:
        take, initial = _SINGULAR[order]
        values = svdvals(moveaxis(x, (rows, columns), (-2, -1)))
        found = take(values, axis=-1, **initial)
        return expand_dims(found, (rows, columns)) if keepdims else found
    raise ValueError("Invalid norm order for matrices.")


@implements(np.linalg.norm)
@composite
@rounded_once
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Norm of vectors or matrices.

    Parameters
    ----------
    x : array
    ord : {None, int, float, inf, -inf, "fro", "nuc"}
        Which norm, as for `numpy.linalg.norm`; None: the root of the sum of squares.
    axis : int or pair of int, optional
        The dim of vectors or dims of matrices; default: all dims, as many as they are
        if `ord` is None.
    keepdims : bool
        Whether the reduced dims stay, with length 1.

    Returns
    -------
    array
        Sums over cut dims are Partial up to the root: one all_reduce of the result.

    Raises
    ------
    ValueError
        For a norm that vectors or matrices do not have.
    """
    if axis is None and (ord is None or (ord in ("f", "fro") and x.ndim == 2)):
        return _root(_sum_squares(x, axes_of(None, x.ndim), keepdims), 2)
    axes = tuple(range(x.ndim)) if axis is None else axis
    if not isinstance(axes, tuple):
        try:
            axes = (int(axes),)
        except Exception as error:
            raise TypeError(
                "'axis' must be None, an integer or a tuple of integers"
            ) from error
    if len(axes) == 1:
        return _norm_of_vectors(x, ord, axes_of(axes, x.ndim), keepdims)
    if len(axes) == 2:
        return _norm_of_matrices(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


@implements(np.linalg.vector_norm)
@composite
@rounded_once
def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    """Norm of vectors: what lies along one or several dims (default: all)."""
    return _norm_of_vectors(x, ord, axes_of(axis, x.ndim), keepdims)


@implements(np.linalg.matrix_norm)
@composite
@rounded_once
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of matrices, shape (..., m, n) -> (...)."""
    return _norm_of_matrices(x, ord, (-2, -1), keepdims)


@method(name="norm")
@composite
@rounded_once
def _norm_method(
    x: Any, p: Any = "fro", axis: Any = None, keepdims: bool = False
) -> Any:
    """Norm of vectors, as torch's method: of all elements by default."""
    if p == "nuc":
        return norm(x, p, axis, keepdims)
    order = 2 if p in (None, "fro") else p
    return _norm_of_vectors(x, order, axes_of(axis, x.ndim), keepdims)
