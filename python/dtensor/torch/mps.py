"""``torch.mps`` for a machine without Apple's graphics processors."""

from typing import Any

from dtensor.torch import _absent

_CALLS = {  # what PyTorch calls inside, which its sentences say
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "empty_cache": "emptyCache",
    "get_rng_state": "getDefaultGenerator",
    "recommended_max_memory": "getRecommendedMaxMemory",
    "seed": "getDefaultGenerator",
    "set_per_process_memory_fraction": "setMemoryFraction",
    "set_rng_state": "getDefaultGenerator",
    "synchronize": "deviceSynchronize",
}
_TEXT = "Cannot execute {}() without MPS backend."
_FOUND: dict[str, Any] = {
    **_absent.answers(False, "is_available"),
    **_absent.answers(0, "device_count"),
    **_absent.answers(None, "manual_seed"),
    **_absent.raises(
        RuntimeError, "MPS is not available", "compile_shader load_metallib"
    ),
    **_absent.classes(
        __name__, RuntimeError, _TEXT.replace("{}", "acquireEvent"), "Event"
    ),
}
for _name, _inside in _CALLS.items():
    _FOUND |= _absent.raises(RuntimeError, _TEXT.replace("{}", _inside), _name)
globals().update(_FOUND)
__all__ = [*_FOUND]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
