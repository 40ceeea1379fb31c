"""x[index]: every index of NumPy, with nothing moved where the parts allow it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.parts import local, make
from dtensor.ops._make.step import one_step
from dtensor.ops.index.basic import basic, entries, is_copied, keys_of, view_of, whole
from dtensor.ops.index.gradient import back
from dtensor.ops.index.pick import masked, picked
from dtensor.ops.index.terms import (
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

__all__ = ["getitem"]


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
    if arrays or is_copied(x.layout, keys):
        return _any
    return view_of(x, keys, element=_is_element(terms))


def _is_element(terms: Sequence[Term]) -> bool:
    """Return whether integers alone name one element, of which NumPy gives a copy."""
    return all(isinstance(term, At) for term in terms)


def _has_arrays(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, Operand | list | np.ndarray) for item in items)


getitem.vjp(back)


@one_step("getitem", back)
def _any(x: Any, index: Any) -> Any:
    """Return ``x[index]`` for every index."""
    if not isinstance(x, _C.DTensor):
        return _C.as_tensor(np.asarray(x.detach())[whole(index)])
    terms = parse("getitem", x.shape, x.dtype, index)
    if not any(isinstance(t, Pick | Mask) for t in terms):
        view = basic(x, [t for t in terms if isinstance(t, Span | At | New)])
        if _is_element(terms):
            return make(local(view).copy(), view.layout)
        if is_copied(x.layout, [t for t in terms if isinstance(t, Span | At)]):
            _C.set_origin(view, x, index)  # what is written into it is brought back
        return view
    return _advanced(x, check_bounds("getitem", x.shape, terms))


# --- arrays of integers and booleans --------------------------------------------------


def _advanced(x: _C.DTensor, terms: Sequence[Term]) -> _C.DTensor:
    """Return a copy: first all that is basic, then the arrays on what that gives."""
    masks = [t.mask for t in terms if isinstance(t, Mask)]
    alone = len(masks) == 1 and not any(isinstance(t, Pick | At) for t in terms)
    y = basic(x, list(keys_of(x, terms)))
    if alone and masks[0].ndim > 1 or alone and isinstance(masks[0], _C.DTensor):
        before = [t for t in terms if not isinstance(t, Gap)]
        dim = next(k for k, t in enumerate(before) if isinstance(t, Mask))
        return masked(y, masks[0], dim)
    return picked(y, list(entries(terms)))
