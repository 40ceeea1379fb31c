"""``torch.cuda`` for a machine without CUDA devices, as in PyTorch built without it.

Two functions ask for less than there: `set_device` and the ones that reset statistics
do nothing, so that scripts that call them first run.
"""

from collections import OrderedDict
from typing import Any

from dtensor.torch import _absent, _paths
from dtensor.torch._errors import OutOfMemoryError as OutOfMemoryError
from dtensor.torch.cuda import amp as amp

_TENSORS = """
    BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor
    IntTensor LongTensor ShortTensor
"""
_STORAGES = """
    BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage
    ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage
    ShortStorage
"""
_REFUSED = """
    caching_allocator_alloc can_device_access_peer cudart current_blas_handle
    current_device current_solver_handle current_stream default_stream
    get_device_capability get_device_name get_device_properties
    get_per_process_memory_fraction get_rng_state get_stream_from_external
    get_sync_debug_mode init initial_seed ipc_collect mem_get_info
    set_per_process_memory_fraction set_rng_state set_sync_debug_mode synchronize
"""
_NOTHING = """
    caching_allocator_enable empty_cache manual_seed manual_seed_all
    reset_accumulated_host_memory_stats reset_accumulated_memory_stats
    reset_max_memory_allocated reset_max_memory_cached reset_peak_host_memory_stats
    reset_peak_memory_stats seed seed_all set_device set_rng_state_all
"""
_ZERO = """
    device_count max_memory_allocated max_memory_cached max_memory_reserved
    memory_allocated memory_cached memory_reserved
"""
_FALSE = "is_available is_bf16_supported is_initialized is_tf32_supported"
_READ = "clock_rate device_memory_used memory_usage power_draw temperature utilization"
_NO_CUDA = "Torch not compiled with CUDA enabled"

_made: dict[str, Any] = {
    **_absent.raises(AssertionError, _NO_CUDA, _REFUSED),
    **_absent.raises(
        ModuleNotFoundError,
        "nvidia-ml-py does not seem to be installed or it can't be imported.",
        _READ,
    ),
    **_absent.raises(
        RuntimeError,
        "Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing",
        "is_current_stream_capturing",
    ),
    **_absent.raises(
        RuntimeError,
        "Tried to instantiate dummy base class _graph_pool_handle",
        "graph_pool_handle",
    ),
    **_absent.raises(
        RuntimeError,
        "torch.cuda.Stream requires CUDA support",
        "make_graphed_callables",
    ),
    **_absent.answers(None, _NOTHING),
    **_absent.answers(0, _ZERO),
    **_absent.answers(False, _FALSE),
    **_absent.answers([], "get_arch_list get_rng_state_all"),
    **_absent.answers("", "get_gencode_flags"),
    **_absent.answers(OrderedDict(), "host_memory_stats memory_stats"),
    **_absent.answers(
        {}, "host_memory_stats_as_nested_dict memory_stats_as_nested_dict"
    ),
    **_absent.answers(
        "pynvml module not found, please install nvidia-ml-py", "list_gpu_processes"
    ),
    **_absent.classes(
        __name__,
        TypeError,
        f"type torch.cuda.{{}} not available. {_NO_CUDA}.",
        _TENSORS,
    ),
    **_absent.classes(__name__, AssertionError, _NO_CUDA, _STORAGES),
    **_absent.classes(
        __name__,
        RuntimeError,
        "torch.cuda.Stream requires CUDA support",
        "ExternalStream Stream graph",
    ),
    **_absent.dummies(__name__, "CUDAGraph Event MemPool"),
    **{
        name: type(name, (_absent.Nothing,), {"__module__": __name__})
        for name in "StreamContext device device_of".split()
    },
}
_made["stream"] = _made["StreamContext"]
_made["caching_allocator_disabled"] = _made["use_mem_pool"] = _absent.Nothing
globals().update(_made)
default_generators: tuple[Any, ...] = ()
has_half = True
has_magma = False


class CudaError(RuntimeError):
    """An error of the CUDA runtime: never raised here."""


class DeferredCudaCallError(Exception):
    """An error of a call that waited for CUDA: never raised here."""


_FILES = {
    "graphs": """
        CUDAGraph graph graph_pool_handle is_current_stream_capturing
        make_graphed_callables
    """,
    "memory": """
        MemPool caching_allocator_alloc caching_allocator_disabled
        caching_allocator_enable empty_cache get_per_process_memory_fraction
        host_memory_stats host_memory_stats_as_nested_dict list_gpu_processes
        max_memory_allocated max_memory_cached max_memory_reserved mem_get_info
        memory_allocated memory_cached memory_reserved memory_stats
        memory_stats_as_nested_dict reset_accumulated_host_memory_stats
        reset_accumulated_memory_stats reset_max_memory_allocated
        reset_max_memory_cached reset_peak_host_memory_stats reset_peak_memory_stats
        set_per_process_memory_fraction use_mem_pool
    """,
    "nvtx": "mark range range_end range_pop range_push range_start",
    "random": """
        get_rng_state get_rng_state_all initial_seed manual_seed manual_seed_all seed
        seed_all set_rng_state set_rng_state_all
    """,
    "sparse": _TENSORS,
    "streams": "Event ExternalStream Stream",
}
_nvtx = _absent.raises(
    RuntimeError,
    "NVTX functions not installed. Are you sure you have a CUDA build?",
    _FILES["nvtx"],
)
globals().update(_paths.add_paths(__name__, _made | _nvtx, _FILES))
__all__ = ["CudaError", "DeferredCudaCallError", "OutOfMemoryError", "amp"]
__all__ += ["default_generators", "has_half", "has_magma", *_made, *_FILES]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
