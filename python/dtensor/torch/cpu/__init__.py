"""``torch.cpu``: the only device."""

from dtensor.torch.cpu import amp as amp

__all__ = ["amp", "device_count", "is_available"]


def is_available() -> bool:
    """Return True."""
    return True


def device_count() -> int:
    """Return 1."""
    return 1
