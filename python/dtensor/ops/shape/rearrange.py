"""Rearranging elements: repeat, tile, broadcast.

Dims that keep their order stay cut; the others are made whole. Functions
that only move elements accept every Partial.
"""

import math
from collections.abc import Callable
from operator import getitem as take_out, index as whole_number
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops._make.numbers import has_operands, python_numbers_of
from dtensor.ops._make.operator import (
    LOCAL_SHAPE,
    Operand,
    axes_of,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import plain, values_of
from dtensor.ops._make.words import Answer, Shape, group, hollow, method_of, rule
from dtensor.ops.index.gradient import added, along
from dtensor.ops.index.pick import everywhere
from dtensor.ops.shape.copied import is_copied, repeated
from dtensor.ops.shape.view import reshape

__all__ = [
    "broadcast_arrays",
    "broadcast_to",
    "expand",
    "expand_as",
    "repeat",
    "tile",
]

# --- broadcast ------------------------------------------------------------------------


def _broadcast(a: Operand, shape: Shape, kernel: call) -> Answer:
    """Return the answer of a broadcast: new and longer dims are whole."""
    new = len(shape) - a.ndim
    names = letters(a.ndim)
    kept = [old == to for old, to in zip(a.shape, shape[new:], strict=True)]
    before = [name if kept[dim] else "1" for dim, name in enumerate(names)]
    after = [n if kept[dim] else str(shape[new + dim]) for dim, n in enumerate(names)]
    spread = rule([before], [[*map(str, shape[:new]), *after]], "any")
    return spread, kernel, a.dtype


def _broadcast_back(grad: Any, _out: Any, _a: Any, *_: Any, **__: Any) -> Any:
    return grad  # backward adds up what was broadcast


@method
@implements(np.broadcast_to)
@operator(view=True)
def broadcast_to(array: Operand, shape: Any, subok: bool = False) -> Answer:
    """Return a read-only view in a larger shape, with dims of length 1 repeated.

    Raises
    ------
    ValueError
        If the shape does not fit.
    """
    to = np.broadcast_to(hollow(array.shape), shape).shape
    return _broadcast(array, to, call(np.broadcast_to, array, LOCAL_SHAPE))


broadcast_to.vjp(_broadcast_back)


@method
@operator(view=True)
def expand(a: Operand, /, *sizes: Any) -> Answer:
    """Broadcast an array as torch does: -1 keeps the length of a dim.

    The view is read-only if it shows elements more than once.
    """
    given = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    old = (*[-1] * (len(given) - a.ndim), *a.shape)
    pairs = zip(old, given, strict=False)  # too few: NumPy's error
    shape = tuple(n if to == -1 else to for n, to in pairs)
    to = np.broadcast_to(hollow(a.shape), shape).shape
    new = len(to) - a.ndim
    if to == (1,) * new + a.shape:
        return _broadcast(a, to, call(take_out, a, (None,) * new + (...,)))
    return _broadcast(a, to, call(np.broadcast_to, a, LOCAL_SHAPE))


expand.vjp(_broadcast_back)


@method
def expand_as(a: Any, other: Any) -> Any:
    """Broadcast an array to the shape of another one."""
    return expand(a, tuple(other.shape))


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Broadcast arrays to their common shape.

    Returns
    -------
    tuple of arrays
        One for each argument; an array that has this shape is returned as it is.
    """
    arrays = [x if hasattr(x, "ndim") else np.asarray(x) for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    return tuple(x if x.shape == shape else np.broadcast_to(x, shape) for x in arrays)


# --- repeated -------------------------------------------------------------------------


@method
@implements(np.repeat)
@operator
def repeat(
    a: Operand, repeats: Any, axis: int | None = None
) -> Answer | Callable[..., Any]:
    """Repeat each element.

    Parameters
    ----------
    a : array
    repeats : int or sequence of int
        How often; or a number for each element, of which each rank repeats its own.
    axis : int, optional
        The dim; default: the flattened array.

    Raises
    ------
    ValueError
        If there are more or fewer numbers than elements.
    """
    if isinstance(repeats, Operand):
        return _repeat_by_array
    kind = None if isinstance(repeats, np.generic) else np.intp
    counts = np.asarray(repeats, kind)
    if counts.ndim == 1 and counts.size > 1 and _is_in_parts(a, axis):
        return _repeat_by_array
    dims = range(a.ndim) if axis is None else axes_of(axis, a.ndim)
    names = letters(a.ndim)
    _check_repeats(counts, math.prod(a.shape[dim] for dim in dims))
    if counts.size == 1 and counts.min() > 0:
        word = f"({' '.join(names[dim] for dim in dims)} {counts.item()})"
    else:
        names = letters(a.ndim, whole=dims)
        size = math.prod(a.shape[dim] for dim in dims)
        np.repeat(np.empty(size, "V0"), np.minimum(counts, 1))  # NumPy's errors
        word = str(int(counts.sum()) * (size if counts.size == 1 else 1))
    after = [word]
    if axis is not None:
        after = [*names[: dims[0]], word, *names[dims[0] + 1 :]]
    kernel = call(method_of("repeat", a), a, repeats, axis)
    return rule([names], [after], "any"), kernel, a.dtype


def _is_in_parts(a: Operand, axis: int | None) -> bool:
    """Return whether slices are repeated, each as often as is said, on their ranks."""
    if axis is None and a.ndim > 1:  # it is flattened first
        return a.layout is not None and not a.layout.is_replicated
    return a.ndim > 0 and is_copied(a.layout, axes_of(axis or 0, a.ndim)[0])


def _check_repeats(counts: npt.NDArray[Any], length: int) -> None:
    """Refuse counts that NumPy takes modulo 2**64, to then write out of bounds."""
    if counts.size == 0 or counts.dtype.kind not in "iu":
        return
    total = sum(map(abs, counts.ravel().tolist()))
    if total * (length if counts.size == 1 else 1) > np.iinfo(np.int64).max:
        raise ValueError(f"repeat: {total} times is more than an array has room for")


def _repeat_back(
    grad: Any, _out: Any, _a: Any, repeats: Any, axis: int | None = None
) -> Any:
    """Add up the copies of each element, which are adjacent."""
    counts = values_of("repeat", repeats).ravel()
    shape = (_a.size,) if axis is None else _a.shape
    dim = 0 if axis is None else axis % _a.ndim
    if counts.size == 1:
        copies = (*shape[: dim + 1], counts.item(), *shape[dim + 1 :])
        total = np.sum(reshape(grad, copies), axis=dim + 1)
    else:
        numbers = np.repeat(np.arange(shape[dim]), counts)
        total = added(grad, along(dim), [numbers], shape)
    return reshape(total, _a.shape)


repeat.vjp(_repeat_back)


def _repeat_by_array(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat by a count for each element: in parts, or by counts that every rank has,
    which become constants."""
    if isinstance(repeats, _C.DTensor):
        a = on_mesh(a, repeats.device_mesh)
    elif not isinstance(repeats, np.ndarray):
        repeats = plain("repeat", repeats)
    dims = range(np.ndim(a)) if axis is None else axes_of(axis, np.ndim(a))
    length = math.prod(np.shape(a)[dim] for dim in dims)
    none = hollow(repeats.shape, repeats.dtype)
    np.repeat(np.empty(length, "V0"), none)  # NumPy's errors
    if isinstance(a, _C.DTensor) and repeats.ndim == 1 and repeats.size > 1:
        if axis is None:
            a, axis = (reshape(a, (-1,)) if a.ndim > 1 else a), 0
        dim = axes_of(axis, a.ndim)[0]
        if is_copied(a.layout, dim):
            known = everywhere(repeats)
            return repeated(a, repeats if known is None else known, dim)
    counts = values_of("repeat", repeats)
    return repeat(a, counts.tolist() if counts.size else 1, axis)


@method
@implements(np.tile)
@operator
def tile(A: Operand, reps: Any) -> Answer | Callable[..., Any]:
    """Put copies of an array side by side.

    Parameters
    ----------
    A : array
    reps : int or sequence of int
        How many along each dim; extra numbers add new dims.

    Returns
    -------
    array
        If a cut dim is repeated, its shards are strided.
    """
    if has_operands(reps):
        return _tile_by_arrays
    counts = tuple(int(whole_number(n)) for n in np.atleast_1d(reps).tolist())
    ndim = max(len(counts), A.ndim)
    counts = (1,) * (ndim - len(counts)) + counts
    whole = range(A.ndim) if 0 in counts else ()
    names = letters(A.ndim, whole=whole)
    words = zip(
        counts,
        ["1"] * (ndim - A.ndim) + names,
        (1,) * (ndim - A.ndim) + A.shape,
        strict=True,
    )
    after = [
        str(count * length) if whole else group([str(count), name])
        for count, name, length in words
    ]
    return rule([names], [after], "any"), call(_tiled, A, counts), A.dtype


def _tiled(part: npt.NDArray[Any], counts: tuple[int, ...]) -> npt.NDArray[Any]:
    """Repeat a part. Of nothing NumPy gives a view; but what a result shows must not
    depend on which parts are empty."""
    result = np.tile(part, counts)
    return result if result.size else result.copy()


def _tile_by_arrays(A: Any, reps: Any) -> Any:
    """Repeat by numbers that are arrays; these become constants."""
    return tile(A, python_numbers_of("tile", reps))


def _tile_back(grad: Any, _out: Any, _A: Any, reps: Any) -> Any:
    """Add up the copies, which lie side by side."""
    counts = np.atleast_1d(reps).tolist()
    ndim = max(len(counts), _A.ndim)
    counts = [1] * (ndim - len(counts)) + counts
    lengths = [1] * (ndim - _A.ndim) + [*_A.shape]
    copies = [n for pair in zip(counts, lengths, strict=True) for n in pair]
    total = np.sum(reshape(grad, copies), axis=tuple(range(0, 2 * ndim, 2)))
    return reshape(total, _A.shape)


tile.vjp(_tile_back)
