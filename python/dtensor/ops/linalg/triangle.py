"""Diagonals and triangles of matrices."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import index as operator_index
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import Layout
from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.numbers import as_python_int
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    Part,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import positions
from dtensor.ops._make.words import Answer, hollow, method_of, rule

__all__ = ["diag", "diagflat", "diagonal", "tril", "triu"]

Array = npt.NDArray[Any]


def _indices(dim: int) -> Part:
    """Return the place of each of this rank's rows (or columns) in operand 0."""

    def of(operands: tuple[Layout, ...], results: tuple[Layout, ...]) -> Array:
        return positions(operands[0], dim % operands[0].ndim)

    return Part(of)


# --- triangles ------------------------------------------------------------------------


def diagonal_number(k: int, shape: Sequence[int], first: int = 0) -> int:
    """Return the number of a diagonal: of the next one for those that are beyond all.

    OverflowError, as NumPy's, where no int64 numbers the columns from diagonal `k`, the
    diagonal itself being column `first`."""
    np.array([first - k, first - k + shape[-1]], np.intp)
    return max(-max(shape), min(k, max(shape)))


# These kernels are Python's: shards may be strided, and NumPy's know whole matrices.


def _below(m: Array, rows: Array, columns: Array, k: int) -> Array:
    return np.where(columns <= rows[:, None] + k, m, np.zeros((), m.dtype))


def _above(m: Array, rows: Array, columns: Array, k: int) -> Array:
    return np.where(columns >= rows[:, None] + k, m, np.zeros((), m.dtype))


def _triangle(kernel: Callable[..., Array], m: Operand, k: int) -> Answer:
    if m.ndim == 0:
        np.tril(hollow(()))  # NumPy's error
    k = diagonal_number(k, m.shape, first=int(kernel is _above))
    names = letters(m.ndim)
    rows: Any = _indices(-2)
    after = names
    if m.ndim == 1:  # it is every row of a square matrix
        rows = np.arange(m.size)
        after = [str(m.size), *names]
    # Zeros are alike in all addends, whatever the operation.
    inside = rule([names], [after], "any")
    if m.ndim > 1:
        upper = kernel is _above
        return inside, call(_C.triangle, m, rows, _indices(-1), k, upper), m.dtype
    return inside, call(kernel, m, rows, _indices(-1), k), m.dtype


@method
@implements(np.tril)
@operator
def tril(m: Operand, k: int = 0) -> Answer:
    """Put zeros above diagonal `k` of matrices, shape (..., rows, columns).

    Every dim may be cut.
    """
    return _triangle(_below, m, k)


tril.vjp(lambda grad, _out, _m, k=0: tril(grad, k))


@method
@implements(np.triu)
@operator
def triu(m: Operand, k: int = 0) -> Answer:
    """Put zeros below diagonal `k` of matrices, shape (..., rows, columns).

    Every dim may be cut.
    """
    return _triangle(_above, m, k)


triu.vjp(lambda grad, _out, _m, k=0: triu(grad, k))


# --- diagonals ------------------------------------------------------------------------


@method
@implements(np.diagonal)
@operator
def diagonal(
    a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Answer | Callable[..., Any]:
    """See the diagonals of matrices.

    Parameters
    ----------
    a : array
    offset : int, default 0
        Of the diagonal: above the main one if positive.
    axis1, axis2 : int
        Dims of the rows and columns. If one is cut, nothing is sent; if both are, each
        rank gives what it has of the diagonals.

    Returns
    -------
    array
        The other dims, then that of the diagonals: cut, or Partial if rows and columns
        are cut.
    """
    return _diagonal(method_of("diagonal", a), a, offset, axis1, axis2)


@operator(name="diagonal")
def written_diagonal(
    a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Answer | Callable[..., Any]:
    """See the diagonals of matrices as PyTorch does: they may be written to."""
    return _diagonal(_writable, a, offset, axis1, axis2)


def _diagonal(
    kernel: Callable[..., Array], a: Operand, offset: int, axis1: int, axis2: int
) -> Answer | Callable[..., Any]:
    length = np.diagonal(hollow(a.shape), offset, axis1, axis2).shape[-1]
    axes = normalize_axis_tuple((axis1, axis2), a.ndim)
    if a.layout is not None and any(map(a.layout.is_cut, axes)):
        return partial(_diagonal_of_parts, kernel is _writable)
    names = letters(a.ndim, whole=axes)
    after = [name for dim, name in enumerate(names) if dim not in axes]
    moved = rule([names], [[*after, str(length)]], "any")
    return moved, call(kernel, a, offset, axis1, axis2)


def _writable(a: Array, offset: int, axis1: int, axis2: int) -> Array:
    found = a.diagonal(offset, axis1, axis2)
    found.flags.writeable = a.flags.writeable
    return found


def _diagonal_of_parts(
    writable: bool, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """Pick the elements of diagonals: in the order of the parts, if one dim is cut."""
    index = operator_index(offset)
    length = np.diagonal(hollow(a.shape), index, axis1, axis2).shape[-1]
    number = np.arange(length)
    at = (..., number + max(-index, 0), number + max(index, 0))
    lines = np.moveaxis(a, (axis1, axis2), (-2, -1))
    found = lines[at]
    if writable:
        _C.set_origin(found, lines, at)  # writes to it are copied back
    else:
        _C.set_origin(found)  # read-only, as NumPy's
    return found


@operator(name="diagonal_backward")
def on_diagonal(
    x: Operand, shape: Sequence[int], offset: int, axis1: int, axis2: int
) -> Answer:
    """Return zeros of a shape, with `x` where `diagonal` would find it."""
    axes = normalize_axis_tuple((axis1, axis2), len(shape))
    rest = iter(letters(x.ndim - 1))
    after = [str(n) if dim in axes else next(rest) for dim, n in enumerate(shape)]
    before = [*letters(x.ndim - 1), str(x.shape[-1])]
    kernel = call(_put_on_diagonal, x, LOCAL_SHAPE, offset, axes)
    return rule([before], [after], "any"), kernel, x.dtype


def _put_on_diagonal(
    x: Array, shape: Sequence[int], offset: int, axes: tuple[int, int]
) -> Array:
    result = np.zeros(shape, x.dtype)
    at = np.arange(x.shape[-1])
    rows, columns = at + max(-offset, 0), at + max(offset, 0)
    np.moveaxis(result, axes, (-2, -1))[..., rows, columns] = x
    return result


for _see in (diagonal, written_diagonal):
    _see.vjp(
        lambda grad, _out, _a, offset=0, axis1=0, axis2=1: on_diagonal(
            grad, _a.shape, offset, axis1, axis2
        )
    )
on_diagonal.vjp(
    lambda grad, _out, _x, shape, offset, axis1, axis2: diagonal(
        grad, offset, axis1, axis2
    )
)


@method
@implements(np.diag)
@operator
def diag(v: Operand, k: int = 0) -> Answer | Callable[..., Any]:
    """Take diagonal `k` of a matrix, or make a matrix of its diagonal.

    The dims may be cut, as in `diagonal`; of a vector that is cut each rank makes the
    rows of its elements.

    Raises
    ------
    ValueError
        If `v` has neither 1 nor 2 dims.
    """
    k = as_python_int(k)
    if v.ndim == 1:
        shape = (v.size + abs(k),) * 2
    else:
        shape = np.diag(hollow(v.shape), k).shape
    if v.layout is not None and any(map(v.layout.is_cut, range(v.ndim))):
        return _diag_of_matrix if v.ndim == 2 else _diag_of_parts
    return rule([["*"] * v.ndim], [map(str, shape)], "any"), call(np.diag, v, k)


def _diag_of_matrix(v: Any, k: int = 0) -> Any:
    return diagonal(v, k)


def _diag_of_parts(v: Any, k: int = 0) -> Any:
    k = as_python_int(k)
    before, after = max(-k, 0), max(k, 0)
    rows = _diag_rows(v)
    return np.pad(rows, [(before, after), (after, before)]) if k else rows


@operator(name="diag")
def _diag_rows(v: Operand) -> Answer:
    """Return the square matrix with this diagonal, its rows cut as the vector is."""
    kernel = call(_put_in_rows, v, _indices(0), v.size)
    return rule([["a"]], [["a", str(v.size)]], "any"), kernel, v.dtype


def _put_in_rows(v: Array, rows: Array, length: int) -> Array:
    result = np.zeros((v.size, length), v.dtype)
    result[np.arange(v.size), rows] = v
    return result


_diag_rows.vjp(lambda grad, _out, _v: diagonal(grad))
diag.vjp(
    lambda grad, _out, _v, k=0: (
        diagonal(grad, k) if _v.ndim == 1 else on_diagonal(grad, _v.shape, k, 0, 1)
    )
)


@method
@implements(np.diagflat)
@operator
def diagflat(v: Operand, k: int = 0) -> Answer:
    """Make a matrix whose diagonal `k` has all elements of `v`."""
    length = str(v.size + abs(k))
    return rule([["*"] * v.ndim], [[length] * 2], "any"), call(np.diagflat, v, k)


diagflat.vjp(lambda grad, _out, _v, k=0: np.reshape(diagonal(grad, k), _v.shape))
