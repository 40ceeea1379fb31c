"""Element types of NumPy and of the safetensors format."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.dtype import ML_DTYPES, dtype_of as numpy_dtype

__all__ = ["ITEM_BYTES", "dtype_of", "raw_bytes", "stored_as"]

# NumPy's names and the format's names.
_NAMES = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
}
_DTYPES = {name: numpy for numpy, name in _NAMES.items()} | {"C64": "complex64"}

# Dtypes that the format lacks are stored with one more dimension: real and imaginary
# part, or bytes.
_VIEWS = {
    "complex64": ("F32", 2),
    "complex128": ("F64", 2),
    "longdouble": ("U8", np.dtype(np.longdouble).itemsize),
    "clongdouble": ("U8", np.dtype(np.clongdouble).itemsize),
}
_LONG = np.finfo(np.longdouble).nmant  # machines have different long doubles
_LONG_USED = 10 if _LONG == 63 else np.dtype(np.longdouble).itemsize  # bytes, of x87

ITEM_BYTES = {
    name: ML_DTYPES.get(numpy) or np.dtype(numpy).itemsize
    for name, numpy in _DTYPES.items()
}


def _name(dtype: np.dtype[Any]) -> str:
    for name in ("longdouble", "clongdouble"):
        if dtype == np.dtype(name) and dtype.itemsize > 8 * (1 + (name[0] == "c")):
            return name
    return dtype.name


def stored_as(dtype: np.dtype[Any]) -> tuple[str, tuple[int, ...], str | None]:
    """Return the format's name, the added dimension, and the true dtype.

    Raises
    ------
    TypeError
        If arrays of this dtype cannot be stored.

    Examples
    --------
    >>> stored_as(np.dtype("float32"))
    ('F32', (), None)
    >>> stored_as(np.dtype("complex64"))
    ('F32', (2,), 'complex64')
    """
    name = _name(dtype)
    if name in _NAMES and dtype.isnative:
        return _NAMES[name], (), None
    if name in _VIEWS and dtype.isnative:
        stored, last = _VIEWS[name]
        return stored, (last,), f"{name}/{_LONG}" if "long" in name else name
    raise TypeError(f"arrays of dtype {dtype} cannot be saved")


def dtype_of(
    stored: str, shape: tuple[int, ...], true: str | None
) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return dtype and shape of an array from what the file says about it.

    Raises
    ------
    ValueError
        If NumPy has no such dtype here, or the true dtype contradicts the stored one.
    """
    if true is None:
        if stored not in _DTYPES:
            raise ValueError(f"arrays of dtype {stored} cannot be read")
        return numpy_dtype(_DTYPES[stored]), shape
    name = true.split("/")[0]
    if name not in _VIEWS or (stored, *shape[-1:]) != _VIEWS[name]:
        raise ValueError(f"dtype {true} does not match {stored} of shape {shape}")
    if "long" in name and true != f"{name}/{_LONG}":
        raise ValueError(
            f"{true} was saved on another machine: here it has {_LONG} bits"
        )
    return np.dtype(name), shape[:-1]


def raw_bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of a C-ordered array; padding bytes are zero.

    They share memory with the array, unless its elements have padding bytes.
    """
    raw = array.reshape(-1).view(np.uint8)
    if "long" not in _name(array.dtype) or _LONG_USED == np.dtype("g").itemsize:
        return raw
    clean = raw.reshape(-1, np.dtype("g").itemsize).copy()
    clean[:, _LONG_USED:] = 0
    return clean.reshape(-1)
