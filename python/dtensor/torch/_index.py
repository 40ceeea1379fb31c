"""Functions that write elements by index: the index family and its like.

The index is one that all ranks know, or a DTensor. Those that add differentiate with
respect to both; the others write into a copy.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite
from dtensor.ops.index.gradient import added, along
from dtensor.torch._cast import cast
from dtensor.torch._indexing import with_masks
from dtensor.torch._numbers import fitted

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
ALL = slice(None)

__all__ = [
    "diagonal_scatter",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "masked_fill",
    "masked_scatter",
    "put",
    "select_scatter",
    "slice_scatter",
]

# --- slices along a dim ---------------------------------------------------------------


def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return the input with slices of `source`, times `alpha`, added to those along a
    dim that `index` names."""
    dim = normalize_axis_index(dim, input.ndim)
    if source.ndim and index.ndim and source.shape[dim] != index.shape[0]:
        raise RuntimeError(
            f"Number of indices ({index.shape[0]}) should be equal to the source's "
            f"length along dim {dim} ({source.shape[dim]})"
        )
    if alpha != 1:
        number = np.asarray(alpha).astype(np.dtype(source.dtype))  # -1 of bytes is 255
        source = source * number
    return input + added(source, along(dim), [index], tuple(input.shape))


def _set(input: Any, dim: int, index: Any, value: Any) -> Any:
    out = ops.copy(input, "C")
    dim = normalize_axis_index(dim, input.ndim)
    ops.setitem(out, (ALL,) * dim + (index,), value)
    return out


def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """Return the input with slices of `source` in the places that `index` names."""
    return _set(input, dim, index, source)


def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return the input with one number in the slices that `index` names."""
    return _set(input, dim, index, filling(input, value))


def index_put(
    input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> Any:
    """Return the input with ``input[indices]`` set to values, or these added to it."""
    out = ops.copy(input)
    given = tuple(slice(None) if each is None else each for each in indices)
    index = with_masks(given, 3)
    if accumulate:
        ops.ufunc_method(np.add, "at")(out, index, values)
    else:
        ops.setitem(out, index, values)
    return out


def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Return the input with elements set, by their indices in the flattened tensor."""
    flat = ops.ravel(input)
    found = index_put(flat, (ops.ravel(index),), ops.ravel(source), accumulate)
    return ops.reshape(found, tuple(input.shape))


def filling(input: Any, value: Any) -> Any:
    """Return a value that is to fill elements of a tensor, as PyTorch converts it."""
    dtype = np.dtype(input.dtype)
    if dtype.kind == "b":
        return cast(value, bool) if hasattr(value, "dtype") else bool(value)
    return fitted(value, dtype)


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return the input with one number where a mask is true."""
    return ops.masked_fill(input, mask, filling(input, value))


def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """Return the input with elements of `source`, in turn, where a mask is true.

    Raises
    ------
    RuntimeError
        If there are fewer of them.
    """
    shape = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    out = ops.copy(ops.broadcast_to(input, shape), "C")
    mask = ops.broadcast_to(mask, shape)
    count = int(ops.count_nonzero(mask))
    values = ops.ravel(source)
    if count > values.shape[0]:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes and source "
            f"at least {count} elements, but it has {values.shape[0]}"
        )
    ops.setitem(out, mask, ops.getitem(values, slice(count)))
    return out


def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """Return the input with `src` in the place of one slice along a dim."""
    out = ops.copy(input)
    ops.setitem(out, (ALL,) * normalize_axis_index(dim, input.ndim) + (index,), src)
    return out


def slice_scatter(
    input: Any,
    src: Any,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """Return the input with `src` in the place of some slices along a dim."""
    out = ops.copy(input)
    place = slice(start, end, step)
    ops.setitem(out, (ALL,) * normalize_axis_index(dim, input.ndim) + (place,), src)
    return out


@composite
def diagonal_scatter(
    input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    """Return the input with `src` in the place of its diagonals."""
    moved = ops.moveaxis(ops.copy(input), (dim1, dim2), (-2, -1))
    rows, columns = moved.shape[-2:]
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    first = np.arange(count)
    ops.setitem(moved, (..., first - min(offset, 0), first + max(offset, 0)), src)
    return ops.moveaxis(moved, (-2, -1), (dim1, dim2))
