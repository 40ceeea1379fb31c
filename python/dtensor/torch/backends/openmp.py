"""``torch.backends.openmp``: not used."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: only NumPy may use it."""
    return False
