"""Products of matrices in groups, of which each may have another number of rows.

Mixtures of experts multiply the tokens of each expert by its matrix. The product and
the two of its gradient are one operator: which dim the groups are along follows from
the dims of the operands.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.halves import wide_call
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.matmul import matmul

__all__ = ["grouped_mm"]

Array = npt.NDArray[Any]

_ROWS = "sum,R,R->sum; R,sum,R->sum; avg,R,R->avg; R,avg,R->avg"


def _slices(offs: Array, length: int) -> Iterator[slice]:
    first = 0
    for end in np.clip(offs, 0, length).tolist():
        yield slice(first, end)
        first = max(first, end)


def _rows(a: Array, b: Array, offs: Array) -> Array:
    """Return the product of the rows of each group by its matrix; 0 for other rows."""
    out = np.zeros((len(a), b.shape[2]), a.dtype)
    for group, rows in enumerate(_slices(offs, len(a))):
        np.matmul(a[rows], b[group], out=out[rows])
    return out


def _columns(a: Array, b: Array, offs: Array) -> Array:
    return _rows(b.T, a.swapaxes(1, 2), offs).T


def _sums(a: Array, b: Array, offs: Array) -> Array:
    """Return a product for each group, over its part of the dim that is summed."""
    out = np.zeros((len(offs), len(a), b.shape[1]), a.dtype)
    for group, part in enumerate(_slices(offs, len(b))):
        np.matmul(a[:, part], b[part], out=out[group])
    return out


@operator(name="grouped_mm")
def _grouped(mat_a: Operand, mat_b: Operand, offs: Operand) -> Answer:
    groups, length = str(offs.shape[0]), str(mat_a.shape[-1])
    if mat_a.ndim == mat_b.ndim:
        terms, out, kernel = (["m", length], [length, "n"]), [groups, "m", "n"], _sums
    elif mat_b.ndim == 3:
        length = str(mat_a.shape[0])
        terms, out, kernel = ([length, "k"], [groups, "k", "n"]), [length, "n"], _rows
    else:
        length = str(mat_b.shape[1])
        terms, out, kernel = (
            ([groups, "m", "k"], ["k", length]),
            ["m", length],
            _columns,
        )
    product = rule([*terms, [groups]], [out], _ROWS)
    return product, wide_call(kernel, mat_a, mat_b, offs), mat_a.dtype


def _turned(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


_grouped.vjp(
    lambda grad, _out, _a, mat_b, offs: _grouped(grad, _turned(mat_b), offs),
    lambda grad, _out, mat_a, _b, offs: _grouped(_turned(mat_a), grad, offs),
    None,
)


def _check(a: Any, b: Any, offs: Any, bias: Any, out_dtype: Any) -> None:
    for name, x in (("mat_a", a), ("mat_b", b)):
        if x.ndim not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (a.ndim == 2 or b.ndim == 2) != (offs is not None):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both "
            "matrices are 3d"
        )
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if np.dtype(a.dtype) != np.dtype(b.dtype) or np.dtype(a.dtype).kind in "biuc":
        raise RuntimeError(
            "expected mat_a and mat_b to have one dtype of real floating numbers, "
            f"but got: {a.dtype} and {b.dtype}"
        )
    if offs is None:
        if len(a) != len(b):
            raise RuntimeError("batched dimension has to match")
    elif offs.ndim != 1:
        raise RuntimeError("offs has to be 1D")
    elif np.dtype(offs.dtype) != np.int32:
        raise RuntimeError("Offsets have to be int32")
    elif any(x.ndim == 3 and x.shape[0] != offs.shape[0] for x in (a, b)):
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and np.dtype(out_dtype) != np.dtype(a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


@narrowed
def grouped_mm(
    mat_a: Any,
    mat_b: Any,
    *,
    offs: Any = None,
    bias: Any = None,
    out_dtype: Any = None,
) -> Any:
    """Return products of matrices in groups of different sizes.

    Nothing is sent where dims that are not in groups are cut; where the dim that is
    summed over is cut and not in groups, the result is Partial. The dim that is in
    groups is whole while it computes.

    Parameters
    ----------
    mat_a : tensor, shape (rows, k), (m, length) or (groups, m, k)
    mat_b : tensor, shape (groups, k, n), (length, n) or (k, columns)
        Two dims of an operand are in groups: rows of `mat_a` that have a matrix of
        `mat_b` each, columns of `mat_b` that have one of `mat_a`, or the dim of both
        that is summed over. Operands of three dims both are multiplied as by
        `dtensor.matmul`.
    offs : tensor of int32, shape (groups,), optional
        Where each group ends. What is behind the last one counts for nothing: rows and
        columns of the result are 0 there.
    bias : None
        As in PyTorch, which does not have it yet.
    out_dtype : dtype, optional
        That of `mat_a`.

    Returns
    -------
    tensor, shape (rows, n), (groups, m, n) or (m, columns)

    Raises
    ------
    RuntimeError
        For shapes and dtypes that do not go together, as torch does; on every rank.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return matmul(mat_a, mat_b)
    return _grouped(mat_a, mat_b, offs)
