"""From a function of NumPy to what answers it for tensors."""

from collections.abc import Callable
from typing import Any

import dtensor.ops  # noqa: F401  fills the table
from dtensor.ops._make.operator import FUNCTIONS

__all__ = ["answer"]


def answer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operator that answers NumPy's `function`.

    That spares the way through NumPy's protocols. A function without an operator takes
    it, and ends in the fallback.
    """
    return FUNCTIONS.get(function, function)
