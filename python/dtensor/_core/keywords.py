"""Keywords that a function does not have, and which of its own may be meant."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

__all__ = ["suggesting", "unexpected"]

P = ParamSpec("P")
R = TypeVar("R")


def unexpected(function: str, name: str, names: Iterable[str]) -> str:
    """Return what is said of a keyword that a function does not have.

    `dtensor._C` calls this too.
    """
    text = f"{function}() got an unexpected keyword argument '{name}'"
    nearest = _nearest(name, [own for own in names if own[:1] != "_"])
    return text if nearest is None else f"{text}. Did you mean '{nearest}'?"


def _nearest(name: str, names: list[str]) -> str | None:
    """Return the name of which it is some words, or more words, or a misspelling."""
    close = difflib.get_close_matches(name, names, 1, 0.75)
    words = {*name.split("_")}
    for own in names:
        if words <= {*own.split("_")} or words >= {*own.split("_")}:
            close.append(own)
    return close[0] if close else None


def suggesting(function: Callable[P, R], also: str = "") -> Callable[P, R]:
    """Return a function that says, of a keyword that it lacks, which may be meant.

    `also`: keywords that its ``**`` takes.
    """
    parameters = inspect.signature(function).parameters
    taken = frozenset(parameters) | {*also.split()}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in taken:
                raise TypeError(unexpected(_called(function, args), name, parameters))
        return function(*args, **kwargs)

    return call


def _called(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """Return what the user has called: the class, not its `__init__`."""
    name = function.__name__
    return type(args[0]).__name__ if name == "__init__" and args else name
