"""The standard's functions of dtypes. They are local: they read only dtypes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Tensor

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating-point dtype, as Python's numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of an integer dtype, as Python's numbers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def _dtype_of(given: Any) -> Any:
    """Return an array's dtype, and anything else as it is."""
    return given.dtype if isinstance(given, Tensor | np.ndarray | np.generic) else given


def finfo(type: npt.DTypeLike | Tensor, /) -> FloatInfo:
    """Return the limits of a floating-point dtype, or of an array's.

    Those of a complex dtype are the limits of its parts.
    """
    info = np.finfo(_dtype_of(type))
    limits = (info.eps, info.max, info.min, info.smallest_normal)
    eps, highest, lowest, normal = (float(limit) for limit in limits)
    return FloatInfo(int(info.bits), eps, highest, lowest, normal, np.dtype(info.dtype))


def iinfo(type: npt.DTypeLike | Tensor, /) -> IntegerInfo:
    """Return the limits of an integer dtype, or of an array's."""
    info = np.iinfo(_dtype_of(type))
    return IntegerInfo(
        int(info.bits), int(info.max), int(info.min), np.dtype(info.dtype)
    )


def isdtype(
    dtype: npt.DTypeLike, kind: npt.DTypeLike | tuple[npt.DTypeLike, ...]
) -> bool:
    """Return whether a dtype is of a kind, or of one of several.

    A kind is a dtype or one of "bool", "signed integer", "unsigned integer",
    "integral", "real floating", "complex floating" and "numeric".
    """
    return bool(np.isdtype(dtype, kind))  # type: ignore[arg-type]


def can_cast(from_: npt.DTypeLike | Tensor, to: npt.DTypeLike, /) -> bool:
    """Return whether a dtype, or an array's, can be cast to another without loss."""
    return bool(np.can_cast(_dtype_of(from_), to))


def result_type(*arrays_and_dtypes: npt.DTypeLike | Tensor | complex) -> np.dtype[Any]:
    """Return the common dtype of arrays, dtypes and Python's numbers."""
    return np.result_type(*(_dtype_of(given) for given in arrays_and_dtypes))
