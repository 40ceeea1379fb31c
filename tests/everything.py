"""Every object that the collector of garbage knows."""

import gc
from typing import Any

__all__ = ["everything"]


def everything() -> list[Any]:
    """Return those that were there when the tests began (conftest.py), too."""
    gc.unfreeze()
    found = gc.get_objects()
    gc.freeze()
    return found
