"""Settings that are kept, so that they can be read, and have no effect."""

import sys
from contextlib import ContextDecorator
from typing import Any

__all__ = ["Patch", "patching"]


class Patch(ContextDecorator):
    """Settings of a module that hold for a block, or for a function.

    Parameters
    ----------
    module : str
        The module whose attributes they are.
    changes : dict
        Their values, by name.
    """

    def __init__(self, module: str, changes: dict[str, Any]) -> None:
        self._room = vars(sys.modules[module])
        self._changes = changes
        self._before: list[dict[str, Any]] = []

    def __enter__(self) -> None:
        known = {name: x for name, x in self._room.items() if name in self._changes}
        self._before.append(known)
        self._room.update(self._changes)

    def __exit__(self, *error: object) -> None:
        for name in self._changes:
            self._room.pop(name, None)
        self._room.update(self._before.pop())


def patching(module: str) -> Any:
    """Return the function ``patch`` of a module of settings."""

    def patch(arg1: Any = None, arg2: Any = None, **changes: Any) -> Patch:
        """Set settings for a block or a function: no effect. Not collective.

        Parameters
        ----------
        arg1 : str or dict, optional
            The name of one, or several with their values.
        arg2 : optional
            The value of the one that is named.
        **changes
            Others.
        """
        given = {arg1: arg2} if isinstance(arg1, str) else dict(arg1 or {})
        return Patch(module, given | changes)

    return patch
