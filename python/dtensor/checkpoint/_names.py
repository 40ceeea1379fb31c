"""Nested state under flat names, and values that are not tensors as JSON."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor._core.dtype import dtype_of

__all__ = [
    "Path",
    "as_json",
    "flattened",
    "from_json",
    "is_tensor",
    "nested",
    "replaced",
]

# From the root to a leaf: a str or int is a key of a dict, a list [k] is index k of a
# list or tuple.
Path = list[Any]


def is_tensor(value: Any) -> bool:
    """Whether a leaf is stored as an array."""
    return isinstance(value, Tensor | np.ndarray | np.generic)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_tensor, value.values()))
    return is_tensor(value) or (
        isinstance(value, list | tuple) and any(map(_has_tensor, value))
    )


def _is_inner(value: Any) -> bool:
    """Whether the items of a value get their own names: dicts, and lists of tensors."""
    if isinstance(value, Mapping):
        return len(value) > 0
    return isinstance(value, list | tuple) and _has_tensor(value)


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    else:
        yield from (([k], item) for k, item in enumerate(value))


def _word(key: Any) -> str:
    key = key[0] if isinstance(key, list) else key
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise TypeError(
            f"keys of a state dict must be str or int, not {type(key).__name__}"
        )
    return str(key)


def flattened(state: Mapping[Any, Any]) -> dict[str, tuple[Path, Any]]:
    """Return the leaves of nested state, with their paths, by names joined with dots.

    Raises
    ------
    ValueError
        If two leaves have one name.
    TypeError
        If a key is neither a str nor an int.

    Examples
    --------
    >>> flattened({"model": {"w": 1}, "steps": [2, 3], 0: {}})
    {'model.w': (['model', 'w'], 1), 'steps': (['steps'], [2, 3]), '0': ([0], {})}
    """
    found: dict[str, tuple[Path, Any]] = {}

    def visit(value: Any, path: Path) -> None:
        if path and not _is_inner(value):
            name = ".".join(map(_word, path))
            if name in found:
                raise ValueError(f"duplicated flatten key {name}")
            found[name] = path, value
            return
        for key, item in _items(value):
            visit(item, [*path, key])

    visit(state, [])
    return found


def replaced(value: Any, leaf: Callable[[str, Any], Any], name: str = "") -> Any:
    """Replace each leaf by ``leaf(name, old)``, in the given dicts."""
    if name and not _is_inner(value):
        return leaf(name, value)
    new = [
        (key, replaced(item, leaf, f"{name}.{_word(key)}" if name else _word(key)))
        for key, item in _items(value)
    ]
    if isinstance(value, tuple):
        items = [item for _, item in new]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    for key, item in new:
        value[key[0] if isinstance(key, list) else key] = item
    return value


def nested(leaves: Mapping[str, Any], paths: Mapping[str, Path]) -> dict[Any, Any]:
    """Return leaves nested as before; those without a path stay under their name.

    A tuple of tensors becomes a list.

    Raises
    ------
    ValueError
        If a path leads through a leaf, to the place of another leaf, or treats a dict
        as a list.
    """
    result: dict[Any, Any] = {}
    for name, value in leaves.items():
        path = paths.get(name, [name])
        inside: Any = result
        for key, after in zip(path, path[1:], strict=False):
            inside = _entered(inside, key, [] if isinstance(after, list) else {})
        if _entered(inside, path[-1], value) is not value:
            raise ValueError("paths in the checkpoint conflict")
    return result


def _entered(inside: Any, key: Any, new: Any) -> Any:
    """Return the item at a key of a dict, or index [k] of a list; it may be new."""
    if not isinstance(inside, list if isinstance(key, list) else dict):
        raise ValueError("paths in the checkpoint conflict")
    if isinstance(inside, dict):
        return inside.setdefault(key, new)
    (place,) = key
    inside.extend([None] * (place + 1 - len(inside)))
    if inside[place] is None:
        inside[place] = new
    return inside[place]


# --- values that are not tensors ------------------------------------------------------

# A JSON object {kind: content} represents a value that JSON lacks.
_DECODERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda items: tuple(map(_decoded, items)),
    "dict": lambda items: {_decoded(k): _decoded(v) for k, v in items},
    "float": float,
    "complex": lambda parts: complex(*map(_decoded, parts)),
    "bytes": bytes.fromhex,
    "dtype": dtype_of,
}


# What decoders raise; the last one is NumPy's, for a dtype.
_WRONG = (
    *(ArithmeticError, KeyError, RecursionError, TypeError, ValueError),
    SyntaxError,
)


def _encoded(value: Any) -> Any:
    """Return a value in a form that JSON can hold.

    Raises
    ------
    TypeError
        For an object of any other class: a file contains no code.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(float(value))}
        case complex():
            return {"complex": [_encoded(value.real), _encoded(value.imag)]}
        case bytes() | bytearray():
            return {"bytes": value.hex()}
        case list():
            return [_encoded(item) for item in value]
        case tuple():
            return {"tuple": [_encoded(item) for item in value]}
        case Mapping():
            return {"dict": [[_encoded(k), _encoded(v)] for k, v in value.items()]}
        case np.dtype() if dtype_of(value.name) == value:
            return {"dtype": value.name}
        case type() if issubclass(value, np.generic):
            return {"dtype": np.dtype(value).name}
    raise TypeError(
        f"a value of type {type(value).__name__} cannot be saved: save tensors, "
        "numbers, texts, bytes, None, and lists, tuples and dicts of them"
    )


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        return _DECODERS[kind](content)
    return value


def as_json(value: Any) -> str:
    """Return a value that is not a tensor as a text; `_encoded` lists the types."""
    return json.dumps(_encoded(value), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Any:
    """Return what `as_json` was given.

    Raises
    ------
    ValueError
        If `text` is not something that `as_json` returns.
    """
    try:
        return _decoded(json.loads(text))
    except _WRONG as error:
        raise ValueError(
            f"not a value that a checkpoint holds: {text[:60]!r}"
        ) from error
