"""Numbers and lists of them in a dtype, as PyTorch converts them."""

from collections import UserList, deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor._core.nested import leaves
from dtensor.torch._promotion import of_number, promote
from dtensor.torch._types import numpy_dtype

__all__ = ["fitted", "made_of"]


def _holds_arrays(data: Sequence[Any]) -> bool:
    """Return whether a list, or one in it, has items with a dtype."""
    kinds = set(map(type, data)) - {int, float, bool, complex}
    if any(hasattr(kind, "dtype") for kind in kinds):
        return True
    lists = (x for x in data if isinstance(x, list | tuple)) if kinds else ()
    return any(map(_holds_arrays, lists))


def listed(data: Any) -> Any:
    """Return a list of a sequence that is no array, such as a deque."""
    return list(data) if isinstance(data, deque | UserList) else data


def of_list(data: Any, dtype: Any) -> tuple[Any, Any]:
    """Return data of a new tensor, and the dtype that is asked for, or that of a list
    with arrays or scalars of NumPy's; None: that of Python's numbers.

    Raises
    ------
    RuntimeError
        If an integer dtype has not one of the numbers.
    """
    is_list = isinstance(data, list | tuple)
    arrays = is_list and _holds_arrays(data)
    if dtype is None and arrays:
        found = None
        for x in leaves(data):
            of = getattr(x, "dtype", None)
            found = promote(found, of_number(x) if of is None else numpy_dtype(of))
        return data, found
    to = numpy_dtype(dtype)
    if to is None or to.kind not in "iu" or arrays:
        return data, to
    if is_list or isinstance(data, int | float):
        data = np.asarray(data)
        if data.size and data.dtype != to and data.dtype.kind in "iuf":
            _check_range(data.min().item(), to)
            _check_range(data.max().item(), to)
    return data, to


def _check_integers(data: Any) -> None:
    """Raise PyTorch's error if data is of Python's integers."""
    first = data
    while isinstance(first, list | tuple) and first:
        first = first[0]
    if isinstance(first, int) and set(map(type, leaves(data))) <= {int, bool}:
        raise ValueError("Overflow when unpacking long long") from None


def made_of(make: Callable[..., Any], data: Any, dtype: Any) -> Any:
    """Return a new tensor of data; see `of_list`.

    Raises
    ------
    ValueError
        If there is no dtype, and an integer is not in int64.
    """
    data, to = of_list(listed(data), dtype)
    try:
        made = make(data, to)
    except TypeError:
        if to is None:
            _check_integers(data)
        raise
    if to is None and made.dtype.kind not in "bi":
        _check_integers(data)
    return made


def _check_range(number: float, to: np.dtype[Any], name: str = "{}") -> None:
    """Raise PyTorch's error for a number that an integer dtype has not. One that has no
    sign takes negative integers, from the other end."""
    info = np.iinfo(to)
    least = -info.max if to.kind == "u" and isinstance(number, int) else info.min
    if not least <= number <= info.max:
        raise RuntimeError(
            f"value cannot be converted to type {name.format(to)} without overflow"
        )


def fitted(value: Any, to: Any) -> Any:
    """Return what is to fill a tensor of a dtype, as PyTorch converts a number.

    Integers take the whole part of a float.

    Raises
    ------
    RuntimeError
        If an integer dtype has not that number.
    """
    to = np.dtype(to)
    if to.kind not in "iu" or not isinstance(value, int | float):
        return value
    _check_range(value, to, "{}_t")
    return int(value) % (int(np.iinfo(to).max) + 1) if to.kind == "u" else int(value)
