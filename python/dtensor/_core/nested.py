"""Tensors, or other leaves, nested in lists, tuples and dicts."""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

__all__ = ["leaves", "mapped", "with_leaves"]


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


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree, from left to right; None is a leaf."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


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
