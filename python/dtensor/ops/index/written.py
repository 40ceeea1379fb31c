"""Values for writing, brought to the shape and layout of the target."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.parts import inside, key_of, local, make, move, place
from dtensor.ops.index.basic import basic, held, window
from dtensor.ops.index.terms import (
    At,
    New,
    Span,
    Term,
    check_bounds,
    is_basic,
    parse,
)

__all__ = [
    "PICK",
    "Value",
    "brought",
    "fitted",
    "move_only",
    "received",
    "shown",
    "write_view",
]

Array = npt.NDArray[Any]
Value = Array | _C.DTensor
ALL = slice(None)

COPY = "could not broadcast input array from shape {} into shape {}"
PICK = (
    "shape mismatch: value array of shape {} could not be broadcast to indexing "
    "result of shape {}"
)


def fitted(value: Value, terms: Sequence[Term], sentence: str = COPY) -> Value:
    """Return a value with a dim for each slice and integer, of its length or 1.

    Parameters
    ----------
    value : array or DTensor
        Aligned to the end of the result, in which slices and new dims are dims, and
        integers are not. Backward slices reverse it.
    terms : sequence of Term
        The index.
    sentence : str
        Of the ValueError if it does not fit.
    """
    result = [t for t in terms if isinstance(t, Span | New)]
    lengths = tuple(t.size if isinstance(t, Span) else 1 for t in result)
    extra = max(0, value.ndim - len(lengths))
    own = value.shape[extra:]
    ends = lengths[len(lengths) - len(own) :]
    fits = all(n in (1, full) for n, full in zip(own, ends, strict=True))
    if not fits or value.shape[:extra] != (1,) * extra:
        raise ValueError(sentence.format(shown(value.shape), shown(lengths)))
    missing = len(lengths) - len(own)
    index: list[Any] = [0] * extra
    for term in terms:
        if isinstance(term, At):
            index.append(None)
        elif missing > 0 and isinstance(term, Span | New):
            missing -= 1
            index += [None] * isinstance(term, Span)
        elif isinstance(term, New):
            index.append(0)
        elif isinstance(term, Span):
            index.append(slice(None, None, -1) if term.step < 0 else ALL)
    if all(item == ALL for item in index):
        return value
    found: Value = value[(*index, ...)]
    return found


def shown(shape: Sequence[int]) -> str:
    """Return a shape as NumPy's errors show it."""
    return f"({','.join(map(str, shape))}{',' * (len(shape) == 1)})"


def received(value: _C.DTensor, to: _C.Layout) -> Array:
    """Return this rank's part of a value that is moved; in a simulation, where moves
    give no data, zeros for it."""
    x = move("setitem", value, to)
    return np.zeros((1,) * x.ndim, x.dtype) if is_meta(x) else local(x)


def _alike(
    value: Value, to: _C.Layout, dims: dict[int, int], dtype: Any, partial: bool = False
) -> _C.Layout:
    """Return the layout of a value for the parts of a layout; `dims`: see `brought`."""
    same = {d: v for d, v in dims.items() if to.shape[d] == value.shape[v]}
    return to.like(value.shape, same, dtype, partial=partial)


def brought(value: Value, to: _C.Layout, dims: dict[int, int], dtype: Any) -> Array:
    """Return this rank's part of a value that is written to the parts of a layout.

    `dims`: dims of the layout -> dims of the value. Where the value has length 1, or
    the layout cuts another dim, every rank has all of the value.
    """
    alike = _alike(value, to, dims, value.dtype)
    if not to.is_partial:
        if isinstance(value, _C.DTensor):
            return received(value, alike)
        return value[key_of(alike)] if inside(alike) else value
    addends = _alike(value, to, dims, dtype, partial=True)
    if not isinstance(value, _C.DTensor):
        return local(place(value.astype(dtype), addends))
    if value.dtype != dtype:
        part = received(value, alike).astype(dtype)
        value = make(part, alike.with_dtype(dtype))
    return received(value, addends)


def move_only(x: Any, index: Any, value: Any) -> None:
    """Move a value as a write to slices does, where there are no data: for who is told
    of moves."""
    distributed = isinstance(x, _C.DTensor) and isinstance(value, _C.DTensor)
    if not distributed or value.device != "meta" or not is_basic(index):
        return
    terms = check_bounds("setitem", x.shape, parse("setitem", x.shape, x.dtype, index))
    layout = basic(x, _windows(terms)).layout
    one: Any = fitted(value, terms)
    dims = {d: d for d in range(x.ndim)}
    move("setitem", one, _alike(one, layout, dims, one.dtype, layout.is_partial))


def _windows(terms: Sequence[Term]) -> list[Any]:
    """Return what basic indices select of each dim."""
    return [window(term) for term in terms if isinstance(term, Span | At)]


def write_view(x: _C.DTensor, terms: Sequence[Term], value: Value) -> None:
    """Write to slices: only the value is moved, to where the slices are."""
    if value.ndim and all(isinstance(t, At) for t in terms):
        np.empty(1, x.dtype)[0] = np.zeros(value.shape)  # raises
    windows = _windows(terms)
    layout = basic(x, windows).layout
    part = brought(fitted(value, terms), layout, {d: d for d in range(x.ndim)}, x.dtype)
    if inside(layout):
        local(x)[tuple(held(x.layout, w)[0] for w in windows)] = part
