"""Powers: what `numpy.power` and Python's ``**`` call."""

from typing import Any

import numpy as np

from dtensor._core.dtype import dtype_of
from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.elementwise import anywhere
from dtensor.ops._make.halves import is_bfloat16
from dtensor.ops._make.lists import stacked
from dtensor.ops._make.operator import Operand, implements
from dtensor.ops.elementwise import pointwise

__all__ = ["pow", "power"]


def _is_safe(x1: Operand, x2: Operand) -> bool:
    """Return whether no integer can be raised to a negative one."""
    if x2.dtype is None:
        whole = x2.number is int and not is_bfloat16(x1.dtype)
    else:
        whole = x2.dtype.kind == "i"
    kind = "" if x1.dtype is None else x1.dtype.kind
    return not whole or kind in ("f", "c") or x1.number in (float, complex)


def _row(x1: Any, x2: Any) -> Maybe:
    both = isinstance(x1, Operand) and isinstance(x2, Operand)
    return (pointwise._power, 2) if both and _is_safe(x1, x2) else None


@in_front(_row, operands=2)
@implements(np.power)
def power(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> Any:
    """Raise to a power, element by element: see `numpy.power`.

    Collective if integers are raised to integers that are distributed.

    Raises
    ------
    ValueError
        If an integer is raised to a negative one; on every rank.
    """
    x1, x2 = stacked(x1), stacked(x2)
    if _is_negative_power(x1, x2, **options):
        raise ValueError("Integers to negative integer powers are not allowed.")
    if out is not None:
        options["out"] = out
    return pointwise._power(x1, x2, **options)


def _is_negative_power(
    x1: Any, x2: Any, where: Any = True, dtype: Any = None, **_options: Any
) -> bool:
    """Return whether an integer is raised to a negative one anywhere."""
    if isinstance(x2, int | float | complex):
        if type(x2) is not int or x2 >= 0:
            return False
    else:
        x2 = x2 if hasattr(x2, "dtype") else np.asarray(x2)
        if x2.dtype.kind != "i":
            return False
    if dtype is None:
        dtype = np.result_type(*(getattr(x, "dtype", x) for x in (x1, x2)))
    if dtype_of(dtype).kind != "i" or np.size(x1) == 0:
        return False
    return anywhere(x2 < 0 if where is True else np.logical_and(x2 < 0, where))


pow = power

# NumPy's ``**`` does this for these Python exponents; bits may differ.
EXPONENTS = {
    (int, 2): pointwise.square,
    (int, -1): pointwise.reciprocal,
    (float, 0.5): pointwise.sqrt,
}


def faster(x1: Operand, x2: Operand) -> Any:
    """Return the operator for an exponent that an operator is told, or None."""
    if x1.dtype is None or x2.value is None:
        return None
    fits = x1.dtype.kind in ("bfciu" if x2.value == 2 else "fc")
    return EXPONENTS.get((type(x2.value), x2.value)) if fits else None


def _row_of_slot(x1: Any, x2: Any) -> Maybe:
    if not isinstance(x1, Operand) or not isinstance(x2, Operand):
        return None
    found = faster(x1, x2)
    return _row(x1, x2) if found is None else (found, 1)


@in_front(_row_of_slot, operands=2, told=(2, -1, 0.5))
def raised(x1: Any, x2: Any, /, **options: Any) -> Any:
    """Return ``x1 ** x2``: `power`, or a faster equivalent."""
    if isinstance(x2, int | float):
        function = EXPONENTS.get((type(x2), x2))
        if function is not None and x1.dtype.kind in ("bfciu" if x2 == 2 else "fc"):
            return function(x1, **options)
    return power(x1, x2, **options)
