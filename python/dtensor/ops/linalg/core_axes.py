"""Products of vectors and matrices that lie along other dims than the last ones: what
NumPy's ufuncs take beyond the operators, ``axes=`` and ``keepdims=``.

The dims are moved to the end, and those of the result to where they belong.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dtensor.ops._make.composite import array_of, composite
from dtensor.ops._make.direct import Maybe, Row
from dtensor.ops._make.lists import has_lists, stacked
from dtensor.ops._make.operator import FUNCTIONS, Operator
from dtensor.ops._make.words import hollow
from dtensor.ops.linalg.matmul import matmul
from dtensor.ops.linalg.vectors import matvec, vecdot, vecmat

__all__: list[str] = []


class _Product(NamedTuple):
    """A ufunc, its operator, and how many dims of operands and result are its own."""

    ufunc: np.ufunc
    operator: Operator
    dims: Callable[[int, int], tuple[int, int, int]]


_ALONG = ("axes", "axis", "keepdims")


@composite
def _along(
    product: _Product,
    x1: Any,
    x2: Any,
    /,
    out: None = None,
    *,
    along: dict[str, Any],
    **options: Any,
) -> Any:
    """Return ``product.ufunc(x1, x2, **along, **options)``."""
    x1, x2 = array_of(x1), array_of(x2)
    probes = (hollow((1,) * x.ndim) for x in (x1, x2))
    product.ufunc(*probes, **along)  # NumPy's errors
    first, second, last = product.dims(x1.ndim, x2.ndim)
    axes = along.get("axes", [along.get("axis", -1)] * 3)
    axes = [axis if isinstance(axis, tuple | list) else (axis,) for axis in (*axes, -1)]
    result = product.operator(
        np.moveaxis(x1, axes[0], [*range(-first, 0)]),
        np.moveaxis(x2, axes[1], [*range(-second, 0)]),
        **options,
    )
    if along.get("keepdims"):
        result, last = np.expand_dims(result, -1), 1
    return np.moveaxis(result, [*range(-last, 0)], axes[2]) if last else result


def _put_in_front(product: _Product) -> None:
    """Let a ufunc take what its operator does not."""

    def ask(x1: Any, x2: Any, /) -> Maybe:
        return None if has_lists((x1, x2)) else (product.operator, 2)

    @functools.wraps(product.operator)
    def run(*args: Any, **options: Any) -> Any:
        args = tuple(map(stacked, args))
        along = {key: options.pop(key) for key in _ALONG if key in options}
        if not along or along.keys() == {"axis"}:
            return product.operator(*args, **along, **options)
        return _along(product, *args, along=along, **options)

    row = Row(ask, product.operator, 2)
    FUNCTIONS[product.ufunc] = row.before(product.ufunc.__name__, run)


for _product in (
    _Product(
        np.matmul,
        matmul,
        lambda a, b: (min(a, 2), min(b, 2), min(a, 2) + min(b, 2) - 2),
    ),
    _Product(np.vecdot, vecdot, lambda _a, _b: (1, 1, 0)),
    _Product(np.matvec, matvec, lambda _a, _b: (2, 1, 1)),
    _Product(np.vecmat, vecmat, lambda _a, _b: (1, 2, 1)),
):
    _put_in_front(_product)
