"""Rows of a table by index, and their gradients.

If the rows of a table are cut, each rank looks up the rows that it holds and has zeros
elsewhere: a Partial sum, in which no addend is rounded.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.autograd.grad_mode import no_grad
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.operator import Operand, Part, call, letters, operator
from dtensor.ops._make.parts import make, spans
from dtensor.ops._make.words import Answer, hollow, rule
from dtensor.ops.create.like import ones_like
from dtensor.ops.elementwise.functions import astype
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import (
    divide,
    greater,
    logical_and,
    maximum,
    multiply,
    not_equal,
)
from dtensor.ops.linalg.norms import vector_norm
from dtensor.ops.shape.view import expand_dims

__all__ = ["embedding"]

Array = npt.NDArray[Any]
Ranges = npt.NDArray[np.int64]  # of rows: first, count

# --- kernels --------------------------------------------------------------------------


def _layout(x: Any) -> Any:
    """Return the layout of a DTensor, else None."""
    return x.layout if isinstance(x, _C.DTensor) else None


def _places(index: Array, ranges: Ranges) -> Array:
    """Return where rows are in a part; -1 if it does not have them."""
    places = np.full(index.shape, -1)
    before = 0
    for start, count in ranges.tolist():
        here = (index >= start) & (index < start + count)
        places[here] = index[here] - start + before
        before += count
    return places


def _take(part: Array, index: Array, ranges: Ranges, length: int) -> Array:
    """The kernel for what is neither float32 nor float64."""
    if ((index < 0) | (index >= length)).any():
        raise IndexError("index out of range in self")
    places = _places(index, ranges)
    out = np.zeros((*index.shape, part.shape[1]), part.dtype)
    out[places >= 0] = part[places[places >= 0]]
    return out


def _add(grad: Array, index: Array, ranges: Ranges, rows: int, skip: int) -> Array:
    """The kernel for what is neither float32 nor float64."""
    places = np.where(index == skip, -1, _places(index, ranges))
    wide = np.float32 if grad.dtype.itemsize == 2 else grad.dtype
    out = np.zeros((rows, grad.shape[-1]), wide)
    np.add.at(out, places[places >= 0], grad[places >= 0].astype(wide))
    return out.astype(grad.dtype, copy=False)


def _kernel(name: str, other: Callable[..., Any], dtype: Any) -> Callable[..., Any]:
    return _C.kernel(name) if dtype in (np.float32, np.float64) else other


def _ranges(layout: _C.Layout) -> Ranges:
    """Return which rows of a table this rank has."""
    return np.array(spans(layout, 0), np.int64).reshape(-1, 2)


# --- operators ------------------------------------------------------------------------


def _check(input: Operand, weight: Operand) -> None:  # noqa: A002
    """Raise what torch raises."""
    if input.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following "
            f"scalar types: Long, Int; but got {input.dtype} instead (while checking "
            "arguments for embedding)"
        )
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")


def _terms(index: Operand) -> tuple[list[str], str, str]:
    """Return the words of the index' dims, of rows and of columns."""
    names = letters(index.ndim + 2)
    return names[:-2], names[-2], names[-1]


def _lookup(
    weight: Operand,
    input: Operand,
    padding_idx: int,
    scale_grad_by_freq: bool,  # noqa: A002
) -> Answer:
    _check(input, weight)
    lead, row, column = _terms(input)
    taken = rule([[row, column], lead], [[*lead, column]], "sum,R->sum; avg,R->avg")
    ranges = Part(lambda operands, _results: _ranges(operands[0]))
    kernel = _kernel("embedding", _take, weight.dtype)
    return taken, call(kernel, weight, input, ranges, weight.shape[0]), weight.dtype


_lookup_everywhere = operator(_lookup, name="embedding")
_lookup_in_parts = operator(_lookup, name="embedding", agrees=IndexError)


@operator(name="embedding_backward")
def _embedding_backward(
    grad: Operand,
    input: Operand,
    table: Operand,
    padding_idx: int,  # noqa: A002
) -> Answer:
    """Return the gradient of a table, whose own values do not matter."""
    lead, row, column = _terms(input)
    added = rule(
        [[*lead, column], lead, [row, column]],
        [[row, column]],
        "sum,R,R->sum; avg,R,R->avg",
    )
    ranges = Part(lambda operands, _results: _ranges(operands[2]))
    rows = Part(lambda _operands, results: results[0].local_shape()[0])
    kernel = _kernel("embedding_backward", _add, grad.dtype)
    return added, call(kernel, grad, input, ranges, rows, padding_idx), grad.dtype


def _table_like(weight: Any, columns: int) -> Any:
    """Return a table that has the rows of another one where that has them.

    It takes no memory, and its values are never used. With all columns it is cut along
    these too.
    """
    layout = _layout(weight)
    shape = (weight.shape[0], columns)
    if layout is None:
        return hollow(shape, weight.dtype)
    dims = {0: 0, 1: 1} if columns == weight.shape[1] else {0: 0}
    layout = layout.like(shape, dims, weight.dtype)
    return make(hollow(layout.local_shape(), weight.dtype), layout)


def _beside(x: Any, input: Any) -> Any:  # noqa: A002
    """Return an index that may be called with x: replicated if it is plain."""
    layout = _layout(x)
    return input if layout is None else on_mesh(input, layout.mesh)


def _counts(weight: Any, input: Any) -> Any:  # noqa: A002
    """Return how often each row is named, shape (rows, 1)."""
    input = _beside(weight, input)
    ones = expand_dims(astype(ones_like(input), weight.dtype), -1)
    return _embedding_backward(ones, input, _table_like(weight, 1), -1)


def _gradient(
    grad: Any,
    _out: Any,
    _weight: Any,
    input: Any,  # noqa: A002
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Any:
    table = _table_like(_weight, _weight.shape[1])
    found = _embedding_backward(grad, input, table, padding_idx)
    if scale_grad_by_freq:
        found = divide(found, maximum(_counts(_weight, input), 1))
    return found


for _each in (_lookup_everywhere, _lookup_in_parts):
    _each.vjp(_gradient)
_embedding_backward.vjp(
    lambda grad, _out, _grad, input, _table, padding_idx: _rows_of(
        grad, input, padding_idx
    )
)


def _rows_of(grad: Any, input: Any, padding_idx: int) -> Any:  # noqa: A002
    """Return the rows of a gradient's gradient; zeros for the row without one."""
    rows = _take_rows(grad, input, padding_idx, False)
    if padding_idx < 0:
        return rows
    named = not_equal(_beside(grad, input), padding_idx)
    return where_(expand_dims(named, -1), rows, 0)


# --- what is called -------------------------------------------------------------------


def _take_rows(weight: Any, input: Any, *constants: Any) -> Any:  # noqa: A002
    # An error that every rank sees needs no agreement; otherwise the ranks must agree.
    index, table = (_layout(x) for x in (input, weight))
    whole = index is None or index.is_replicated
    alike = whole and (table is None or not table.is_partial)
    return (_lookup_everywhere if alike else _lookup_in_parts)(
        weight, input, *constants
    )


def _renorm(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:  # noqa: A002
    """Scale the rows that are named to `max_norm`, where they have more."""
    named = greater(_counts(weight, input), 0)
    norms = vector_norm(weight, ord=norm_type, axis=1, keepdims=True)
    scale = divide(max_norm, norms + 1e-7)
    over = logical_and(named, greater(norms, max_norm))
    multiply(weight, astype(where_(over, scale, 1), weight.dtype), out=weight)


def embedding(
    input: Any,  # noqa: A002
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Return rows of a table by index.

    Nothing is sent where the rows of `weight` are cut (the result is Partial), or its
    columns, or `input`.

    Parameters
    ----------
    input : tensor of int64 or int32
        Numbers of rows.
    weight : tensor, shape (rows, columns)
    padding_idx : int, optional
        A row that gets no gradient.
    max_norm : float, optional
        Rows that are named and have a greater norm are first scaled to this one, in
        `weight` itself.
    norm_type : float, default 2
        The norm of `max_norm`.
    scale_grad_by_freq : bool, default False
        Divide the gradient of a row by how often it is named.
    sparse : bool, default False
        Accepted; gradients are dense.

    Returns
    -------
    tensor, shape ``(*input.shape, columns)``

    Raises
    ------
    IndexError
        If a number names no row; on every rank.
    RuntimeError
        For other dtypes of `input`, or a `weight` that has not two dims.
    AssertionError
        If `padding_idx` names no row.
    """
    rows = weight.shape[0] if len(weight.shape) else 0
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    if max_norm is not None:
        with no_grad():
            _renorm(weight, input, max_norm, norm_type)
    return _take_rows(weight, input, padding_idx, bool(scale_grad_by_freq))
