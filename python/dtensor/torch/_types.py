"""PyTorch's dtypes and sizes as objects: ``torch.float32``, ``torch.Size``.

A dtype equals NumPy's of the same name, and NumPy takes it wherever it takes a dtype.
"""

import functools
import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from dtensor import _C
from dtensor._core.dtype import dtype_of

__all__ = [
    "DTYPES",
    "Size",
    "dtype",
    "keeps",
    "numpy_dtype",
    "takes",
    "torch_dtype",
]

F = TypeVar("F", bound=Callable[..., Any])

# PyTorch's names, and NumPy's where they differ; the legacy name of the tensor type
DTYPES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}
_WIDER = {"float16": "complex64", "bfloat16": "complex64", "float32": "complex64"}
_PARTS = {"complex64": "float32", "complex128": "float64"}


class dtype:  # noqa: N801
    """The element type of a tensor, which equals NumPy's: ``torch.float32``.

    Attributes that are not listed here are those of NumPy's.

    Parameters
    ----------
    of : dtype_like
        NumPy's.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> torch.zeros(2).dtype, torch.float32 == np.dtype("float32")
    (torch.float32, True)
    >>> np.zeros(2, torch.int64).dtype
    dtype('int64')
    """

    __slots__ = ("dtype", "legacy")

    def __init__(self, of: Any) -> None:
        self.dtype: np.dtype[Any] = dtype_of(of)  # which NumPy looks for
        self.legacy = DTYPES.get(self.dtype.name, self.dtype.name)

    @property
    def is_floating_point(self) -> bool:
        """Whether it is of real floating-point numbers."""
        return self.dtype.kind == "f" or self.dtype.name == "bfloat16"

    @property
    def is_complex(self) -> bool:
        """Whether it is of complex numbers."""
        return self.dtype.kind == "c"

    @property
    def is_signed(self) -> bool:
        """Whether it has negative numbers."""
        return self.dtype.kind not in "bu"

    def to_complex(self) -> "dtype":
        """Return the complex dtype of such parts."""
        name = self.dtype.name
        return self if self.is_complex else torch_dtype(_WIDER.get(name, "complex128"))

    def to_real(self) -> "dtype":
        """Return the dtype of the real part."""
        return torch_dtype(_PARTS.get(self.dtype.name, self.dtype.name))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self.dtype == numpy_dtype(other))
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"torch.{self.dtype.name}"

    def __reduce__(self) -> Any:
        return torch_dtype, (self.dtype.name,)


_known: dict[np.dtype[Any], dtype] = {}


def torch_dtype(of: Any) -> dtype:
    """Return PyTorch's dtype, the same object each time, for NumPy's."""
    given = of if isinstance(of, np.dtype) else numpy_dtype(of)
    found = _known.get(given)
    if found is None:
        found = _known[given] = dtype(given)
    return found


def numpy_dtype(of: Any) -> Any:
    """Return NumPy's dtype for PyTorch's; None stays None."""
    if isinstance(of, dtype):
        return of.dtype
    return None if of is None else dtype_of(of)


class Size(tuple[int, ...]):
    """The lengths of the dims of a tensor: a tuple.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> torch.zeros(2, 3).size(), torch.zeros(2, 3).shape.numel()
    (torch.Size([2, 3]), 6)
    """

    def numel(self) -> int:
        """Return the number of elements of a tensor of that size."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found: Any = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Iterable[int]) -> "Size":  # type: ignore[override]
        return Size(super().__add__(tuple(other)))


def takes(*others: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator that shows ``**options`` as what other functions take."""

    def show(function: F) -> F:
        signature = inspect.signature(function)
        parts = [p for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
        known = {p.name for p in parts}
        for other in others:
            for each in inspect.signature(other).parameters.values():
                if each.kind == each.KEYWORD_ONLY and each.name not in known:
                    parts.append(each)
                    known.add(each.name)
        shown: Any = function
        shown.__signature__ = signature.replace(parameters=parts)
        return function

    return show


def keeps(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that gives tensors in the dialect of its arguments, also where
    it makes them of arrays."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        return _C.composed(function, args, options)

    return answer
