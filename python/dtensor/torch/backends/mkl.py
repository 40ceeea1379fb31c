"""``torch.backends.mkl``: not used; what NumPy uses, ``numpy.show_config()`` says."""

__all__ = ["is_available"]


def is_available() -> bool:
    """Return False: only NumPy may use it."""
    return False
