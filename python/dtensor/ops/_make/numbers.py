"""Arguments that are numbers, also where they are given as tensors of no dims."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import leaves, mapped
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import inside, values_of

__all__ = ["as_python_int", "has_operands", "numbers_of", "python_numbers_of"]


def has_operands(value: Any) -> bool:
    """Return whether an argument is an array or a tensor, or a list that has some."""
    return any(isinstance(x, Operand) for x in leaves(value))


def numbers_of(name: str, value: Any) -> Any:
    """Return an argument with the values of its tensors, which every rank then has.

    Collective for DTensors: they are gathered, so they should be short.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    value : object
        A tensor, also in lists, tuples and dicts: it becomes an array, a NumPy scalar
        if it has no dims. Everything else stays as it is.

    Raises
    ------
    RuntimeError
        For an integer on a rank outside its mesh, which cannot know it.
    """

    def values(x: Any) -> Any:
        if x.ndim == 0 and x.dtype.kind in "iu" and isinstance(x, _C.DTensor):
            if not inside(x.layout):
                x.item()  # raises
        return values_of(name, x)[()]

    return mapped(value, _C.Tensor, values)


def as_python_int(value: Any) -> Any:
    """Return an integer of NumPy's as Python's, which is as long as it must be:
    ``-np.uint8(1)`` is 255. Everything else stays as it is."""
    return value.item() if isinstance(value, np.integer) else value


def python_numbers_of(name: str, value: Any) -> Any:
    """Return an argument as `numbers_of` does, with lists of Python's numbers."""
    value = numbers_of(name, value)
    return mapped(value, (np.ndarray, np.generic), lambda x: x.tolist())
