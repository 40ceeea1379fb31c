"""NumPy's dtypes under PyTorch's names, and constants."""

import builtins as _builtins
import math as _math
from typing import Any as _Any

import numpy as _np

from dtensor._core.device import device as device
from dtensor._core.dtype import dtype_of as _dtype_of
from dtensor._core.require import require as _require
from dtensor.api import (
    get_default_dtype as get_default_dtype,
    set_default_dtype as set_default_dtype,
)
from dtensor.ops import can_cast as can_cast, result_type as result_type

dtype = _np.dtype


def finfo(type: _Any = None) -> _Any:
    """Return the limits of a floating-point dtype; by default of the default one."""
    given = get_default_dtype() if type is None else _dtype_of(type)
    if given.name == "bfloat16":
        return _require("ml_dtypes").finfo(given)
    return _np.finfo(given)


iinfo = _np.iinfo
promote_types = _np.promote_types

uint8 = _np.dtype("uint8")
uint16 = _np.dtype("uint16")
uint32 = _np.dtype("uint32")
uint64 = _np.dtype("uint64")
int8 = _np.dtype("int8")
int16 = short = _np.dtype("int16")
int32 = int = _np.dtype("int32")
int64 = long = _np.dtype("int64")
float16 = half = _np.dtype("float16")
float32 = float = _np.dtype("float32")
float64 = double = _np.dtype("float64")
complex64 = cfloat = _np.dtype("complex64")
complex128 = cdouble = _np.dtype("complex128")
bool = _np.dtype("bool")

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi

Size: type[tuple[_builtins.int, ...]] = tuple
strided = "strided"
contiguous_format = preserve_format = None  # there are no others
