"""x[index]: every index of NumPy, with nothing moved where the parts allow it."""

from collections.abc import Iterator, Sequence
from operator import getitem as take_out
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._index import (
    At,
    Gap,
    Mask,
    New,
    Pick,
    Span,
    Term,
    check_bounds,
    parse,
)
from dtensor.ops._operator import Operand, Part, Rule, call, letters, operator
from dtensor.ops._parts import is_cut, is_strided, local, make, spans, values_of
from dtensor.ops._pick import masked, picked

__all__ = ["basic", "getitem", "held", "whole", "window"]

Key = Span | At | New
ALL = slice(None)


@operator
def getitem(x: Operand, index: Any) -> Any:
    """Return ``x[index]``: NumPy's answer for every index that NumPy knows.

    * Slices leave cut dims cut where they are and move nothing; the result shares
      memory with `x`, so that writing into it writes into `x`; except of strided shards
      (`_StridedShard`), which are brought together.
    * An integer on a cut dim moves that one row only.
    * Arrays of integers: of a dim that is cut only the wanted rows move, and nothing
      where they come in the order of the parts.
    * Masks select on each rank what it holds; the result keeps the parts.

    Collective, unless all of it is slices.

    Parameters
    ----------
    x : DTensor or Tensor
        The array.
    index : object
        Integers, slices, ``None``, ``...``, arrays of integers or booleans, lists and
        DTensors of them, or a tuple of these.

    Returns
    -------
    DTensor or Tensor
        Of shape ``np.empty(x.shape)[index].shape``.

    Raises
    ------
    IndexError
        What NumPy raises; on every rank.
    """
    if _has_arrays(index):
        return _any
    terms = parse("getitem", x.shape, x.dtype, index)
    keys = [t for t in terms if isinstance(t, Span | At | New)]
    arrays = any(isinstance(t, Pick | Mask) for t in terms)
    if arrays or _is_copied(x.layout, keys):
        return _any
    return _view(x, keys, element=_is_element(terms))


def _is_element(terms: Sequence[Term]) -> bool:
    """Return whether integers alone name one element, of which NumPy gives a copy."""
    return all(isinstance(term, At) for term in terms)


def _has_arrays(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, Operand | list | np.ndarray) for item in items)


def _any(x: Any, index: Any) -> Any:
    """Return ``x[index]`` for every index."""
    if not isinstance(x, _C.DTensor):
        return _C.as_tensor(np.asarray(x)[whole(index)])
    terms = parse("getitem", x.shape, x.dtype, index)
    if not any(isinstance(t, Pick | Mask) for t in terms):
        view = basic(x, [t for t in terms if isinstance(t, Span | At | New)])
        if _is_element(terms):
            return make(local(view).copy(), view.layout)
        if _is_copied(x.layout, [t for t in terms if isinstance(t, Span | At)]):
            _C.set_origin(view, x, index)  # what is written into it is brought back
        return view
    return _advanced(x, check_bounds("getitem", x.shape, terms))


def whole(index: Any) -> Any:
    """Return an index without tensors, for an array of this rank alone."""
    if isinstance(index, tuple):
        return tuple(map(whole, index))
    if isinstance(index, _C.DTensor):
        return values_of("getitem", index)
    return np.asarray(index) if isinstance(index, _C.Tensor) else index


# --- slices, integers, new dims -------------------------------------------------------


def basic(x: _C.DTensor, keys: Sequence[Key]) -> _C.DTensor:
    """Return a view, if need be in two steps.

    The first takes a window of what is to be reversed or to go away, with its parts
    where they are. So no more than that, one row for an integer, has to be made whole
    for the second.
    """
    if _in_two_steps(x.layout, keys):
        x = _basic(x, tuple(window(k) for k in keys if not isinstance(k, New)))
        keys = [_rest(k) for k in keys]
    view: _C.DTensor = _basic(x, tuple(keys))
    return view


def _is_copied(layout: _C.Layout | None, keys: Sequence[Key]) -> bool:
    """Return whether an index has to move elements, so that no view is possible."""
    return _in_two_steps(layout, keys) or any(
        isinstance(k, Span)
        and layout is not None
        and k.size != layout.shape[k.dim]
        and is_strided(layout, k.dim)
        for k in keys
    )


def _in_two_steps(layout: _C.Layout | None, keys: Sequence[Key]) -> bool:
    """Return whether a cut dim is to be reversed or to go away."""
    hard = [k for k in keys if isinstance(k, At) or isinstance(k, Span) and k.step < 0]
    return layout is not None and any(is_cut(layout, k.dim) for k in hard)


def window(key: Span | At) -> Span:
    """Return the forward slice with the elements of a key."""
    if isinstance(key, At):
        return Span(key.dim, key.at, 1, 1)
    if key.step > 0:
        return key
    return Span(key.dim, key.start + (key.size - 1) * key.step, key.size, -key.step)


def _rest(key: Key) -> Key:
    """Return what is to be done with the window of a key."""
    if isinstance(key, At):
        return At(key.dim, 0)
    if isinstance(key, New):
        return key
    if key.step > 0:
        return Span(key.dim, 0, key.size, 1)
    return Span(key.dim, key.size - 1, key.size, -1)


def _view(x: Operand, keys: Sequence[Key], element: bool = False) -> Any:
    """Return the rule and the kernel of slices, integers and new dims in one step.

    Without dots NumPy gives a scalar for an element, and no view.
    """
    dots = not element and all(isinstance(key, At) for key in keys)
    source = letters(x.ndim)
    result = []
    whole = set()  # keys that the kernel takes as they are
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
            else _as_it_is(key)
            for k, key in enumerate(keys)
        ]
        return (*parts, ...) if dots else tuple(parts)

    rule = Rule(f"{' '.join(source)}->{' '.join(result)}", partial="any")
    return rule, call(take_out, x, Part(index)), x.dtype


_basic = operator(_view, name="getitem")


def _is_whole(x: Operand, key: Span) -> bool:
    """Return whether a slice needs its dim whole: backwards, or of a strided dim."""
    if key.step < 0:
        return True
    full = (key.start, key.size) == (0, x.shape[key.dim])
    return not full and x.layout is not None and is_strided(x.layout, key.dim)


def _factor(name: str, key: Span, length: int) -> str:
    full = (key.start, key.size, key.step) == (0, length, 1)
    return name if full else f"{name}[{key.start}:{key.size}:{key.step}]"


def _as_it_is(key: Key) -> Any:
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
        Of the sliced dim: which of its elements these are.
    """
    ranges = spans(layout, key.dim)
    if not ranges:
        return slice(0, 0), slice(0, 0)
    start, stop = ranges[0][0], sum(ranges[-1])
    if len(ranges) > 1:  # only a whole dim is asked for where it is strided
        return ALL, ALL
    first = max(0, -((key.start - start) // key.step))
    last = max(first, min(key.size, -((key.start - stop) // key.step)))
    at = key.start + first * key.step - start
    end = at + (last - first - 1) * key.step + 1 if last > first else at
    return slice(at, end, key.step), slice(first, last)


# --- arrays of integers and booleans --------------------------------------------------


def _advanced(x: _C.DTensor, terms: Sequence[Term]) -> _C.DTensor:
    """Return a copy: first all that is basic, then the arrays on what that gives."""
    masks = [t.mask for t in terms if isinstance(t, Mask)]
    alone = len(masks) == 1 and not any(isinstance(t, Pick | At) for t in terms)
    y = basic(x, list(_keys(x, terms)))
    if alone and masks[0].ndim > 1 or alone and isinstance(masks[0], _C.DTensor):
        before = [t for t in terms if not isinstance(t, Gap)]
        dim = next(k for k, t in enumerate(before) if isinstance(t, Mask))
        return masked(y, masks[0], dim)
    return picked(y, list(_entries(terms)))


def _keys(x: _C.DTensor, terms: Sequence[Term]) -> Iterator[Key]:
    """Yield what makes a dim for every term: whole ones for arrays."""
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


def _entries(terms: Sequence[Term]) -> Iterator[Any]:
    """Yield NumPy's index for the dims that `_keys` makes."""
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
