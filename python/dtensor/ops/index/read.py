"""x[index] for every index of NumPy, without moving data where possible."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.parts import local, make
from dtensor.ops._make.step import one_step
from dtensor.ops.index.basic import basic, entries, is_copied, keys_of, view_of, whole
from dtensor.ops.index.gradient import back
from dtensor.ops.index.ordered import taken
from dtensor.ops.index.pairs import picked
from dtensor.ops.index.pick import masked
from dtensor.ops.index.terms import (
    At,
    Mask,
    New,
    Pick,
    Span,
    Term,
    check_bounds,
    lone_mask,
    parse,
)

__all__ = ["getitem"]


@operator(view=True)
def getitem(x: Operand, index: Any) -> Any:
    """Return ``x[index]``, for every index that NumPy accepts.

    * Slices leave the parts of cut dims where they are and move nothing. The result
      shares memory with `x`, so writing to it writes to `x`. The exception are strided
      shards (`_StridedShard`), which are gathered.
    * Slices with a negative step give a copy where they reverse a cut dim: each rank
      sends its part of them to the opposite one. Those of a Partial, and of strided
      shards, are gathered.
    * An integer on a cut dim moves that one row only.
    * Arrays of integers: only the wanted elements move, and nothing moves if the index
      names them in the order of the parts. In another order, 2^14 elements or more are
      cut along the index, as the dim is that it picks from; fewer may be replicated.
      Where several arrays pick from cut dims, the result is Partial: each rank gives
      what it has.
    * An array without dims counts as an integer, but the result is a copy.
    * Masks select, on each rank, from its own part; the result keeps the parts.

    Collective, unless the index consists of slices with positive steps only.

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
        As NumPy raises; on every rank.
    """
    if _has_arrays(index):
        return _any
    terms = parse("getitem", x.shape, x.dtype, index)
    keys = [t for t in terms if isinstance(t, Span | At | New)]
    arrays = any(isinstance(t, Pick | Mask) for t in terms)
    if arrays or is_copied(x.layout, keys):
        return _any
    return view_of(x, keys, element=_is_element(terms))


def _is_element(terms: Sequence[Term]) -> bool:
    """Return whether the index is integers only, for which NumPy returns a copy."""
    return all(isinstance(term, At) for term in terms)


def _has_arrays(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, Operand | list | np.ndarray) for item in items)


def _has_scalar_array(index: Any) -> bool:
    """Return whether a 0-d array stands for an integer: then NumPy returns a copy."""
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, _C.Tensor | np.ndarray) for item in items)


getitem.vjp(back)


@one_step("getitem", back)
def _any(x: Any, index: Any) -> Any:
    """Return ``x[index]`` for every index."""
    if not isinstance(x, _C.DTensor):
        array, index = np.asarray(x.detach()), whole(index)
        if isinstance(index, tuple):
            return _C.as_tensor(taken(array, index, _C.is_torch(x)))
        found = array[index]
        in_rows = found.flags.c_contiguous or not _C.is_torch(x)
        return _C.as_tensor(found if in_rows else np.asarray(found, order="C"))
    terms = parse("getitem", x.shape, x.dtype, index)
    if not any(isinstance(t, Pick | Mask) for t in terms):
        view = basic(x, [t for t in terms if isinstance(t, Span | At | New)])
        if _is_element(terms) or (_has_scalar_array(index) and not _C.is_torch(x)):
            return view if x.device == "meta" else make(local(view).copy(), view.layout)
        if is_copied(x.layout, [t for t in terms if isinstance(t, Span | At)]):
            _C.set_origin(view, x, index)  # writes to it are copied back
        return view
    return _advanced(x, check_bounds("getitem", x.shape, terms))


# --- arrays of integers and booleans --------------------------------------------------


def _advanced(x: _C.DTensor, terms: Sequence[Term]) -> _C.DTensor:
    """Return a copy: first the basic indices, then the arrays on their result."""
    y = basic(x, list(keys_of(x, terms)))
    alone = lone_mask(terms)
    if alone is not None:
        dim, mask = alone
        return masked(y, mask, dim)
    return picked(y, list(entries(terms)))
