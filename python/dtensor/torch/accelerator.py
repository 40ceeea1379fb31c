"""``torch.accelerator`` for a machine without accelerators."""

from typing import Any

from dtensor.torch import _absent

_REFUSED = """
    current_device_idx current_device_index current_stream empty_cache empty_host_cache
    get_device_capability get_memory_info max_memory_allocated max_memory_reserved
    memory_allocated memory_reserved memory_stats reset_accumulated_memory_stats
    reset_peak_memory_stats set_device_idx set_device_index set_stream synchronize
"""
_TEXT = "Cannot access accelerator device when none is available."
_FOUND: dict[str, Any] = {
    **_absent.raises(RuntimeError, _TEXT, _REFUSED),
    **_absent.answers(False, "is_available"),
    **_absent.answers(0, "device_count"),
    **_absent.classes(__name__, RuntimeError, _TEXT, "Graph"),
    "device_index": type("device_index", (_absent.Nothing,), {"__module__": __name__}),
}
globals().update(_FOUND)


def current_accelerator(check_available: bool = False) -> None:
    """Return None: the only device is ``"cpu"``."""


__all__ = ["current_accelerator", *_FOUND]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
