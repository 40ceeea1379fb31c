"""Joining arrays. The result is cut along the joined dim if an operand is."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Tensor, record_function
from dtensor._core.dtype import dtype_of
from dtensor._core.nested import leaves
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.words import Answer, group, rule
from dtensor.ops.shape.joined import joinable, joined, joined_layout, rows_only
from dtensor.ops.shape.split import unstack
from dtensor.ops.shape.view import atleast_1d, atleast_2d, atleast_3d

__all__ = [
    "append",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "stack",
    "vstack",
]

# --- joined ---------------------------------------------------------------------------


@implements(np.concatenate)
@composite
def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Any:
    """Join arrays along a dim that they have.

    Parameters
    ----------
    arrays : sequence of arrays, or array
        Of the same shape, except along `axis`. An array is the sequence of its rows.
    axis : int, optional
        The dim, default 0; None: the arrays are flattened.
    out : array, optional
        What the result is written to.
    dtype, casting
        Of the result.

    Returns
    -------
    array
        If an operand is cut along `axis`: cut in chunks, as the largest such operand.
        Only elements whose rank changes move.

    Raises
    ------
    ValueError
        For no arrays, or if shapes do not fit.
    """
    return _concatenate(arrays, axis, dtype=dtype, casting=casting)


@operator(name="concatenate")
def _concatenate(
    arrays: Any,
    axis: int | None = 0,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer | Callable[..., Any]:
    dtype = None if dtype is None else dtype_of(dtype)
    settings = {"axis": axis, "dtype": dtype, "casting": casting}
    if isinstance(arrays, Operand):
        return _joined_rows(arrays, axis), call(np.concatenate, arrays, **settings)
    if not all(isinstance(x, Operand) for x in arrays):
        return _with_lists(_concatenate)
    cut = _of_parts(arrays, axis, dtype, casting)
    if cut is not None:
        return cut
    kernel = call(np.concatenate, arrays, **settings)
    if axis is None:
        total = str(sum(x.size for x in arrays))
        return rule([["*"] * x.ndim for x in arrays], [[total]], "any"), kernel
    first = arrays[0]
    if first.ndim == 0:
        np.concatenate([np.empty(())])  # NumPy's error
    dim = normalize_axis_index(axis, first.ndim)
    before, after = letters(first.ndim), letters(first.ndim)
    if len(arrays) > 1:
        before[dim] = "*"
        after[dim] = str(sum(x.shape[dim] for x in arrays if x.ndim == first.ndim))
    return rule([before] * len(arrays), [after], "any"), kernel


def _parted(
    _needs: Sequence[bool],
    grad: Any,
    _out: Any,
    _arrays: Any,
    axis: int | None = 0,
    **_: Any,
) -> tuple[Any, ...]:
    if not isinstance(_arrays, list | tuple):
        first, *rest = _arrays.shape
        if axis is None or axis % len(rest) == 0:
            return (np.reshape(grad, _arrays.shape),)
        dim = normalize_axis_index(axis, len(rest))
        rows = np.reshape(grad, (*rest[:dim], first, *rest[dim:]))
        return (np.moveaxis(rows, dim, 0),)
    shapes = [x.shape for x in _arrays]
    if axis is not None:
        return tuple(_parts(grad, shapes, axis))
    parts = _parts(grad, [(math.prod(shape),) for shape in shapes], 0)
    return tuple(map(np.reshape, parts, shapes))


def _parts(grad: Any, shapes: Sequence[tuple[int, ...]], axis: int) -> list[Any]:
    """Return the slices of the joined array that arrays of these shapes become."""
    ends = np.cumsum([shape[axis] for shape in shapes])
    found: list[Any] = np.split(grad, ends[:-1].tolist(), axis)
    return found


_concatenate.vjp_all(_parted)


def _of_parts(
    arrays: Sequence[Operand], axis: int | None, dtype: Any, casting: Any
) -> Callable[..., Any] | None:
    """Return the function that joins arrays along a cut dim, or None."""
    if axis is None:
        rows = all(x.layout is None or rows_only(x.layout) for x in arrays)
        return _flat if rows and any(joinable(x.layout, 0) for x in arrays) else None
    ndim = arrays[0].ndim if arrays else 0
    if any(x.ndim != ndim or x.dtype.kind not in "biufc" for x in arrays):
        return None
    if len(arrays) < 2 or not -ndim <= axis < ndim:
        return None
    dim = axis % ndim
    probes = [np.empty((0,) * ndim, x.dtype) for x in arrays]
    wide = np.concatenate(probes, dtype=dtype, casting=casting).dtype
    operands = tuple(x.shape if x.layout is None else x.layout for x in arrays)
    to = joined_layout(operands, dim, wide)

    def join(arrays: Sequence[Any], *_: Any, **settings: Any) -> Any:
        assert to is not None
        bare = [x.detach() if isinstance(x, Tensor) else x for x in arrays]
        result = joined("concatenate", bare, dim, to)
        shapes = [x.shape for x in arrays]

        def back(grad: Any) -> tuple[Any, ...]:
            return tuple(_parts(grad, shapes, dim))

        record_function("concatenate", back, tuple(arrays), (result,))
        return result

    return None if to is None else join


def _flat(arrays: Sequence[Any], axis: None, **settings: Any) -> Any:
    return _concatenate([np.ravel(x) for x in arrays], 0, **settings)


def _with_lists(join: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that also accepts lists as arrays."""

    def joined(arrays: Any, *args: Any, **settings: Any) -> Any:
        given = [x if hasattr(x, "ndim") else np.asarray(x) for x in arrays]
        return join(given, *args, **settings)

    return joined


def _joined_rows(x: Operand, axis: int | None) -> Rule:
    """Return the rule of joining the slices along the first dim of one array."""
    if x.ndim < 2 or 0 in x.shape:
        shape = np.concatenate(np.empty(x.shape), axis).shape  # or NumPy's error
        return rule([["*"] * x.ndim], [map(str, shape)], "any")
    names = [str(x.shape[0]), *letters(x.ndim - 1)]
    after = names[1:]
    if axis is None:
        after = [group(names)]
    else:
        dim = normalize_axis_index(axis, x.ndim - 1)
        after[dim] = group([names[0], after[dim]])
    return rule([names], [after], "any")


concat = concatenate


@implements(np.stack)
@operator
def stack(
    arrays: Any,
    axis: int = 0,
    out: None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> Answer | Callable[..., Any]:
    """Join arrays of one shape along a new dim, which is not cut.

    Parameters
    ----------
    arrays : sequence of arrays, or array
        An array is the sequence of its rows.
    axis : int, default 0
        The new dim, in the result.
    dtype, casting
        Of the result.

    Raises
    ------
    ValueError
        For no arrays, or different shapes.
    """
    dtype = None if dtype is None else dtype_of(dtype)
    settings = {"axis": axis, "dtype": dtype, "casting": casting}
    if isinstance(arrays, Operand):
        if 0 in arrays.shape[:1]:
            np.stack([*np.empty(arrays.shape)])  # NumPy's error
        count, names = str(arrays.shape[0]), letters(arrays.ndim - 1)
        after = names[:]
        after.insert(normalize_axis_index(axis, arrays.ndim), count)
        moved = rule([[count, *names]], [after], "any")
        return moved, call(np.stack, arrays, **settings)
    if not all(isinstance(x, Operand) for x in arrays):
        return _with_lists(stack)
    before = letters(arrays[0].ndim)
    after = before[:]
    after.insert(normalize_axis_index(axis, len(before) + 1), str(len(arrays)))
    kernel = call(np.stack, arrays, **settings)
    return rule([before] * len(arrays), [after], "any"), kernel


def _unstacked(
    _needs: Sequence[bool], grad: Any, _out: Any, _arrays: Any, axis: int = 0, **_: Any
) -> tuple[Any, ...]:
    if not isinstance(_arrays, list | tuple):
        return (np.moveaxis(grad, axis, 0),)
    return unstack(grad, axis=axis)


stack.vjp_all(_unstacked)


def _rows(tup: Any) -> list[Any]:
    """Return the arrays that a function is to join."""
    return list(unstack(tup) if hasattr(tup, "ndim") else tup)


@implements(np.vstack)
def vstack(
    tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> Any:
    """Join arrays along dim 0; arrays of one dim are rows."""
    rows = [atleast_2d(x) for x in _rows(tup)]
    return concatenate(rows, 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(
    tup: Any, *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> Any:
    """Join arrays along dim 1, those of one dim along that."""
    columns = [atleast_1d(x) for x in _rows(tup)]
    axis = 0 if columns and columns[0].ndim == 1 else 1
    return concatenate(columns, axis, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """Join arrays along dim 2, which is added if they have fewer dims."""
    return concatenate([atleast_3d(x) for x in _rows(tup)], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Join arrays along dim 1; arrays of one dim are columns."""
    arrays = [atleast_1d(x) for x in _rows(tup)]
    columns = [np.expand_dims(x, 1) if x.ndim == 1 else x for x in arrays]
    return concatenate(columns, 1)


@implements(np.append)
def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Append values to an array; axis None: both are flattened."""
    arrays = [x if hasattr(x, "ndim") else np.asarray(x) for x in (arr, values)]
    if axis is None:
        arrays, axis = [np.ravel(x) for x in arrays], 0
    return concatenate(arrays, axis)


@implements(np.block)
def block(arrays: Any) -> Any:
    """Join nested lists of arrays: the innermost along the last dim, those that hold
    them along the last but one, and so on.

    Raises
    ------
    ValueError
        If lists are nested to different depths or empty, or shapes do not fit.
    """
    np.block(_emptied(arrays))  # NumPy's errors
    depth, first = 0, arrays
    while isinstance(first, list):
        depth, first = depth + 1, first[0]
    ndim = max(depth, *(getattr(x, "ndim", 0) for x in leaves(arrays)))

    def join(item: Any, level: int) -> Any:
        if isinstance(item, list):
            if len(item) == 1:
                return join(item[0], level + 1)
            return np.concatenate([join(x, level + 1) for x in item], level - depth)
        array = item if hasattr(item, "ndim") else np.asarray(item)
        return np.reshape(array, (1,) * (ndim - array.ndim) + tuple(array.shape))

    joined = join(arrays, 0)
    return joined if len([*leaves(arrays)]) > 1 else np.copy(joined)


def _emptied(arrays: Any) -> Any:
    """Return nested lists with empty arrays in place of the arrays."""
    if isinstance(arrays, list):
        return [_emptied(item) for item in arrays]
    return arrays if isinstance(arrays, tuple) else np.empty(0)
