"""In-place writing of values in turn: put, place, putmask, fill_diagonal."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor._core.nested import mapped
from dtensor.ops._make.composite import array_of, composite
from dtensor.ops._make.known import shape, size
from dtensor.ops._make.operator import implements, method
from dtensor.ops._make.parts import alone, from_zero, local
from dtensor.ops.index.copyto import copyto
from dtensor.ops.index.take import flat_index
from dtensor.ops.index.terms import checked_index
from dtensor.ops.index.values import converted, known, known_all
from dtensor.ops.index.write import setitem

__all__ = ["fill_diagonal", "place", "put", "putmask"]

Array = npt.NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


def _at_once(function: Callable[..., None]) -> Callable[[F], F]:
    """Let NumPy's function write into an array that one rank has, if there is nothing
    to record."""

    def register(answer: F) -> F:
        @functools.wraps(answer)
        def either(a: Any, *args: Any, **options: Any) -> None:
            others = [x for x in (*args, *options.values()) if isinstance(x, _C.Tensor)]
            if not all(map(_is_alone, [a, *others])) or not local(a).flags.writeable:
                answer(a, *args, **options)
                return
            bare, named = mapped((args, options), _C.DTensor, local)
            function(local(a), *bare, **named)
            _C.written(a, function.__name__, *args)

        return cast(F, either)

    return register


def _is_alone(x: Any) -> bool:
    """Return whether this rank has all of a tensor without a gradient."""
    if not isinstance(x, _C.DTensor) or (x.requires_grad and _C.is_grad_enabled()):
        return False
    return alone(x.layout) and not x.layout.is_partial and not is_meta(x)


def _numbered(name: str, a: Any, at: Array, values: Any) -> None:
    """Write the values, in turn, to the elements with these flat indices."""
    if not at.size or not size(values):
        return
    recorded = isinstance(values, _C.Tensor) and values.requires_grad
    values = values if recorded else known(name, values, a)
    if size(values) == 1:
        values = np.reshape(values, ())
    elif recorded:
        flat = np.ravel(values)
        values = flat[np.arange(at.size) % len(flat)]
    else:
        values = _in_turn(values, at.size)
    setitem(a, at if a.ndim == 1 else np.unravel_index(at, a.shape), values)


def _in_turn(values: Array, count: int) -> Array:
    """Return so many elements of an array, from its begin again after its end."""
    return np.tile(values.ravel(), -(-count // values.size))[:count]


def _is_plain_write(a: Any, index: Any, values: Any) -> bool:
    """Return whether ``a[index] = values`` writes the same: `index` may stay cut."""
    return (
        isinstance(index, _C.DTensor)
        and isinstance(a, _C.DTensor)
        and index.dtype.kind in "iu"
        and a.ndim == 1
        and shape(values) in ((), tuple(index.shape))
    )


@method
@implements(np.put)
@_at_once(np.put)
@composite
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Set elements by their indices in the flattened array.

    Parameters
    ----------
    a : DTensor
        The array to write to; each rank writes the elements that it holds.
    ind : array_like of int
        Indices of the elements.
    v : array_like
        The values, used in turn and repeated if there are too few.
    mode : {"raise", "wrap", "clip"}
        How to treat indices out of range.
    """
    if not isinstance(a, _C.Tensor):
        ind, v = known_all("put", ind, v)
        np.put(a, ind, v, mode)
        return
    v = converted("put", a.dtype, v)
    if mode == "raise" and _is_plain_write(a, ind, v):
        setitem(a, ind, v)
        return
    at, length = known("put", ind, a).ravel().astype(np.intp), int(a.size)
    if mode == "raise" and length:
        at = from_zero(checked_index("put", at, (length,), 0), length)
    else:
        at = flat_index(at, length, mode)
    _numbered("put", a, at, v)


@implements(np.place)
@_at_once(np.place)
@composite
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Set the elements for which a mask is true to values, which are used in turn.

    Parameters
    ----------
    arr : DTensor
        What is written into.
    mask : array_like
        As many booleans as `arr` has elements.
    vals : array_like
        The values; repeated if there are too few.
    """
    if not isinstance(arr, _C.Tensor):
        np.place(arr, *known_all("place", mask, vals))
        return
    if size(mask) != arr.size:
        raise ValueError("place: mask and data must be the same size")
    vals = converted("place", arr.dtype, vals)
    if size(vals) == 1:
        putmask(arr, mask, vals)
        return
    chosen = np.flatnonzero(known("place", mask, arr))
    if chosen.size and not size(vals):
        raise ValueError("Cannot insert from an empty array!")
    _numbered("place", arr, chosen, vals)


@implements(np.putmask)
@_at_once(np.putmask)
@composite
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set the elements for which a mask is true to those of `values` at the same place.

    Parameters
    ----------
    a : DTensor
        What is written into.
    mask : array_like
        As many booleans as `a` has elements.
    values : array_like
        Of the shape of `a`, or repeated to its size.
    """
    if not isinstance(a, _C.Tensor):
        np.putmask(a, *known_all("putmask", mask, values))
        return
    if size(mask) != a.size:
        raise ValueError("putmask: mask and data must be the same size")
    values = converted("putmask", a.dtype, values)
    if size(values) == 1:
        values = np.reshape(values, ())
    elif size(values) and not isinstance(values, _C.Tensor):
        values = _in_turn(values, a.size).reshape(a.shape)
    if shape(mask) == a.shape and shape(values) in (a.shape, ()):
        copyto(a, values, "unsafe", array_of(mask) != 0)
        return
    chosen = np.flatnonzero(known("putmask", mask, a))
    if chosen.size and size(values):
        given = np.ravel(values)
        _numbered("putmask", a, chosen, given[chosen % len(given)])


@implements(np.fill_diagonal)
@_at_once(np.fill_diagonal)
@composite
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Set the elements whose indices are all equal.

    Parameters
    ----------
    a : DTensor
        The array to write to, with two dims, or more of equal length.
    val : array_like
        The values, used in turn.
    wrap : bool, default False
        Whether the diagonal of a tall matrix starts again below its end.
    """
    if not isinstance(a, _C.Tensor):
        (val,) = known_all("fill_diagonal", val)
        np.fill_diagonal(a, val, wrap)
        return
    if a.ndim < 2 or a.ndim > 2 and len(set(a.shape)) > 1:
        np.fill_diagonal(np.empty(a.shape[:1] + (0,) * (a.ndim - 1)), 0)  # raises
    val = converted("flat", a.dtype, val)
    step = 1 + int(np.cumprod(a.shape[1:]).sum())
    end = a.size if wrap or a.ndim > 2 else min(a.size, a.shape[1] ** 2)
    _numbered("fill_diagonal", a, np.arange(0, end, step), val)
