"""``torch.xpu`` for a machine without Intel's graphics processors."""

from collections import OrderedDict
from typing import Any

from dtensor.torch import _absent

_REFUSED = """
    can_device_access_peer current_device current_stream get_device_capability
    get_device_name get_device_properties get_per_process_memory_fraction get_rng_state
    get_stream_from_external init initial_seed mem_get_info set_device
    set_per_process_memory_fraction set_rng_state set_stream synchronize
"""
_NOTHING = """
    empty_cache manual_seed manual_seed_all reset_accumulated_memory_stats
    reset_peak_memory_stats seed seed_all set_rng_state_all
"""
_ZERO = """
    device_count max_memory_allocated max_memory_reserved memory_allocated
    memory_reserved
"""
_FALSE = "is_available is_bf16_supported is_initialized is_tf32_supported"
_READ = "clock_rate device_memory_used memory_usage power_draw temperature utilization"
_DUMMY = "Tried to instantiate dummy base class _xpu_"
_FOUND: dict[str, Any] = {
    **_absent.raises(AssertionError, "Torch not compiled with XPU enabled", _REFUSED),
    **_absent.raises(
        ImportError, "pyzes is required; install it with 'pip install pyzes'.", _READ
    ),
    **_absent.raises(RuntimeError, f"{_DUMMY}graph_pool_handle", "graph_pool_handle"),
    **_absent.raises(
        RuntimeError, f"{_DUMMY}isCurrentStreamCapturing", "is_current_stream_capturing"
    ),
    **_absent.answers(None, _NOTHING),
    **_absent.answers(0, _ZERO),
    **_absent.answers(False, _FALSE),
    **_absent.answers([], "get_arch_list get_rng_state_all memory_snapshot"),
    **_absent.answers("", "get_gencode_flags"),
    **_absent.answers(OrderedDict(), "memory_stats"),
    **_absent.answers({}, "memory_stats_as_nested_dict"),
    **_absent.dummies(__name__, "Event MemPool Stream XPUGraph"),
    **{
        name: type(name, (_absent.Nothing,), {"__module__": __name__})
        for name in "StreamContext device device_of".split()
    },
}
_FOUND["stream"] = _FOUND["StreamContext"]
_FOUND["use_mem_pool"] = _absent.Nothing
globals().update(_FOUND)
default_generators: tuple[Any, ...] = ()
__all__ = ["default_generators", *_FOUND]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
