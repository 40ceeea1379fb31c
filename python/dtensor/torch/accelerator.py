"""``torch.accelerator`` for a machine without accelerators."""

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """Return False: arrays are in host memory."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None: the only device is ``"cpu"``."""
