"""``torch.return_types``: the types of results with named fields."""

from typing import Any

from dtensor.torch._returned import TYPES, Struct
from dtensor.torch.utils import _pytree

__all__ = ["all_return_types", "pytree_register_structseq", *sorted(TYPES)]


def pytree_register_structseq(cls: Any) -> None:
    """Let a type of results be a container in trees; those of here are.

    Raises
    ------
    ValueError
        If the type is one already.
    """
    _pytree.register_pytree_node(cls, lambda x: (list(x), None), lambda x, _: cls(x))


all_return_types: list[type[Struct]] = [TYPES[name] for name in sorted(TYPES)]
globals().update(TYPES)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
