"""Values in the dtype of what they are written into, as NumPy's functions convert them:
NumPy itself is asked, on as many elements as the values have."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.known import ndim, shape
from dtensor.ops._make.parts import values_of

__all__ = ["converted", "known", "known_all"]

Array = npt.NDArray[Any]

# How NumPy writes values into an array of their shape. Each converts lists, numbers and
# arrays with rules of its own, and raises errors of its own.
_WRITES: dict[str, Callable[[Array, Any], None]] = {
    "put": lambda to, v: np.put(to, np.arange(to.size), v),
    "place": lambda to, v: np.place(to, np.ones(to.shape, bool), v),
    "putmask": lambda to, v: np.putmask(to, np.ones(to.shape, bool), v),
    "flat": lambda to, v: to.flat.__setitem__(slice(None), v),
    "x[rows]": lambda to, v: to[None].__setitem__([0], v),
}


def converted(how: str, dtype: np.dtype[Any], values: Any) -> Any:
    """Return values that are to be written as NumPy would write them.

    Parameters
    ----------
    how : str
        A key of `_WRITES`.
    dtype : dtype
        Of the target.
    values : array_like
        Equal on every rank, or a tensor.

    Returns
    -------
    array or tensor
        Tensors and arrays, which are cast as they are written, unchanged; others, in
        which each element is converted by itself, as an array of this dtype.

    Raises
    ------
    OverflowError, TypeError, ValueError
        As NumPy raises; on every rank.
    """
    is_array = isinstance(values, _C.Tensor | np.ndarray)
    given: Any = values
    if is_array:  # only its dtype counts
        given = np.zeros((0,) * ndim(values), values.dtype)
    probe = np.empty(shape(given), dtype)
    _WRITES[how](probe, given)
    return values if is_array else probe


def known(name: str, x: Any, a: Any) -> Array:
    """Return the values of another array argument, gathered."""
    spread = isinstance(a, _C.DTensor) or isinstance(x, _C.DTensor)
    x = x.detach() if isinstance(x, _C.Tensor) else x
    return values_of(name, x) if spread else np.asarray(x)


def known_all(name: str, *others: Any) -> tuple[Any, ...]:
    """Return the arguments for writing into a plain array: tensors as arrays."""
    return tuple(known(name, x, x) if isinstance(x, _C.Tensor) else x for x in others)
