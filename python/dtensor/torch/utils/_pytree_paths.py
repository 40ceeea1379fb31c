"""Leaves of trees with the keys that lead to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dtensor.torch._returned import Struct

__all__ = [
    "GetAttrKey",
    "MappingKey",
    "SequenceKey",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keys_of",
    "keystr",
]


@dataclass(frozen=True)
class SequenceKey:
    """The place of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return what is there."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return what is there."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The field of a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return what is there."""
        return getattr(obj, self.name)


def keystr(kp: tuple[Any, ...]) -> str:
    """Return keys as Python writes them: ``['a'][0].x``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: tuple[Any, ...]) -> Any:
    """Return what keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether a type is one of named tuples."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Return whether something is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Return whether something is a named tuple, or the type of some."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls: Any) -> bool:
    """Return whether a type is one of ``torch.return_types``, or Python's alike."""
    return isinstance(cls, type) and (
        (issubclass(cls, Struct) and cls is not Struct)
        or (issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields"))
    )


def is_structseq_instance(obj: object) -> bool:
    """Return whether something is of such a type."""
    return is_structseq_class(type(obj))


def is_structseq(obj: Any) -> bool:
    """Return whether something is of such a type, or the type."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def keys_of(tree: Any, count: int) -> list[Any]:
    """Return the keys of the parts of a container."""
    if isinstance(tree, Mapping):
        return [MappingKey(key) for key in tree]
    if is_namedtuple_instance(tree):
        return [GetAttrKey(name) for name in type(tree)._fields]
    return [SequenceKey(place) for place in range(count)]
