"""From a NumPy function to the operator that implements it for tensors."""

from collections.abc import Callable
from typing import Any

import dtensor.ops  # noqa: F401  fills the table
from dtensor.ops._make.operator import FUNCTIONS

__all__ = ["answer"]


def answer(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the operator that implements NumPy's `function`.

    This avoids the detour through NumPy's protocols. A function without an operator
    does go through them, and ends in the fallback.
    """
    return FUNCTIONS.get(function, function)
