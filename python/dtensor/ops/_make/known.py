"""Functions that need only a tensor's shape and dtype; nothing is sent."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import implements
from dtensor.ops._make.parts import local
from dtensor.ops._make.words import hollow

__all__ = [
    "can_cast",
    "common_type",
    "iscomplexobj",
    "isrealobj",
    "min_scalar_type",
    "ndim",
    "result_type",
    "shape",
    "size",
]


def _stand_in(x: Any) -> Any:
    """Return an array of the shape and dtype of a tensor, which takes no memory."""
    return hollow(x.shape, x.dtype) if isinstance(x, _C.Tensor) else x


@implements(np.ndim)
def ndim(a: Any) -> int:
    """Return the number of dims."""
    return int(a.ndim if isinstance(a, _C.Tensor) else np.ndim(a))


@implements(np.shape)
def shape(a: Any) -> tuple[int, ...]:
    """Return the global shape."""
    return tuple(a.shape if isinstance(a, _C.Tensor) else np.shape(a))


@implements(np.size)
def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, or of those along some dims."""
    return int(np.size(_stand_in(a), axis))


@implements(np.result_type)
def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that NumPy's rules of promotion give."""
    return np.result_type(
        *(x.dtype if isinstance(x, _C.Tensor) else x for x in arrays_and_dtypes)
    )


@implements(np.can_cast)
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Return whether a dtype may be cast to another."""
    from_ = from_.dtype if isinstance(from_, _C.Tensor) else from_
    return np.can_cast(from_, to, casting)


@implements(np.common_type)
def common_type(*arrays: Any) -> Any:
    """Return the inexact scalar type that arrays have in common."""
    return np.common_type(*map(_stand_in, arrays))


@implements(np.min_scalar_type)
def min_scalar_type(a: Any) -> np.dtype[Any]:
    """Return the smallest dtype for a number; that of an array."""
    if isinstance(a, _C.Tensor):
        return a.dtype if a.ndim else np.min_scalar_type(a.item())
    return np.min_scalar_type(a)


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex."""
    return bool(np.iscomplexobj(_stand_in(x)))


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Return whether the dtype is not complex."""
    return not iscomplexobj(x)


@implements(np.einsum_path)
def _einsum_path(*operands: Any, optimize: Any = "greedy") -> tuple[list[Any], str]:
    return np.einsum_path(*map(_stand_in, operands), optimize=optimize)


def _own(x: Any) -> Any:
    if isinstance(x, _C.DTensor):
        return local(x)
    return np.asarray(x) if isinstance(x, _C.Tensor) else x


@implements(np.shares_memory)
def _shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    return bool(np.shares_memory(_own(a), _own(b), max_work))


@implements(np.may_share_memory)
def _may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    return bool(np.may_share_memory(_own(a), _own(b), max_work))
