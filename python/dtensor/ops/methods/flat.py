"""x.flat: the elements of a tensor in C order, as NumPy's flat iterators."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.composite import within
from dtensor.ops._make.known import size
from dtensor.ops._make.operator import method
from dtensor.ops._make.parts import values_of
from dtensor.ops._make.words import hollow
from dtensor.ops.index.put import put
from dtensor.ops.index.read import getitem
from dtensor.ops.index.values import converted
from dtensor.ops.index.write import setitem
from dtensor.ops.shape.view import ravel

__all__ = ["Flat", "tobytes"]


class Flat:
    """The elements of a tensor in C order: ``x.flat``.

    Reading and writing are collective if the tensor is a DTensor; iterating gathers it.

    Parameters
    ----------
    base : Tensor or DTensor

    Examples
    --------
    >>> x = dtensor.tensor([[1, 2], [3, 4]])
    >>> x.flat[1:3] = 0
    >>> x.flat[0] = 9
    >>> x.tolist(), len(x.flat)
    ([[9, 0], [0, 4]], 4)
    """

    def __init__(self, base: _C.Tensor) -> None:
        self.base = base

    def __len__(self) -> int:
        return int(self.base.numel())

    def __iter__(self) -> Iterator[Any]:
        """Gather the elements, and give one after the other."""
        return iter(_values("flat", self.base).flat)

    def __getitem__(self, index: Any) -> Any:
        """Return elements as a copy, of one dim or none."""
        found = getitem(ravel(self.base), index)
        return found.clone() if isinstance(index, slice) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write to elements; values are used in turn, and repeated."""
        whole = index is ... or (isinstance(index, slice) and index == slice(None))
        one = isinstance(index, int | np.integer)
        with within("flat", self.base, index, value):
            dtype = self.base.dtype
            value = _one(dtype, value) if one else converted("flat", dtype, value)
            if not size(value):
                return
            if whole and np.ndim(value):
                setitem(self.base, ..., np.resize(value, self.base.shape))
            elif whole:
                setitem(self.base, ..., value)
            else:
                put(self.base, np.arange(len(self))[index], value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(ravel(self.base), dtype)

    def copy(self) -> Any:
        """Return the elements in one dim."""
        return ravel(self.base).clone()


def _one(dtype: Any, value: Any) -> Any:
    """Return what is written to one element, with NumPy's errors."""
    if isinstance(value, _C.Tensor) and not value.ndim:
        return value
    probe = np.empty(1, dtype)
    probe.flat[0] = hollow(value.shape) if isinstance(value, _C.Tensor) else value
    return probe


@method
def tobytes(x: Any, order: Any = "C") -> bytes:
    """Return the elements as bytes: see `numpy.ndarray.tobytes`.

    Collective if `x` is a DTensor, which is gathered.
    """
    return _values("tobytes", x).tobytes(order)


def _values(name: str, x: _C.Tensor) -> npt.NDArray[Any]:
    x = x.detach()
    return values_of(name, x) if isinstance(x, _C.DTensor) else np.asarray(x)
