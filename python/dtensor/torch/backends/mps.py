"""``torch.backends.mps`` for a machine without it."""

__all__ = ["is_available", "is_built", "is_macos13_or_newer"]


def is_available() -> bool:
    """Return False: arrays are in host memory."""
    return False


def is_built() -> bool:
    """Return False."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Return False."""
    return False
