"""Parsing NumPy's indices: one term for each dim of the array or of the result.

x[2, ..., None, ::-1, rows]  ->  At(0, 2)  Span(1, 0, n, 1)  New()  Span(2, n-1, n, -1)
                                 Pick(3, rows)
"""

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.parts import as_int64, inside, local, move, plain

__all__ = [
    "At",
    "Gap",
    "Mask",
    "New",
    "Pick",
    "Span",
    "Term",
    "check_bounds",
    "checked_index",
    "dims_of",
    "is_basic",
    "lone_mask",
    "parse",
    "ready",
    "refuse",
]


class Span(NamedTuple):
    """A slice of a dim: `size` elements from `start` on, `step` apart."""

    dim: int
    start: int
    size: int
    step: int


class At(NamedTuple):
    """One element of a dim; the dim is dropped."""

    dim: int
    at: int


class New(NamedTuple):
    """A new dim of length 1."""


class Gap(NamedTuple):
    """An ellipsis of no dims, which still separates arrays."""


class Pick(NamedTuple):
    """An array of integers for a dim; with `New` before it, for that one."""

    dim: int
    index: Any  # ndarray or DTensor


class Mask(NamedTuple):
    """An array of booleans for as many dims as it has itself."""

    dim: int
    mask: Any  # ndarray or DTensor


Term = Span | At | New | Gap | Pick | Mask


def lone_mask(terms: Sequence[Term]) -> tuple[int, Any] | None:
    """Return the dim and the mask of an index whose only array is one that is spread
    over the ranks, or of several dims."""
    masks = [t.mask for t in terms if isinstance(t, Mask)]
    if len(masks) != 1 or any(isinstance(t, Pick | At) for t in terms):
        return None
    if masks[0].ndim < 2 and not isinstance(masks[0], _C.DTensor):
        return None
    before = [t for t in terms if not isinstance(t, Gap)]
    return next(k for k, t in enumerate(before) if isinstance(t, Mask)), masks[0]


def is_basic(index: Any) -> bool:
    """Return whether an index, if NumPy takes it, has no arrays, lists or booleans."""
    items = index if isinstance(index, tuple) else (index,)
    return all(
        isinstance(x, slice) or x is ... or x is None or _is_int(x) for x in items
    )


def _is_int(item: Any) -> bool:
    if isinstance(item, int):
        return not isinstance(item, bool)
    return getattr(item, "ndim", None) == 0 and item.dtype.kind in "iu"


def parse(name: str, shape: tuple[int, ...], dtype: Any, index: Any) -> list[Term]:
    """Return the terms of an index.

    Raises
    ------
    IndexError, ValueError
        As NumPy raises for the global shape; on every rank.
    """
    given = index if isinstance(index, tuple) else (index,)
    items = tuple(ready(name, item) for item in given)
    used = sum(map(dims_of, items))
    if used > len(shape) or sum(item is Ellipsis for item in items) > 1:
        refuse(shape, dtype, given)
    if not any(item is Ellipsis for item in items):
        items += (Ellipsis,) * (used < len(shape))
    terms: list[Term] = []
    dim = 0
    for item in items:
        if item is Ellipsis:
            count = len(shape) - used
            dims = range(dim, dim + count)
            terms += [Span(d, 0, shape[d], 1) for d in dims] or [Gap()]
            dim += count
            continue
        term = _term(item, dim, shape)
        if term is None:
            refuse(shape, dtype, given)
        terms.append(term)
        dim += dims_of(item)
    return terms


def ready(name: str, item: Any) -> Any:
    """Return an item as None, Ellipsis, slice, int or array."""
    if item is None or item is Ellipsis or isinstance(item, slice | int):
        return np.asarray(item) if isinstance(item, bool) else item
    if isinstance(item, _C.DTensor):
        return item if item.ndim else ready(name, item.item())
    array = item if isinstance(item, np.ndarray) else plain(name, item)
    if array.size == 0 and not isinstance(item, np.ndarray | _C.Tensor):
        return array.astype(np.intp)  # of an empty list
    if array.ndim == 0 and array.dtype.kind in "iu":
        return operator.index(array.item())
    return array


def dims_of(item: Any) -> int:
    """Return how many dims an item consumes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, slice | int):
        return 1
    return int(item.ndim) if item.dtype == bool else 1


def _term(item: Any, dim: int, shape: tuple[int, ...]) -> Term | None:
    """Return the term of an item; None if NumPy refuses it."""
    if item is None:
        return New()
    if isinstance(item, slice):
        start, stop, step = item.indices(shape[dim])
        count = len(range(start, stop, step))
        return Span(dim, start if count else 0, count, step if count > 1 else 1)
    if isinstance(item, int):
        at = item + shape[dim] if item < 0 else item
        return At(dim, at) if 0 <= at < shape[dim] else None
    if item.dtype == bool:
        part = shape[dim : dim + item.ndim]
        if item.shape == part:
            return Mask(dim, item)
        return Mask(dim, np.zeros(part, bool)) if _selects_nothing(part, item) else None
    return Pick(dim, as_int64(item)) if item.dtype.kind in "iu" else None


def _selects_nothing(shape: tuple[int, ...], mask: Any) -> bool:
    """Return whether NumPy accepts an empty mask for another shape."""
    if mask.size:
        return False
    try:
        return np.broadcast_to(False, shape)[np.zeros(mask.shape, bool)].size == 0
    except IndexError:
        return False


def refuse(shape: tuple[int, ...], dtype: Any, items: Sequence[Any]) -> NoReturn:
    """Raise NumPy's error for an index."""
    probe = np.broadcast_to(np.empty((), dtype), shape)
    stand_ins = tuple(
        np.zeros(item.shape, item.dtype) if isinstance(item, _C.DTensor) else item
        for item in items
    )
    probe[stand_ins]
    raise IndexError(f"NumPy refuses the index {items!r} of shape {shape}")


def check_bounds(name: str, shape: Sequence[int], terms: Sequence[Term]) -> list[Term]:
    """Return the terms with Partial indices reduced, all within their dims.

    Raises
    ------
    IndexError
        If one is out of range; on every rank. For distributed indices the ranks agree.
    """
    checked: list[Term] = []
    for term in terms:
        if isinstance(term, Pick):
            term = Pick(term.dim, checked_index(name, term.index, shape, term.dim))
        checked.append(term)
    return checked


def checked_index(
    name: str, index: Any, shape: Sequence[int], dim: int, least: int | None = None
) -> Any:
    """Return an array of integers; IndexError on every rank if one is out of range,
    which begins at `least`: default, as far below 0 as the dim is long."""
    if not isinstance(index, _C.DTensor):
        error = _out_of_range(index, shape[dim], dim, least)
        if error is not None:
            raise error
        return index
    layout = index.layout
    if layout.is_partial:
        index = move(name, index, layout.settled())
    error = None
    if inside(layout):
        error = _out_of_range(local(index), shape[dim], dim, least)
    if not index.layout.is_replicated:
        world.current().agree(b"", f"{name} by an index", error, layout.mesh)
    if error is not None:
        raise error
    return index


def _out_of_range(
    index: npt.NDArray[Any], length: int, dim: int, least: int | None = None
) -> IndexError | None:
    if index.size == 0:
        return None
    least = -length if least is None else least
    low, high = int(index.min()), int(index.max())
    if least <= low and high < length:
        return None
    first = index[(index < least) | (index >= length)].flat[0]
    return IndexError(
        f"index {first} is out of bounds for axis {dim} with size {length}"
    )
