"""What a tensor in PyTorch's dialect says of itself: shape, dtype, device and the like.

`ATTRIBUTES` and `QUESTIONS` are installed on its type, beside the methods.
"""

import math
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.device import device, is_meta
from dtensor.torch._dtypes import strided
from dtensor.torch._types import DTYPES, Size, numpy_dtype, torch_dtype

__all__ = ["ATTRIBUTES", "QUESTIONS", "WHOLE"]

_shape = _C.Tensor.shape.__get__
_dtype = _C.Tensor.dtype.__get__
_device = _C.Tensor.device.__get__
_stride = _C.Tensor.stride
_DEVICES = {name: device(name) for name in ("cpu", "meta")}


class _Count(int):
    """The number of elements, which can be called as PyTorch's ``size(dim=None)``."""

    shape: tuple[int, ...]

    def __call__(self, dim: int | None = None) -> Any:
        if dim is None:
            return Size(self.shape)
        if not -len(self.shape) <= dim < max(len(self.shape), 1):
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[{-len(self.shape)}, {len(self.shape) - 1}], but got {dim})"
            )
        return self.shape[dim]


def _size(self: Any) -> _Count:
    shape = _shape(self)
    count = _Count(math.prod(shape))
    count.shape = shape
    return count


def _layout(self: Any) -> str:
    return strided


def _name(self: Any) -> None:
    return None


def _false(self: Any) -> bool:
    return False


def _is_cpu(self: Any) -> bool:
    return not is_meta(self)


ATTRIBUTES = {
    "shape": property(lambda self: Size(_shape(self)), doc="The lengths of the dims."),
    "size": property(_size, doc="``size()`` is `shape`, ``size(dim)`` one length."),
    "dtype": property(lambda self: torch_dtype(_dtype(self)), doc="A `torch.dtype`."),
    "device": property(
        lambda self: _DEVICES[_device(self)], doc="A `torch.device`: cpu or meta."
    ),
    "layout": property(_layout, doc="``torch.strided``; of a DTensor, its `Layout`."),
    "name": property(_name, doc="None: tensors have no names."),
    "is_cpu": property(_is_cpu, doc="Whether it has elements."),
    "is_meta": property(is_meta, doc="Whether it has none."),
}
ATTRIBUTES |= {
    f"is_{what}": property(_false, doc="False.")
    for what in "cuda mkldnn mps nested quantized sparse sparse_csr xla xpu".split()
}
# Torch's DTensor has both bases; that of DTensor counts where the two differ.
WHOLE = {"layout": _C.DTensor.layout}


# --- questions ------------------------------------------------------------------------


def is_floating_point(self: Any) -> bool:
    """Return whether the elements are real floating-point numbers."""
    return bool(self.dtype.is_floating_point)


def is_complex(self: Any) -> bool:
    """Return whether the elements are complex."""
    return bool(self.dtype.is_complex)


def is_signed(self: Any) -> bool:
    """Return whether the dtype has negative numbers."""
    return bool(self.dtype.is_signed)


def is_nonzero(self: Any) -> bool:
    """Return whether the only element is not 0. Collective."""
    return bool(item(self))


def is_same_size(self: Any, other: Any) -> bool:
    """Return whether another tensor has the same shape."""
    return tuple(self.shape) == tuple(other.shape)


def get_device(self: Any) -> int:
    """Return -1: there is no CUDA device."""
    return -1


def storage_offset(self: Any) -> int:
    """Return where this rank's first element is in its memory, in elements."""
    array = self.to_local() if isinstance(self, _C.DTensor) else self
    array = array.numpy(force=True)
    start = array.__array_interface__["data"][0] - UntypedStorage(array).data_ptr()
    return int(start // array.itemsize) if array.itemsize else 0


def data_ptr(self: Any) -> int:
    """Return the address of this rank's first element."""
    array = self.to_local() if isinstance(self, _C.DTensor) else self
    return int(array.numpy(force=True).__array_interface__["data"][0])


class UntypedStorage:
    """The bytes that a tensor's elements lie in; of a DTensor, this rank's."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        while isinstance(array.base, np.ndarray):
            array = array.base
        self._array = array
        self.device = _DEVICES["cpu"]

    def __len__(self) -> int:
        return int(self._array.nbytes)

    nbytes = size = __len__

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return int(self._array.__array_interface__["data"][0])


def untyped_storage(self: Any) -> UntypedStorage:
    """Return the memory of this rank's elements, which views share."""
    array = self.to_local() if isinstance(self, _C.DTensor) else self
    return UntypedStorage(array.numpy(force=True))


def item(self: Any) -> Any:
    """Return the only element as a Python number. Collective of a DTensor.

    Raises
    ------
    RuntimeError
        If there is not exactly one. On every rank, before anything is sent.
    """
    if self.numel() != 1:
        raise RuntimeError(
            f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
        )
    return _C.Tensor.item(self)


def type(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the type, ``"torch.FloatTensor"``; with `dtype`, a cast."""
    if dtype is None:
        return f"torch.{self.dtype.legacy}Tensor"
    if isinstance(dtype, str) and dtype.startswith("torch."):
        short = dtype[len("torch.") :].removesuffix("Tensor")
        names = {legacy: name for name, legacy in DTYPES.items()}
        if short not in names:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = names[short]
    dtype = getattr(dtype, "dtype", dtype)
    return self.to(dtype=numpy_dtype(dtype))


QUESTIONS = [
    data_ptr,
    get_device,
    is_complex,
    is_floating_point,
    is_nonzero,
    is_same_size,
    is_signed,
    item,
    storage_offset,
    type,
    untyped_storage,
]
