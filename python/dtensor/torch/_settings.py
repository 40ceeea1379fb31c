"""Settings of the process, and questions about them."""

import importlib
import os
from typing import Any, NoReturn

import dtensor
from dtensor import _C
from dtensor._core import device as _device
from dtensor._core.caller import warn
from dtensor.amp import autocast_mode
from dtensor.torch._create import empty
from dtensor.torch._dtypes import set_default_dtype
from dtensor.torch._types import dtype, torch_dtype

__all__ = [
    "are_deterministic_algorithms_enabled",
    "empty_permuted",
    "empty_strided",
    "get_autocast_dtype",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_inference_mode_enabled",
    "is_storage",
    "is_warn_always_enabled",
    "set_anomaly_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_num_threads",
    "set_warn_always",
    "sparse_coo_tensor",
    "sparse_csr_tensor",
    "to_dlpack",
    "typename",
    "use_deterministic_algorithms",
]

_chosen: list[Any] = []


def get_autocast_dtype(device_type: str = "cpu") -> dtype:
    """Return the dtype of `autocast` now, or what it would be by default."""
    return torch_dtype(autocast_mode.get_autocast_dtype(device_type))


def set_default_device(device: Any) -> None:
    """Set where new tensors are: "cpu", "meta", or None for "cpu".

    Raises
    ------
    RuntimeError
        If there is no such device.
    """
    wanted = None if device is None else _device.device(device)
    if _chosen:
        _chosen.pop().__exit__()
    if wanted is not None:
        _chosen.append(wanted.__enter__())


def get_default_device() -> Any:
    """Return the device of new tensors."""
    return _device.device(_device.kind_of(None))


def get_device_module(device: Any = None) -> Any:
    """Return the module of a kind of device; by default ``torch.cpu``.

    Raises
    ------
    RuntimeError
        If there is no such module.
    """
    name = "cpu" if device is None else str(device).partition(":")[0]
    if name not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(
            f"Device '{name}' does not have a corresponding module registered as "
            f"'torch.{name}'."
        )
    return importlib.import_module(f"dtensor.torch.{name}")


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype to that of a tensor type, as ``torch.DoubleTensor``."""
    name = t.removeprefix("torch.") if isinstance(t, str) else t.__name__
    names = {
        "DoubleTensor": "float64",
        "FloatTensor": "float32",
        "HalfTensor": "float16",
    }
    if name not in names:
        raise TypeError("only floating-point types are supported as the default type")
    set_default_dtype(names[name])


def is_inference_mode_enabled() -> bool:
    """Return whether nothing is recorded: `inference_mode` is `no_grad` here."""
    return not _C.is_grad_enabled()


def is_anomaly_enabled() -> bool:
    """Return False: backward does not look for anomalies."""
    return False


def is_anomaly_check_nan_enabled() -> bool:
    """Return False: backward does not look for NaN."""
    return False


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Accept the setting: it has no effect."""


def to_dlpack(tensor: Any) -> Any:
    """Return a DLPack capsule of a tensor."""
    return tensor.__dlpack__()


def empty_strided(size: Any, stride: Any, **options: Any) -> Any:
    """Return a new tensor with arbitrary elements; its memory is contiguous."""
    return empty(tuple(size), **options)


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Any:
    """Return a new tensor with arbitrary elements; its memory is contiguous."""
    return empty(tuple(size), **options)


# --- kept, without an effect ----------------------------------------------------------

_kept: dict[str, Any] = {
    "precision": "highest",
    "deterministic": False,
    "warn_only": False,
    "always": False,
}
PRECISIONS = ("highest", "high", "medium")


def _check_threads(name: str, count: Any) -> None:
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"{name} expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError(f"{name} expects a positive integer")


def set_num_threads(num: int) -> None:
    """Set how many threads of this rank share long loops, as `dtensor.set_num_threads`.

    More than 256 count as 256. The threads of NumPy's BLAS are set by
    ``OPENBLAS_NUM_THREADS`` and the like, before Python starts.

    Raises
    ------
    TypeError, RuntimeError
        If it is no integer, or not positive. On this rank only.
    """
    _check_threads("set_num_threads", num)
    dtensor.set_num_threads(min(num, _C.MOST_THREADS))


def set_num_interop_threads(num: int) -> None:
    """Keep a number of threads for `get_num_interop_threads`: it has no effect.

    Raises
    ------
    RuntimeError
        If it is not positive. On this rank only.
    """
    _check_threads("set_num_interop_threads", num)
    _kept["set_num_interop_threads"] = num


def get_num_threads() -> int:
    """Return how many threads of this rank share long loops."""
    return dtensor.get_num_threads()


def get_num_interop_threads() -> int:
    """Return what was set; default: the processors that this rank may use."""
    count: int = _kept.get("set_num_interop_threads", len(os.sched_getaffinity(0)))
    return count


def set_float32_matmul_precision(precision: str) -> None:
    """Keep a precision of products: they are always of the highest.

    Anything but "highest", "high" and "medium" is a warning.
    """
    if precision in PRECISIONS:
        _kept["precision"] = precision
        return
    warn(
        f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
        "set_float32_matmul_precision call has no effect."
    )


def get_float32_matmul_precision() -> str:
    """Return the precision that was set; default: "highest"."""
    precision: str = _kept["precision"]
    return precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Keep a setting: all algorithms are deterministic, whatever it is."""
    _kept.update(deterministic=bool(mode), warn_only=bool(mode and warn_only))


def are_deterministic_algorithms_enabled() -> bool:
    """Return what was set last; default: False."""
    return bool(_kept["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return what was set last; default: False."""
    return bool(_kept["warn_only"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set what `use_deterministic_algorithms` sets: 0 to 2, or their names.

    Raises
    ------
    RuntimeError
        For anything else. On this rank only.
    """
    names = ("default", "warn", "error")
    modes: dict[Any, str] = dict(enumerate(names))
    modes |= {name: name for name in names}
    if debug_mode not in modes:
        raise RuntimeError(
            "invalid value of debug_mode, expected `default`, `warn`, or `error`, "
            f"but got {debug_mode}"
        )
    mode = modes[debug_mode]
    use_deterministic_algorithms(mode != "default", warn_only=mode == "warn")


def get_deterministic_debug_mode() -> int:
    """Return 0, 1 if a warning, or 2 if an error was asked for."""
    return (1 if _kept["warn_only"] else 2) if _kept["deterministic"] else 0


def set_warn_always(b: bool) -> None:
    """Keep a setting: which warnings are shown, the module `warnings` decides."""
    _kept["always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """Return what was set last; default: False."""
    return bool(_kept["always"])


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with a message if a condition does not hold."""
    if not condition:
        raise AssertionError(message)


# --- what there is not ----------------------------------------------------------------


def is_storage(obj: Any) -> bool:
    """Return whether an object is a storage of a tensor."""
    return type(obj).__name__ in ("UntypedStorage", "TypedStorage")


def typename(obj: Any) -> str:
    """Return the name of an object's type, with PyTorch's name of its module."""
    if isinstance(obj, _C.TorchTensor):
        return f"torch.{obj.dtype.legacy}Tensor"
    of = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(of, "__module__", None) or ""
    name: str = of.__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"


def no_sparse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: there are no sparse tensors; matrices of scipy.sparse are cut by "
        "rows, and multiply DTensors, with dtensor.sparse"
    )


def sparse_coo_tensor(indices: Any, *args: Any, **options: Any) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse_coo_tensor")


def sparse_csr_tensor(crow_indices: Any, *args: Any, **options: Any) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse_csr_tensor")
