"""x[index] where PyTorch reads an index in another way than NumPy.

Tensors come here with such an index only (`csrc/ext/face/index.c`). Each is taken apart
into indices, one after the other, that both read alike.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops.index.terms import dims_of, ready

__all__ = ["SLOTS", "with_masks"]

BYTES = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
    "instead."
)
SEQUENCE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will "
    "be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 "
    "this will be interpreted as tensor index, x[torch.tensor(seq)], which will result "
    "either in an error or a different result"
)


def _getitem(x: Any, index: Any) -> Any:
    """Return ``x[index]`` as PyTorch reads it."""
    for step in _steps(x, index):
        x = x[step]
    return x


def _setitem(x: Any, index: Any, value: Any) -> None:
    """Set ``x[index] = value`` as PyTorch reads it: of a view, by the last step."""
    *before, last = _steps(x, index)
    for step in before:
        x = x[step]
    x[last] = value


SLOTS = {"getitem": _getitem, "setitem": _setitem}


def _steps(x: Any, index: Any) -> Sequence[Any]:
    """Return indices that, one after the other, give what PyTorch's index gives."""
    items = index if isinstance(index, tuple) else (index,)
    if any(map(_is_bytes, items)):
        return [with_masks(items, 4)]
    if not isinstance(index, tuple):
        warnings.warn(SEQUENCE, UserWarning, stacklevel=3)
        return [tuple(index)]
    return _integers_first(x, index)


def _is_bytes(item: Any) -> bool:
    return isinstance(item, _C.Tensor | np.ndarray) and item.dtype == np.uint8


def with_masks(items: Sequence[Any], stacklevel: int) -> tuple[Any, ...]:
    """Return the items of an index with masks for those of uint8, as in PyTorch."""
    for item in items:
        if _is_bytes(item) and item.ndim:
            warnings.warn(BYTES, UserWarning, stacklevel=stacklevel)
    return tuple(item != 0 if _is_bytes(item) else item for item in items)


def _integers_first(x: Any, index: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return the index of the integers, if there are any, and that of the rest.

    Integers do not count as arrays, whose dims are in the place of the arrays if these
    follow one another. An Ellipsis of no dims does not come between them, and the rest
    has slices instead.
    """
    items = [item if _has_dims(item) else ready("getitem", item) for item in index]
    dots = [slice(None)] * (x.ndim - sum(map(dims_of, items)))
    first: list[Any] = []
    rest: list[Any] = []
    for item in items:
        if isinstance(item, int):
            first.append(item)
            continue
        first += dots if item is Ellipsis else [slice(None)] * dims_of(item)
        rest += dots if item is Ellipsis else [item]
    has_integers = any(isinstance(item, int) for item in items)
    return [tuple(first), tuple(rest)] if has_integers else [tuple(rest)]


def _has_dims(item: Any) -> bool:
    return isinstance(item, _C.Tensor) and item.ndim > 0
