"""``torch.backends.mkldnn``: settings that are kept, and have no effect."""

import contextlib
from collections.abc import Iterator

__all__ = ["deterministic", "enabled", "flags", "is_available", "set_flags"]

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Return False: it is not used."""
    return False


def set_flags(_enabled: bool, *others: object) -> tuple[bool]:
    """Set whether it is enabled, and return whether it was."""
    before = globals()["enabled"]
    globals()["enabled"] = bool(_enabled)
    return (before,)


@contextlib.contextmanager
def flags(enabled: bool = False, *others: object) -> Iterator[None]:
    """Set whether it is enabled for a block."""
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)
