"""What losses that are made of operators have in common."""

from typing import Any

import numpy as np

from dtensor.ops._make.composite import as_dtype

__all__ = ["like", "reduced"]


def like(target: Any, input: Any) -> Any:
    """Return a target in the dtype of an input, if it has integers."""
    whole = np.dtype(target.dtype).kind in "biu" and np.dtype(input.dtype).kind == "f"
    return as_dtype(target, input.dtype) if whole else target


def reduced(losses: Any, reduction: str) -> Any:
    """Return losses, their sum or their mean."""
    if reduction == "none":
        return losses
    return np.sum(losses) if reduction == "sum" else np.mean(losses)
