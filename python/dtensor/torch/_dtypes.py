"""NumPy's dtypes under PyTorch's names, and constants."""

import math as _math
from typing import Any as _Any

import numpy as _np

from dtensor import _C
from dtensor._core.device import device as device
from dtensor._core.require import require as _require
from dtensor.torch._promotion import (
    can_cast as can_cast,
    promote_types as promote_types,
    result_type as result_type,
)
from dtensor.torch._types import (
    Size as Size,
    dtype as dtype,
    numpy_dtype as _numpy_dtype,
    torch_dtype as _torch_dtype,
)


def get_default_dtype() -> dtype:
    """Return the dtype of Python's floats."""
    return _torch_dtype(_C.get_default_dtype())


def set_default_dtype(d: _Any) -> None:
    """Set the dtype of Python's floats: see `dtensor.set_default_dtype`."""
    _C.set_default_dtype(_numpy_dtype(d))


class finfo:  # noqa: N801
    """What is to know of a floating-point dtype: `max`, `min`, `eps`, `bits` ...

    Parameters
    ----------
    type : dtype, optional
        Default: the default dtype.
    """

    def __init__(self, type: _Any = None) -> None:
        of = _numpy_dtype(type) or _numpy_dtype(_C.get_default_dtype())
        if of.kind in "biu":
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo "
                "to handle 'torch.finfo'"
            )
        bfloat16 = of.name == "bfloat16"
        found = (_require("ml_dtypes") if bfloat16 else _np).finfo(of)
        self.bits, self.dtype = found.bits, of.name
        self.max, self.min = found.max.item(), found.min.item()
        self.eps, self.tiny = found.eps.item(), found.smallest_normal.item()
        self.smallest_normal, self.resolution = self.tiny, found.resolution.item()

    def __repr__(self) -> str:
        names = "resolution min max eps smallest_normal tiny".split()
        parts = (f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({', '.join(parts)}, dtype={self.dtype})"


class iinfo:  # noqa: N801
    """What is to know of an integer dtype: `max`, `min`, `bits`.

    Parameters
    ----------
    type : dtype
    """

    def __init__(self, type: _Any) -> None:
        of = _numpy_dtype(type)
        if of.kind not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to "
                "handle 'torch.iinfo'"
            )
        found = _np.iinfo(of)
        self.bits, self.dtype = found.bits, of.name
        self.max, self.min = found.max, found.min

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


uint8 = _torch_dtype("uint8")
uint16 = _torch_dtype("uint16")
uint32 = _torch_dtype("uint32")
uint64 = _torch_dtype("uint64")
int8 = _torch_dtype("int8")
int16 = short = _torch_dtype("int16")
int32 = int = _torch_dtype("int32")
int64 = long = _torch_dtype("int64")
float16 = half = _torch_dtype("float16")
float32 = float = _torch_dtype("float32")
float64 = double = _torch_dtype("float64")
complex64 = cfloat = _torch_dtype("complex64")
complex128 = cdouble = _torch_dtype("complex128")
bool = _torch_dtype("bool")

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi


class layout(str):  # noqa: N801
    """How a tensor is stored: ``torch.strided`` is the only way."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.{str.__str__(self)}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> str:  # pickles and copies are the same object
        return str.__str__(self)


class memory_format(layout):  # noqa: N801
    """The order of a tensor's memory, which is ignored: rows are always contiguous."""

    __slots__ = ()


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
