"""Functions that tell the other ranks if they raise on this one alone."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from dtensor import _C

__all__ = ["told"]

F = TypeVar("F", bound=Callable[..., Any])


def told(function: F, name: str | None = None) -> F:
    """Let the others know if a function that all ranks call fails on this rank alone.

    For functions that send nothing before they may fail. Ranks on which it succeeded
    raise the same in their next call that communicates with this one.

    Parameters
    ----------
    function : callable
    name : str, optional
        What the error calls it; default: its qualified name.
    """
    name = function.__qualname__ if name is None else name

    @functools.wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        return _C.carried(name, function, args, kwargs, True)

    return cast(F, answer)
