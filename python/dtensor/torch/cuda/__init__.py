"""``torch.cuda`` for a machine without CUDA devices."""

from typing import Any, NoReturn

from dtensor.torch.cuda import amp as amp

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "synchronize",
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


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False: there is no CUDA."""
    return False


def memory_allocated(device: Any = None) -> int:
    """Return 0: there is no device memory."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: there is no device memory."""


def _refuse() -> NoReturn:
    raise AssertionError("Torch not compiled with CUDA enabled")


def set_device(device: Any) -> None:
    """Do nothing: there are no devices to choose from."""


def current_device() -> NoReturn:
    """Raise AssertionError, as PyTorch does: there is no CUDA. On this rank only."""
    _refuse()


def synchronize(device: Any = None) -> NoReturn:
    """Raise AssertionError, as PyTorch does: there is no CUDA. On this rank only."""
    _refuse()


def get_device_name(device: Any = None) -> NoReturn:
    """Raise AssertionError, as PyTorch does: there is no CUDA. On this rank only."""
    _refuse()


def get_device_properties(device: Any = None) -> NoReturn:
    """Raise AssertionError, as PyTorch does: there is no CUDA. On this rank only."""
    _refuse()
