"""``torch.cuda`` for a machine without CUDA devices."""

from dtensor.torch.cuda import amp as amp

__all__ = [
    "amp",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
]


def is_available() -> bool:
    """Return False: arrays are in host memory."""
    return False


def is_initialized() -> bool:
    """Return False."""
    return False


def device_count() -> int:
    """Return 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Do nothing: there are no device generators."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: there are no device generators."""


def empty_cache() -> None:
    """Do nothing: there is no device memory."""
