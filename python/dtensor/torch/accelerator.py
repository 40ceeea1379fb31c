"""``torch.accelerator`` of a machine that has none."""

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """Return False: arrays are in the memory of the host."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is no device but ``"cpu"``."""
