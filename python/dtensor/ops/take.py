"""Elements by number: take and its kin."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import normalize_axis_index

from dtensor import _C
from dtensor.ops._composite import settled
from dtensor.ops._index import checked_index
from dtensor.ops._operator import Operand, Rule, call, letters, method, operator
from dtensor.ops._parts import (
    aligned,
    counted,
    inside,
    local,
    make,
    move,
    plain,
    positions,
    values_of,
)
from dtensor.ops._pick import OPS, leading
from dtensor.ops._words import hollow
from dtensor.ops.fallback import composed, mesh_of, on_mesh
from dtensor.ops.index import getitem
from dtensor.ops.known import ndim

__all__ = [
    "argwhere",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "take",
    "take_along_axis",
]

Array = npt.NDArray[Any]
ALL = slice(None)


def flat_index(
    index: Any, length: int, mode: Any, axis: int = 0
) -> npt.NDArray[np.intp]:
    """Return integers for a dim as `mode` of NumPy's `take` reads them, from 0 on."""
    np.take(hollow((1,) * axis + (length,)), index, axis, mode=mode)  # its errors
    found: npt.NDArray[np.intp] = np.asarray(index, np.intp)
    if mode == "clip":
        found = found.clip(0, max(length - 1, 0))
    elif length:
        found = found % length
    return found


# --- take -----------------------------------------------------------------------------


@method
@composed(np.take)
def take(
    a: Any, indices: Any, axis: int | None = None, out: None = None, mode: Any = "raise"
) -> Any:
    """Take elements, or slices along a dim, by number.

    Parameters
    ----------
    a : array_like
        The source.
    indices : array_like of int
        Which ones; the result is cut as they are. Where they are whole on every rank
        and `axis` is cut, only what they name is moved.
    axis : int, optional
        The dim; default: `a` as if it had one.
    out : DTensor, optional
        What the result is written to.
    mode : {"raise", "wrap", "clip"}
        What to do with numbers that are out of range.

    Returns
    -------
    DTensor
        Of shape ``a.shape[:axis] + indices.shape + a.shape[axis + 1:]``.
    """
    a = on_mesh(a, mesh_of((a, indices)))
    dim = None if axis is None else normalize_axis_index(axis, a.ndim)
    dim = 0 if a.ndim == 1 else dim
    shape = (a.size,) if dim is None else a.shape
    if not isinstance(indices, _C.DTensor):
        known = flat_index(_list(indices), shape[dim or 0], mode, dim or 0)
        if dim is None:
            return getitem(a, np.unravel_index(known, a.shape))
        return getitem(a, (ALL,) * dim + (known,))
    indices = settled("take", indices)
    if mode == "raise" and indices.dtype.kind in "iu":
        indices = checked_index("take", indices, shape, dim or 0)
        if dim is not None:
            return getitem(a, (ALL,) * dim + (indices,))
    return _take(a, indices, dim, mode)


def _list(indices: Any) -> Any:
    """Return indices that every rank knows; an empty list stays one, as it is no array
    of floats then."""
    return indices if isinstance(indices, list | tuple) else plain("take", indices)


@operator(name="take", operands=2)
def _take(a: Operand, indices: Operand, axis: int | None, mode: Any) -> Any:
    source = letters(a.ndim)
    new = letters(indices.ndim, skip=a.ndim)
    if axis is None:
        result, source = new, ["*"] * a.ndim
    else:
        result = [*source[:axis], *new, *source[axis + 1 :]]
        source[axis] = "*"
    text = f"{' '.join(source)},{' '.join(new)}->{' '.join(result)}"
    rows = ";".join(f"{op},R->{op}" for op in OPS)
    kernel = call(np.take, a, indices, axis=axis, mode=mode)
    return Rule(text, partial=rows, reduce=None), kernel, a.dtype


@composed(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Take one element along a dim for each element of `indices`.

    Parameters
    ----------
    arr : array_like
        The source; whole along `axis`, the other dims may be cut.
    indices : array_like of int
        Of as many dims; any of them may be cut.
    axis : int or None, default -1
        The dim; None: of the flattened `arr`, by `indices` of one dim.

    Returns
    -------
    DTensor
        Of the shape of `indices`, broadcast against `arr` but along `axis`.
    """
    if axis is None:
        if ndim(indices) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = np.ravel(arr), 0
    mesh = mesh_of((arr, indices))
    arr, indices = on_mesh(arr, mesh), on_mesh(indices, mesh)
    check_along(arr.shape, indices, axis)
    dim = normalize_axis_index(axis, arr.ndim)
    indices = checked_index("take_along_axis", indices, arr.shape, dim)
    return _take_along_axis(arr, indices, dim)


def check_along(shape: tuple[int, ...], indices: Any, axis: int) -> None:
    """Raise what NumPy raises for `indices` that do not go with an array."""
    dim = normalize_axis_index(axis, len(shape))
    fits = indices.ndim == len(shape) and indices.dtype.kind in "iu"
    lengths = list(zip(shape, indices.shape, strict=fits))
    if not fits or any(
        n != k and 1 not in (n, k) for d, (n, k) in enumerate(lengths) if d != dim
    ):
        np.take_along_axis(hollow(shape), hollow(indices.shape, indices.dtype), dim)


@operator(name="take_along_axis", operands=2)
def _take_along_axis(arr: Operand, indices: Operand, axis: int) -> Any:
    names, new = letters(arr.ndim), letters(1, skip=arr.ndim)
    terms: list[list[str]] = [[], []]
    result = []
    for dim, name in enumerate(names):
        n, k = arr.shape[dim], indices.shape[dim]
        words = ("*", *new) if dim == axis else (name, name)
        if dim != axis and n != k:
            words = ("*", name) if n == 1 else (name, "*")
        terms[0].append(words[0])
        terms[1].append(words[1])
        result.append(new[0] if dim == axis else name)
    rows = ";".join(f"{op},R->{op}" for op in OPS)
    text = f"{' '.join(terms[0])},{' '.join(terms[1])}->{' '.join(result)}"
    kernel = call(np.take_along_axis, arr, indices, axis)
    return Rule(text, partial=rows, reduce=None), kernel, arr.dtype


# --- by conditions --------------------------------------------------------------------


@composed(np.compress)
def compress(condition: Any, a: Any, axis: int | None = None, out: None = None) -> Any:
    """Take the slices along a dim for which a condition holds.

    Parameters
    ----------
    condition : array_like, shape (n,)
        Which ones; beyond its end none.
    a : array_like
        The source.
    axis : int, optional
        The dim; default: `a` as if it had one.
    out : DTensor, optional
        What the result is written to.
    """
    if ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    a = on_mesh(a, mesh_of((condition, a)))
    dim = 0 if axis is None else normalize_axis_index(axis, a.ndim)
    alike = isinstance(condition, _C.DTensor) and (a.ndim == 1 or axis is not None)
    if alike and condition.shape[0] == a.shape[dim]:
        return getitem(a, (ALL,) * dim + (_booleans(condition),))
    return take(a, values_of("compress", condition).nonzero()[0], axis)


@method(name="compress")
def _compress_method(
    x: Any, condition: Any, axis: int | None = None, out: Any = None
) -> Any:
    """Take the slices along a dim for which a condition holds: see `compress`."""
    return compress(condition, x, axis, out)


def _booleans(x: Any) -> Any:
    return x if x.dtype == bool else np.not_equal(x, 0)


@composed(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """Return the elements, in one dim, for which a condition holds.

    Parameters
    ----------
    condition : array_like
        Of the shape of `arr`, or as many elements.
    arr : array_like
        The source.
    """
    arr = on_mesh(arr, mesh_of((condition, arr)))
    if isinstance(condition, _C.DTensor) and condition.shape == arr.shape:
        return getitem(arr, _booleans(condition))
    return take(arr, np.flatnonzero(values_of("extract", condition)))


# --- where elements are not zero ------------------------------------------------------


def _found(name: str, a: Any) -> tuple[list[Array], _C.Layout]:
    """Return where this rank's elements are not zero, and the layout of one dim that
    such indices have. Collective: the ranks count."""
    a = settled(name, a)
    if a.ndim == 0:
        np.nonzero(np.empty(()))  # raises
    layout = leading(a.layout, 0, a)
    part = local(move(name, a, layout))
    model = aligned(layout, a.shape[:1], {0: 0}, np.intp)
    if not inside(layout):
        return [np.empty(0, np.intp)] * a.ndim, counted(model, 0, 0)
    first, *others = part.nonzero()
    first = positions(layout, 0)[first]
    return [first, *others], counted(model, 0, first.size)


@method
@composed(np.nonzero)
def nonzero(a: Any) -> tuple[Any, ...]:
    """Return the indices of the elements that are not zero, for each dim.

    Each rank finds its own; the results are cut where `a` is. Collective.

    Parameters
    ----------
    a : DTensor
        Of one dim at least.

    Returns
    -------
    tuple of DTensor of int64, shape (n,)
    """
    found, layout = _found("nonzero", a)
    return tuple(make(index, layout) for index in found)


@composed(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """Return the indices of the elements that are not zero, in the flattened array.

    Parameters
    ----------
    a : DTensor
        Of any shape.

    Returns
    -------
    DTensor of int64, shape (n,)
    """
    a = np.atleast_1d(a)
    found, layout = _found("flatnonzero", a)
    if inside(layout):
        found[:1] = [np.ravel_multi_index(tuple(found), a.shape)]
    return make(found[0], layout)


@composed(np.argwhere)
def argwhere(a: Any) -> Any:
    """Return the indices of the elements that are not zero, a row for each.

    Parameters
    ----------
    a : DTensor
        Of any shape.

    Returns
    -------
    DTensor of int64, shape (n, a.ndim)
    """
    found, layout = _found("argwhere", np.atleast_1d(a))
    rows = np.stack(found, axis=1)[:, : a.ndim]
    shape = (layout.shape[0], a.ndim)
    return make(rows, aligned(layout, shape, {0: 0}, np.intp))
