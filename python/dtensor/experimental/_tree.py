"""Leaves of nested lists, tuples and dicts, and the same structure with others."""

from collections.abc import Iterator
from copy import copy
from typing import Any

__all__ = ["leaves", "with_leaves"]


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, from left to right; None is a leaf."""
    return list(_walk(tree))


def _walk(tree: Any) -> Iterator[Any]:
    if isinstance(tree, list | tuple):
        for item in tree:
            yield from _walk(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from _walk(item)
    else:
        yield tree


def with_leaves(tree: Any, new: list[Any]) -> Any:
    """Return a tree of the same structure with `new` as its leaves."""
    return _rebuild(tree, iter(new))


def _rebuild(tree: Any, new: Iterator[Any]) -> Any:
    if isinstance(tree, list | tuple):
        items = [_rebuild(item, new) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        made = copy(tree)  # keeps its class, such as defaultdict
        for key, item in tree.items():
            made[key] = _rebuild(item, new)
        return made
    return next(new)
