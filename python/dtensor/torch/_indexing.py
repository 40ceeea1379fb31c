"""x[index] where PyTorch reads an index in another way than NumPy.

Tensors come here with such an index only (`csrc/ext/face/index.c`). Each is taken apart
into indices, one after the other, that both read alike.
"""

from typing import Any

from dtensor import _C
from dtensor.ops.index.terms import dims_of, ready

__all__ = ["SLOTS"]


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


def _steps(x: Any, index: tuple[Any, ...]) -> list[tuple[Any, ...]]:
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
