"""Settings of the process, and questions about them."""

from typing import Any

from dtensor import _C
from dtensor._core import device as _device
from dtensor.torch._create import empty
from dtensor.torch._dtypes import set_default_dtype

__all__ = [
    "empty_permuted",
    "empty_strided",
    "get_default_device",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_inference_mode_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "to_dlpack",
]

_chosen: list[Any] = []


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


def to_dlpack(tensor: Any) -> Any:
    """Return a DLPack capsule of a tensor."""
    return tensor.__dlpack__()


def empty_strided(size: Any, stride: Any, **options: Any) -> Any:
    """Return a new tensor with arbitrary elements; its memory is contiguous."""
    return empty(tuple(size), **options)


def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Any:
    """Return a new tensor with arbitrary elements; its memory is contiguous."""
    return empty(tuple(size), **options)
