"""``torch.fx``: of programs as graphs there is only the decorator `wrap`."""

from typing import Any

__all__ = ["wrap"]


def wrap(fn_or_name: Any) -> Any:
    """Return a function, or the name of one, unchanged: nothing is traced."""
    return fn_or_name
