"""Taking elements by index or condition: take, take_along_axis, compress, ..."""

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite, settled
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.known import ndim
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    Rule,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.out import cast_back
from dtensor.ops._make.parts import as_int64, from_zero, plain, values_of
from dtensor.ops._make.reduction import LINEAR
from dtensor.ops._make.words import Answer, hollow
from dtensor.ops.index import nonzero as _nonzero
from dtensor.ops.index.gradient import added, along
from dtensor.ops.index.nonzero import *  # noqa: F403
from dtensor.ops.index.pick import partial_rows
from dtensor.ops.index.read import getitem
from dtensor.ops.index.terms import checked_index

__all__ = ["compress", "extract", "take", "take_along_axis"]
__all__ += _nonzero.__all__

Array = npt.NDArray[Any]
ALL = slice(None)
# NumPy casts what it takes into any `out` since 2.5, and into a narrower one before.
_CASTS = np.lib.NumpyVersion(np.__version__) >= "2.5.0"
_composite = functools.partial(composite, check=None if _CASTS else cast_back)


def flat_index(
    index: Any, length: int, mode: Any, axis: int = 0
) -> npt.NDArray[np.intp]:
    """Return indices for a dim, from 0 on, after NumPy's `mode` is applied."""
    if mode == "wrap" and length and np.size(index):
        index = np.remainder(
            _integers(np.asarray(index)), length
        )  # NumPy would wrap in a loop
    np.take(hollow((1,) * axis + (length,)), index, axis, mode=mode)  # its errors
    found: npt.NDArray[np.intp] = np.asarray(index, np.intp)
    if mode == "clip":
        found = found.clip(0, max(length - 1, 0))
    elif length:
        found = found % length
    return found


# --- take -----------------------------------------------------------------------------


@method
@implements(np.take)
@_composite
def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: Any = "raise"
) -> Any:
    """Take elements, or slices along a dim, by index.

    Parameters
    ----------
    a : array_like
        The source.
    indices : array_like of int
        The indices; the result is cut like them. If they are replicated and `axis` is
        cut, only the elements that they name are moved.
    axis : int, optional
        The dim; default: the flattened `a`.
    out : DTensor, optional
        What the result is written to.
    mode : {"raise", "wrap", "clip"}
        How to treat indices out of range.

    Returns
    -------
    DTensor
        Of shape ``a.shape[:axis] + indices.shape + a.shape[axis + 1:]``.
    """
    a = _beside(indices, a)
    if not isinstance(a, _C.DTensor):
        return _take(a, _integers(indices), axis, mode)
    dim = None if axis is None else normalize_axis_index(axis, a.ndim)
    dim = 0 if a.ndim == 1 else dim
    shape = (a.size,) if dim is None else a.shape
    if not isinstance(indices, _C.DTensor):
        known = flat_index(_list(indices), shape[dim or 0], mode, dim or 0)
        if dim is None:
            return getitem(a, np.unravel_index(known, a.shape))
        return getitem(a, (ALL,) * dim + (known,))
    indices = _integers(settled("take", indices))
    if mode == "wrap" and shape[dim or 0] and indices.dtype.kind in "iu":
        indices = np.remainder(indices, shape[dim or 0])
    if mode == "raise" and indices.dtype.kind in "iu":
        indices = checked_index("take", indices, shape, dim or 0)
        if dim is not None:
            return getitem(a, (ALL,) * dim + (indices,))
    return _take(a, indices, dim, mode)


def _beside(other: Any, x: Any) -> Any:
    """Return an array on the mesh of another one, if the other one has a mesh."""
    return on_mesh(x, other.device_mesh) if isinstance(other, _C.DTensor) else x


def _list(indices: Any) -> Any:
    """Return indices that every rank knows; an empty list stays a list, because as an
    array it would be of floats."""
    return indices if isinstance(indices, list | tuple) else plain("take", indices)


def _integers(indices: Any) -> Any:
    """Return indices, perhaps no integers: those of an empty list are."""
    is_list = isinstance(indices, list | tuple)
    array = np.asarray(indices) if is_list else indices
    if is_list and not array.size:
        return array.astype(np.int64)
    is_known = hasattr(array, "dtype") and array.dtype.kind in "iu"
    return as_int64(array) if is_known else array


@operator(name="take", operands=2)
def _take(a: Operand, indices: Operand, axis: int | None, mode: Any) -> Any:
    source = letters(a.ndim)
    new = letters(indices.ndim, skip=a.ndim)
    if axis is None:
        result, source = new, ["*"] * a.ndim
    else:
        dim = normalize_axis_index(axis, a.ndim)
        result = [*source[:dim], *new, *source[dim + 1 :]]
        source[dim] = "*"
    text = f"{' '.join(source)},{' '.join(new)}->{' '.join(result)}"
    kernel = call(np.take, a, indices, axis=axis, mode=mode)
    return Rule(text, partial=partial_rows(1), reduce=None), kernel, a.dtype


def _taken_back(
    grad: Any, _out: Any, _a: Any, indices: Any, axis: int | None, mode: Any
) -> Any:
    dim = 0 if axis is None else axis % _a.ndim
    shape = (_a.size,) if axis is None else _a.shape
    if mode == "wrap":
        indices = np.remainder(indices, shape[dim])
    elif mode == "clip":
        indices = np.clip(indices, 0, shape[dim] - 1)
    index = indices if hasattr(indices, "ndim") else np.asarray(indices)
    found = added(grad, along(dim), [index], shape)
    return found if axis is not None else np.reshape(found, _a.shape)


_take.vjp(_taken_back)


@implements(np.take_along_axis)
@composite
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Take one element along a dim for each element of `indices`.

    Parameters
    ----------
    arr : array_like
        The source; it is made whole along `axis`, other dims may be cut.
    indices : array_like of int
        With as many dims as `arr`; any of them may be cut.
    axis : int or None, default -1
        The dim; None: the flattened `arr`, with `indices` of one dim.

    Returns
    -------
    DTensor
        Of the shape of `indices`, broadcast against `arr` except along `axis`.
    """
    if axis is None:
        if ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = np.ravel(arr), 0
    arr, indices = _beside(indices, arr), _beside(arr, indices)
    indices = indices if hasattr(indices, "ndim") else np.asarray(indices)
    check_along(arr.shape, indices, axis)
    indices = as_int64(indices)
    dim = normalize_axis_index(axis, arr.ndim)
    if not isinstance(arr, _C.DTensor):
        return _take_along_axis(arr, indices, dim)
    if arr.ndim == 1:
        return getitem(arr, (indices,))
    indices = checked_index("take_along_axis", indices, arr.shape, dim)
    return _take_along_axis(arr, indices, dim)


def check_along(shape: tuple[int, ...], indices: Any, axis: int) -> None:
    """Raise NumPy's error for `indices` that do not fit an array."""
    dim = normalize_axis_index(axis, len(shape))
    fits = indices.ndim == len(shape) and indices.dtype.kind in "iu"
    lengths = list(zip(shape, indices.shape, strict=fits))
    if not fits or any(
        n != k and 1 not in (n, k) for d, (n, k) in enumerate(lengths) if d != dim
    ):
        np.take_along_axis(hollow(shape), hollow(indices.shape, indices.dtype), dim)


@operator(name="take_along_axis", operands=2)
def _take_along_axis(arr: Operand, indices: Operand, axis: int) -> Any:
    words = _words_along(arr.shape, indices.shape, axis)
    text = f"{words[0]},{words[1]}->{words[2]}"
    kernel = call(np.take_along_axis, arr, indices, axis)
    return Rule(text, partial=partial_rows(1), reduce=None), kernel, arr.dtype


def _words_along(
    shape: tuple[int, ...], wanted: tuple[int, ...], axis: int
) -> tuple[str, str, str]:
    """Return the words of an array, of indices along one dim, and of the result."""
    names, new = letters(len(shape)), letters(1, skip=len(shape))
    terms: list[list[str]] = [[], []]
    result = []
    for dim, name in enumerate(names):
        n, k = shape[dim], wanted[dim]
        words = ("*", *new) if dim == axis % len(shape) else (name, name)
        if words[0] == name and n != k:
            words = ("*", name) if n == 1 else (name, "*")
        terms[0].append(words[0])
        terms[1].append(words[1])
        result.append(new[0] if words[0] == "*" and words[1] == new[0] else name)
    return " ".join(terms[0]), " ".join(terms[1]), " ".join(result)


@operator(name="take_along_axis_backward", operands=2)
def added_along(
    x: Operand, indices: Operand, axis: int, shape: tuple[int, ...]
) -> Answer:
    """Return zeros of a shape, with `x` added where `take_along_axis` takes it from."""
    source, index, result = _words_along(shape, indices.shape, axis)
    pairs = zip(source.split(), shape, strict=True)
    after = " ".join(str(n) if word == "*" else word for word, n in pairs)
    text = f"{result},{index}->{after}"
    kernel = call(_add_along, x, indices, axis, LOCAL_SHAPE)
    return Rule(text, partial=partial_rows(1, LINEAR)), kernel, x.dtype


def _add_along(x: Array, indices: Array, axis: int, shape: tuple[int, ...]) -> Array:
    """Add up elements by their indices in the flattened result."""
    alike = (*x.shape[:axis], shape[axis], *x.shape[axis + 1 :]) == tuple(shape)
    if x.dtype.char in "fdFD" and x.shape == indices.shape and alike:
        return _C.put_along(shape, indices, x, axis, 1)
    grid = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    grid[axis] = from_zero(np.asarray(indices), shape[axis])
    number: Any = 0
    for at, n in zip(grid, shape, strict=True):
        number = number * n + (at if n > 1 else 0)
    number = np.broadcast_to(number, x.shape).ravel()
    result = np.zeros(math.prod(shape), x.dtype)
    np.add.at(result, number, x.ravel())
    return result.reshape(shape)


_take_along_axis.vjp(
    lambda grad, _out, _arr, indices, axis: added_along(grad, indices, axis, _arr.shape)
)
added_along.vjp(
    lambda grad, _out, _x, indices, axis, shape: _take_along_axis(grad, indices, axis)
)


# --- by conditions --------------------------------------------------------------------


@implements(np.compress)
@_composite
def compress(condition: Any, a: Any, axis: int | None = None, out: None = None) -> Any:
    """Take the slices along a dim for which a condition is true.

    Parameters
    ----------
    condition : array_like, shape (n,)
        The slices to take; slices beyond its end are not taken.
    a : array_like
        The source.
    axis : int, optional
        The dim; default: the flattened `a`.
    out : DTensor, optional
        What the result is written to.
    """
    if ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    a = _beside(condition, a)
    dim = 0 if axis is None else normalize_axis_index(axis, ndim(a))
    alike = isinstance(condition, _C.DTensor) and (a.ndim == 1 or axis is not None)
    if alike and condition.shape[0] == a.shape[dim]:
        return getitem(a, (ALL,) * dim + (_booleans(condition),))
    return take(a, _values("compress", condition, a).nonzero()[0], axis)


@method(name="compress")
def _compress_method(
    x: Any, condition: Any, axis: int | None = None, out: Any = None
) -> Any:
    """Take the slices along a dim for which a condition is true: see `compress`."""
    return compress(condition, x, axis, out)


def _values(name: str, condition: Any, x: Any) -> Array:
    """Return the values of a condition on an array."""
    spread = isinstance(x, _C.DTensor)
    return values_of(name, condition) if spread else np.asarray(condition)


def _booleans(x: Any) -> Any:
    return x if x.dtype == bool else np.not_equal(x, 0)


@implements(np.extract)
@composite
def extract(condition: Any, arr: Any) -> Any:
    """Return the elements for which a condition is true, as one dim.

    Parameters
    ----------
    condition : array_like
        Of the shape of `arr`, or with as many elements.
    arr : array_like
        The source.
    """
    arr = _beside(condition, arr)
    if isinstance(condition, _C.DTensor) and condition.shape == arr.shape:
        return getitem(arr, _booleans(condition))
    return take(arr, np.flatnonzero(_values("extract", condition, arr)))
