"""The recorded graph: its nodes, and hooks on saved tensors."""

from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor._C import Node
from dtensor.autograd._hooks import RemovableHandle

__all__ = ["Node", "RemovableHandle", "saved_tensors_hooks"]


class saved_tensors_hooks:
    """Pass every tensor that is saved for backward through the user's functions.

    They apply to what this thread records within the ``with`` block. In nested blocks
    the innermost hooks apply.

    Parameters
    ----------
    pack_hook : callable
        ``pack_hook(tensor)`` returns any object, which is saved instead of the tensor.
    unpack_hook : callable
        ``unpack_hook(packed)`` returns a tensor of the same values when backward needs
        it.
    """

    def __init__(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(_C.set_saved_hooks(self.pack_hook, self.unpack_hook))

    def __exit__(self, *error: object) -> None:
        _C.set_saved_hooks(*self._before.pop())
