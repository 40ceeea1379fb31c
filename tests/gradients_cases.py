"""What gradients are tried on: a name, a function, and words for its arrays."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """What is differentiated, for which arrays (words as in gradcheck.py)."""

    name: str
    fn: Callable[..., Any]
    words: str
    second: bool = False


def cases(name: str, fn: Callable[..., Any], *words: str) -> list[Case]:
    return [Case(f"{name} {word}", fn, word) for word in words]


def twice(name: str, fn: Callable[..., Any], *words: str) -> list[Case]:
    """Those whose gradient is differentiated too."""
    return [case._replace(second=True) for case in cases(name, fn, *words)]
