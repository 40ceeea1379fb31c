"""x[mask] = value: each rank writes to what its own part of the mask selects."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make, move
from dtensor.ops.index.basic import basic, held, window
from dtensor.ops.index.pick import first_result_dim, leading, mask_part, selection
from dtensor.ops.index.terms import At, Gap, Mask, New, Pick, Span, Term
from dtensor.ops.index.written import PICK, Value, brought, fitted

__all__ = ["is_selection", "result_of", "write_selected"]

Array = npt.NDArray[Any]
ALL = slice(None)

MASK = (
    "NumPy boolean array indexing assignment cannot assign {} input values to the {} "
    "output values where the mask is true"
)
TOO_MANY_DIMS = (
    "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
    "input has {} dimensions"
)
_KEYS: dict[type, Any] = {Span: ALL, New: ALL, Gap: ...}


def result_of(
    terms: Sequence[Term], new: Sequence[Span]
) -> tuple[list[Span | New], int, dict[int, int]]:
    """Return what makes the dims of the result of an index, of which `new` are those
    of its arrays; where these are in a value; and the dims of the array that are kept
    -> those of a value."""
    keys = [_KEYS.get(type(t), "array") for t in terms]
    rest = [t for t in terms if isinstance(t, Span | New)]
    first = first_result_dim(keys)
    at = sum(isinstance(t, Span) for t in rest[:first])
    kept = [t.dim for t in rest if isinstance(t, Span)]
    dims = {d: k if k < at else k + len(new) for k, d in enumerate(kept)}
    return [*rest[:first], *new, *rest[first:]], at, dims


def is_selection(terms: Sequence[Term]) -> bool:
    """Return whether a mask is the only array of an index."""
    arrays = [t for t in terms if isinstance(t, Mask | Pick)]
    return len(arrays) == 1 and isinstance(arrays[0], Mask)


def write_selected(x: _C.DTensor, terms: Sequence[Term], value: Value) -> None:
    """Write to what a mask selects, and slices and integers beside it.

    Where the elements that each rank selects follow on those of the one before, a value
    is moved to the ranks that select its elements: what the same mask has selected of
    an array in this layout is there already. Where they do not, the value is put into
    an array in a layout where they do, and this moves.
    """
    if len(terms) == 1 and value.ndim > 1:
        raise TypeError(TOO_MANY_DIMS.format(value.ndim))
    windows = _windows(x, terms)
    to = basic(x, windows).layout
    mask: Any = next(t for t in terms if isinstance(t, Mask))
    many = not _is_one(terms, value)
    layout = leading(to, mask.dim, mask.mask, spread=False) if many else to
    before = (ALL,) * mask.dim
    with within("setitem", x, mask.mask, value):
        chosen = mask_part("setitem", mask.mask, mask.dim, layout)
        if not inside(x.layout):
            return
        part = _value_part(terms, value, layout, chosen, x.dtype, many)
        here = local(x)[tuple(held(x.layout, w)[0] for w in windows)]
        if layout != to:
            spread = np.zeros(layout.local_shape(), x.dtype)
            spread[(*before, chosen)] = part
            spread = local(move("setitem", make(spread, layout), to))
            chosen = mask_part("setitem", mask.mask, mask.dim, to)
            part = spread[(*before, chosen)]
        here[(*before, chosen)] = part


def _windows(x: _C.DTensor, terms: Sequence[Term]) -> list[Span]:
    found = []
    for t in terms:
        if isinstance(t, Span | At):
            found.append(window(t))
        elif isinstance(t, Mask):
            dims = range(t.dim, t.dim + t.mask.ndim)
            found += [Span(d, 0, x.shape[d], 1) for d in dims]
    return found


def _is_one(terms: Sequence[Term], value: Value) -> bool:
    """Return whether a value is the same for all elements that the mask selects, so
    that the ranks need not count them. They do for the error if it does not fit."""
    result, _, _ = result_of(terms, [Span(-1, 0, 1, 1)])
    lengths = [t.size if isinstance(t, Span) else 1 for t in result]
    dims = [t.dim if isinstance(t, Span) else 0 for t in result]
    ends = zip(value.shape[::-1], lengths[dims.index(-1) :][::-1], strict=False)
    return all(n in (1, full) for n, full in ends)


def _value_part(
    terms: Sequence[Term],
    value: Value,
    layout: _C.Layout,
    chosen: Array,
    dtype: Any,
    many: bool,
) -> Array:
    """Return this rank's part of a value, with the dims of what the mask selects from
    this rank's part."""
    mask: Any = next(t for t in terms if isinstance(t, Mask))
    dim, merged = mask.dim, mask.mask.ndim - 1
    count = 1
    if many:
        layout = selection(layout, dim, mask.mask, dtype, int(chosen.sum()))
        count = layout.shape[dim]
    if len(terms) == 1 and value.ndim == 1 and value.size not in (1, count):
        raise ValueError(MASK.format(value.size, count))
    result, at, dims = result_of(terms, [Span(-1, 0, count, 1)])
    whole = fitted(value, result, PICK)
    if many:
        dims = {d if d < dim else d - merged: v for d, v in dims.items()} | {dim: at}
    part = brought(whole, layout, dims, dtype)
    part = np.moveaxis(part, at, sum(d < dim for d in dims))
    ints = [
        t.dim if t.dim < dim else t.dim - merged for t in terms if isinstance(t, At)
    ]
    return np.expand_dims(part, tuple(ints))
