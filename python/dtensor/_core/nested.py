"""Arguments and results with tensors nested in lists, tuples and dicts."""

from collections.abc import Callable
from typing import Any

__all__ = ["mapped"]


def mapped(value: Any, kind: Any, change: Callable[[Any], Any]) -> Any:
    """Return the value with all objects of a type mapped, also inside containers."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(item, kind, change) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(mapped(item, kind, change) for item in value)
    if isinstance(value, dict):
        return {key: mapped(item, kind, change) for key, item in value.items()}
    return value
