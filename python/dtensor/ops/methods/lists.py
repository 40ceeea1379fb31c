"""Functions of NumPy's that take lists which hold tensors for arrays, as ufuncs do."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._make.composite import composite
from dtensor.ops._make.direct import Maybe, Row
from dtensor.ops._make.lists import has_lists, stacked
from dtensor.ops._make.operator import FUNCTIONS, Operator
from dtensor.ops.linalg.matmul import dot, inner, kron, outer, tensordot
from dtensor.ops.linalg.vectors import cross, vdot
from dtensor.ops.order.interpolate import interp
from dtensor.ops.order.search import digitize, searchsorted

__all__: list[str] = []


def _takes_lists(function: Any, answer: Operator, count: int) -> None:
    """Let a function that an operator implements take lists as its first arguments."""

    def of_two(a: Any, b: Any, /) -> Maybe:
        return None if has_lists((a, b)) else (answer, 2)

    def of_three(a: Any, b: Any, c: Any, /) -> Maybe:
        return None if has_lists((a, b, c)) else (answer, 3)

    def of_lists(*args: Any, **options: Any) -> Any:
        return answer(*map(stacked, args[:count]), *args[count:], **options)

    of_lists.__qualname__ = answer.__name__
    names = [*inspect.signature(answer.__wrapped__).parameters]
    lists = composite(of_lists, writes_out=False)

    @functools.wraps(answer)
    def run(*args: Any, **options: Any) -> Any:
        while len(args) < count and names[len(args)] in options:
            args = (*args, options.pop(names[len(args)]))
        return (lists if has_lists(args[:count]) else answer)(*args, **options)

    asks: dict[int, Callable[..., Maybe]] = {2: of_two, 3: of_three}
    row = Row(asks[count], answer, count)
    FUNCTIONS[function] = row.before(answer.__name__, run)


# How many of their first arguments are arrays.
_OPERANDS: dict[Any, tuple[Operator, int]] = {
    np.cross: (cross, 2),
    np.digitize: (digitize, 2),
    np.dot: (dot, 2),
    np.inner: (inner, 2),
    np.interp: (interp, 3),
    np.kron: (kron, 2),
    np.outer: (outer, 2),
    np.searchsorted: (searchsorted, 2),
    np.tensordot: (tensordot, 2),
    np.vdot: (vdot, 2),
}

for _function, (_answer, _count) in _OPERANDS.items():
    _takes_lists(_function, _answer, _count)
