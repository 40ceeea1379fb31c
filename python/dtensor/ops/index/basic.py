"""Basic indices (slices, integers, new dims): views of the parts where possible."""

from collections.abc import Iterator, Sequence
from operator import getitem as take_out
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import Operand, Part, Rule, call, letters, operator
from dtensor.ops._make.parts import spans, values_of
from dtensor.ops.index.backwards import reversed_along, reversible
from dtensor.ops.index.terms import At, Gap, Mask, New, Pick, Span, Term

__all__ = [
    "Key",
    "as_it_is",
    "basic",
    "basic_step",
    "entries",
    "held",
    "is_copied",
    "keys_of",
    "view_of",
    "whole",
    "window",
]

Key = Span | At | New
ALL = slice(None)

# --- in one or two steps --------------------------------------------------------------


def basic(x: _C.DTensor, keys: Sequence[Key]) -> _C.DTensor:
    """Return a view, in two steps if needed.

    The first step takes a window of the dims that are reversed or dropped, and leaves
    its parts where they are. Cut dims are then reversed in parts, as by `flip`. The
    second step needs only the rest of this window (one row for an integer) whole.
    """
    if _in_two_steps(x.layout, keys):
        x = basic_step(x, tuple(window(k) for k in keys if not isinstance(k, New)))
        backwards = [k.dim for k in keys if isinstance(k, Span) and k.step < 0]
        turned = reversible(x.layout, backwards)
        x = reversed_along("getitem", x, backwards) if turned else x
        keys = [_rest(k, turned) for k in keys]
    view: _C.DTensor = basic_step(x, tuple(keys))
    return view


def is_copied(layout: _C.Layout | None, keys: Sequence[Key]) -> bool:
    """Return whether an index has to move elements, so that it cannot be a view."""
    return _in_two_steps(layout, keys) or any(
        isinstance(k, Span)
        and layout is not None
        and k.size != layout.shape[k.dim]
        and layout.is_strided(k.dim)
        for k in keys
    )


def _in_two_steps(layout: _C.Layout | None, keys: Sequence[Key]) -> bool:
    """Return whether a cut dim is reversed or dropped."""
    hard = [k for k in keys if isinstance(k, At) or isinstance(k, Span) and k.step < 0]
    return layout is not None and any(layout.is_cut(k.dim) for k in hard)


def window(key: Span | At) -> Span:
    """Return the forward slice with the elements of a key."""
    if isinstance(key, At):
        return Span(key.dim, key.at, 1, 1)
    if key.step > 0:
        return key
    return Span(key.dim, key.start + (key.size - 1) * key.step, key.size, -key.step)


def _rest(key: Key, turned: bool) -> Key:
    """Return the key to apply to the window of a key, which may be reversed already."""
    if isinstance(key, At):
        return At(key.dim, 0)
    if isinstance(key, New):
        return key
    if key.step > 0 or turned:
        return Span(key.dim, 0, key.size, 1)
    return Span(key.dim, key.size - 1, key.size, -1)


def view_of(x: Operand, keys: Sequence[Key], element: bool = False) -> Any:
    """Return the rule and the kernel of slices, integers and new dims in one step.

    Without an Ellipsis NumPy returns a scalar for an element, not a view.
    """
    dots = not element and all(isinstance(key, At) for key in keys)
    source = letters(x.ndim)
    result = []
    whole = set()  # keys that the kernel uses unchanged
    for k, key in enumerate(keys):
        if isinstance(key, Span) and not _is_whole(x, key):
            result.append(_factor(source[key.dim], key, x.shape[key.dim]))
            continue
        whole.add(k)
        if not isinstance(key, New):
            source[key.dim] = "*"
        if not isinstance(key, At):
            result.append(str(key.size if isinstance(key, Span) else 1))

    def index(operands: tuple[_C.Layout, ...], _: tuple[_C.Layout, ...]) -> Any:
        layout = operands[0]
        parts = [
            held(layout, key)[0]
            if isinstance(key, Span) and k not in whole
            else as_it_is(key)
            for k, key in enumerate(keys)
        ]
        return (*parts, ...) if dots else tuple(parts)

    rule = Rule(f"{' '.join(source)}->{' '.join(result)}", partial="any")
    return rule, call(take_out, x, Part(index)), x.dtype


basic_step = operator(view_of, name="getitem", view=True)


def _is_whole(x: Operand, key: Span) -> bool:
    """Return whether a slice needs its dim whole: backwards, or of a strided dim."""
    if key.step < 0:
        return True
    full = (key.start, key.size) == (0, x.shape[key.dim])
    return not full and x.layout is not None and x.layout.is_strided(key.dim)


def _factor(name: str, key: Span, length: int) -> str:
    full = (key.start, key.size, key.step) == (0, length, 1)
    return name if full else f"{name}[{key.start}:{key.size}:{key.step}]"


def as_it_is(key: Key) -> Any:
    if isinstance(key, At):
        return key.at
    if isinstance(key, New):
        return None
    stop = key.start + key.size * key.step
    return slice(key.start, stop if stop >= 0 else None, key.step)


def held(layout: _C.Layout, key: Span) -> tuple[slice, slice]:
    """Return the part of a forward slice that this rank holds.

    Returns
    -------
    slice
        Of this rank's array.
    slice
        Of the sliced dim: the elements that these are.
    """
    ranges = spans(layout, key.dim)
    if not ranges:
        return slice(0, 0), slice(0, 0)
    start, stop = ranges[0][0], sum(ranges[-1])
    if len(ranges) > 1:  # strided dims only allow a slice of the whole dim
        return ALL, ALL
    first = max(0, -((key.start - start) // key.step))
    last = max(first, min(key.size, -((key.start - stop) // key.step)))
    at = key.start + first * key.step - start
    end = at + (last - first - 1) * key.step + 1 if last > first else at
    return slice(at, end, key.step), slice(first, last)


# --- of indices with arrays -----------------------------------------------------------


def whole(index: Any) -> Any:
    """Return an index without tensors, for an array of this rank alone."""
    if isinstance(index, tuple):
        return tuple(map(whole, index))
    if isinstance(index, _C.DTensor):
        return values_of("getitem", index)
    return np.asarray(index) if isinstance(index, _C.Tensor) else index


def keys_of(x: Any, terms: Sequence[Term]) -> Iterator[Key]:
    """Yield the keys that make a dim, for every term; arrays give whole slices."""
    for term in terms:
        if isinstance(term, Span | New):
            yield term
        elif isinstance(term, At):
            yield Span(term.dim, term.at, 1, 1)
        elif isinstance(term, Mask) and term.mask.ndim == 0:
            yield New()
        elif isinstance(term, Pick | Mask):
            count = 1 if isinstance(term, Pick) else term.mask.ndim
            for dim in range(term.dim, term.dim + count):
                yield Span(dim, 0, x.shape[dim], 1)


def entries(terms: Sequence[Term]) -> Iterator[Any]:
    """Yield NumPy's index for the dims that `keys_of` makes."""
    for term in terms:
        if isinstance(term, Span | New):
            yield ALL
        elif isinstance(term, Gap):
            yield ...
        elif isinstance(term, At):
            yield 0
        elif isinstance(term, Pick):
            yield term.index
        elif term.mask.ndim == 0:
            yield np.zeros(int(term.mask), np.intp)
        else:
            yield from values_of("getitem", term.mask).nonzero()
