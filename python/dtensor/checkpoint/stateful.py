"""Objects that can return their state and load it."""

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """What `save` and `load` take in place of a dict: modules, optimizers, ..."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state, of tensors and plain values."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state."""
        ...
