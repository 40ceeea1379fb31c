"""Methods with PyTorch's names, unless the name means something else in NumPy.

Elementwise methods: torch_pointwise.py. All names: docs/torch_parity.md."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import CASTS, dtype_of
from dtensor.ops._make.as_whole import ordering
from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.halves import is_half, weak_call
from dtensor.ops._make.known import ndim
from dtensor.ops._make.operator import METHODS, Operand, method, operator
from dtensor.ops._make.reduction import OPS
from dtensor.ops._make.words import Answer
from dtensor.ops.create.like import empty_like, full_like, ones_like, zeros_like
from dtensor.ops.elementwise import functions
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.index.read import getitem
from dtensor.ops.linalg.matmul import matmul
from dtensor.ops.methods.array_api import DEVICE, check_device
from dtensor.ops.shape.join import concatenate

__all__ = ["bmm", "cat", "index_select", "masked_fill", "mm", "mv"]

cat = concatenate
bmm = mm = mv = matmul


@method
def allclose(
    self: Any, other: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
) -> Any:
    """Return whether all elements are close: see `numpy.allclose`. Collective."""
    return np.allclose(self, other, rtol, atol, equal_nan)


# --- dtypes and copies ----------------------------------------------------------------


@method
def to(
    self: Any,
    *args: Any,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    copy: bool = False,
    non_blocking: bool = False,
) -> Any:
    """Return the tensor in another dtype.

    Parameters
    ----------
    *args : dtype, device, or tensor whose dtype is meant
    dtype : dtype_like, optional
    device : str, optional
        "cpu": there is one device. See `DTensor.redistribute` to move data.
    copy : bool, default False
        Whether the result has memory of its own in any case.
    non_blocking : bool
        Without effect.

    Returns
    -------
    Tensor or DTensor
        This one, if its dtype is the same and no copy is asked for.
    """
    for value in args:
        if isinstance(value, _C.Tensor):
            dtype = value.dtype
        elif isinstance(value, str) and not _is_dtype(value):
            device = value
        elif not isinstance(value, bool | None):
            dtype = value
    check_device(device)
    dtype = self.dtype if dtype is None else dtype_of(dtype)
    if dtype == self.dtype:
        return clone(self) if copy else self
    return functions.astype(self, dtype)


def _is_dtype(name: str) -> bool:
    try:
        return name != DEVICE and dtype_of(name) is not None
    except TypeError:
        return False


@method
def type_as(self: Any, other: Any) -> Any:
    """Return the tensor in the dtype of another one."""
    return to(self, other.dtype)


@method(name="type")
def _type(self: Any, dtype: npt.DTypeLike) -> Any:
    """Return the tensor in another dtype: see `to`."""
    return to(self, dtype=dtype)


def _cast(name: str, dtype: str) -> None:
    def cast(self: Any) -> Any:
        return to(self, dtype=dtype)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"Return the tensor in the dtype {dtype}."
    method(cast)


for _name, _dtype in CASTS.items():
    _cast(_name, _dtype)


@method
def clone(self: Any, *, memory_format: Any = None) -> Any:
    """Return a copy with memory of its own, in the same layout."""
    return functions.copy(self)


@method
@operator
def contiguous(x: Operand, *, memory_format: Any = None) -> Answer:
    """Return the tensor in C order: itself, or a copy, on all ranks alike."""
    return broadcast([x], "any"), ordering(x, "C"), x.dtype


contiguous.vjp(lambda grad, _out, _x, **_: grad)


@method
def cpu(self: Any) -> Any:
    """Return this tensor: there is one device."""
    return self


@method
def t(self: Any) -> Any:
    """Return the transpose of a matrix; a tensor of fewer dims as it is.

    Raises
    ------
    RuntimeError
        If there are more than two dims.
    """
    if self.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D"
        )
    return self.T if self.ndim == 2 else self


# --- values that are set --------------------------------------------------------------


@method
def fill_(self: Any, value: Any) -> Any:
    """Set all elements to one number, and return this tensor."""
    number = type(value) in (int, float)
    if not (number and _C.overwrite(self, value, "fill_")):
        METHODS["fill"](self, value)
    return self


@method
def zero_(self: Any) -> Any:
    """Set all elements to 0, and return this tensor."""
    return fill_(self, 0)


@method
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Set the elements to those of another array, broadcast and cast.

    It may be laid out in another way. Returns this tensor."""
    if not _C.overwrite(self, src, "copy_"):
        np.copyto(self, src, casting="unsafe")
    return self


def _masked_row(self: Any, mask: Any, value: Any) -> Maybe:
    """Return the rule of `where`, the tensor first, where that keeps the dtype."""
    xs = (self, mask, value)
    if not all(isinstance(x, Operand) for x in xs) or mask.dtype != np.bool_:
        return None
    kind = "f" if is_half(self.dtype) else self.dtype.kind
    weak = value.number in (float, int) if kind == "f" else value.number is int
    if kind == "b" or not (weak if value.dtype is None else value.dtype == self.dtype):
        return None
    rows = ";".join(f"{op},R,{op}->{op}" for op in OPS)
    return broadcast(xs, rows), weak_call(np.where, mask, value, self)


@method
@in_front(
    _masked_row,
    where_,
    lambda g, _out, _x, mask, _value: where_(mask, 0, g),
    None,
    lambda g, _out, _x, mask, _value: where_(mask, g, 0),
    operands=3,
)
def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """Return the tensor with one number where a mask is true.

    Parameters
    ----------
    self : DTensor or Tensor
    mask : array_like of bool
        They are broadcast.
    value : number
        Of a dtype that does not change that of the tensor.

    Raises
    ------
    RuntimeError
        If the mask is not one.
    TypeError
        If the value is of another kind, as 0.5 among integers.
    """
    result = functions.where(_mask(mask), value, self)
    if result.dtype != self.dtype:
        result = functions.astype(result, self.dtype, casting="same_kind")
    if isinstance(result, _C.DTensor) or not result.is_contiguous():
        return contiguous(result)
    return result


masked_fill.in_rows = True


@method
def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """As `masked_fill`, in place; returns this tensor."""
    np.copyto(self, value, where=_mask(mask))
    return self


def _mask(mask: Any) -> Any:
    mask = mask if hasattr(mask, "dtype") else np.asarray(mask)
    if mask.dtype != bool:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype}"
        )
    return mask


# --- elements -------------------------------------------------------------------------


@method(name="where")
def _where(self: Any, condition: Any, other: Any) -> Any:
    """Return this tensor's elements where a condition holds, else those of another."""
    return functions.where(condition, self, other)


@method
def index_select(self: Any, dim: int, index: Any) -> Any:
    """Return slices along a dim, by number: see `numpy.take`.

    Raises
    ------
    IndexError
        If the numbers have several dims.
    """
    if ndim(index) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if ndim(index) == 0:
        index = np.reshape(index, 1)
    return np.take(self, index, axis=dim)


@method
def gather(self: Any, dim: int, index: Any) -> Any:
    """Return one element along a dim for each element of `index`.

    Parameters
    ----------
    self : DTensor or Tensor
    dim : int
    index : array_like of int
        Of as many dims, and nowhere longer but along `dim`. Nothing is broadcast:
        this is `numpy.take_along_axis` of the part that `index` covers.

    Raises
    ------
    RuntimeError
        If `index` is longer than the tensor along another dim.
    """
    index = index if hasattr(index, "dtype") else np.asarray(index)
    if index.ndim == self.ndim:
        other = [d for d in range(self.ndim) if d != dim % self.ndim]
        if any(index.shape[d] > self.shape[d] for d in other):
            raise RuntimeError(
                f"Size does not match: expected index {list(index.shape)} to be no "
                f"larger than self {list(self.shape)} apart from dimension {dim}"
            )
        key = [slice(None)] * self.ndim
        for d in other:
            key[d] = slice(index.shape[d])
        if other and index.shape != self.shape:
            self = getitem(self, tuple(key))
    return np.take_along_axis(self, index, axis=dim)


# --- new ones, formats ----------------------------------------------------------------


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and np.iterable(size[0]) else size


def _new(name: str, function: Callable[..., Any], what: str) -> None:
    def new(
        self: Any, *sizes: Any, size: Any = None, dtype: Any = None, **options: Any
    ) -> Any:
        shape = _size(sizes if size is None else (*sizes, size))
        return function(self, dtype=dtype, shape=shape, **options)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = f"""Return a tensor {what}, on the same mesh.

    Parameters
    ----------
    *sizes : int
        The shape: cut as this tensor if it is the same, else replicated. Also
        ``size=`` a sequence.
    dtype : dtype_like, optional
        Default: that of this tensor.
    **options
        `device_mesh` and `placements`, as of `zeros_like`.
    """
    method(new)


_new("new_zeros", zeros_like, "full of zeros")
_new("new_ones", ones_like, "full of ones")
_new("new_empty", empty_like, "whose elements are arbitrary")


@method
def new_full(
    self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any
) -> Any:
    """Return a tensor full of a value, on the same mesh: see `new_zeros`."""
    size = _size((size,))
    return full_like(self, fill_value, dtype=dtype, shape=size, **options)


@method(name="__format__")
def _format(self: Any, spec: str, /) -> str:
    """Format a tensor without dims as the number that it is: of a DTensor, collective.

    An empty `spec` gives ``str(self)`` of a DTensor, and sends nothing; of a Tensor
    without dims the number, as NumPy and PyTorch do.

    Raises
    ------
    TypeError
        If there is a `spec` and there are dims.
    """
    known = not isinstance(self, _C.DTensor) and self.device != "meta"
    if self.ndim == 0 and (spec or known):
        return format(self.item(), spec)
    return object.__format__(self, spec) if spec else str(self)


@method(name="__round__")
def _round(self: Any, ndigits: int | None = None, /) -> Any:
    """Round a tensor without dims, as NumPy rounds its numbers.

    Parameters
    ----------
    ndigits : int, optional
        Of the result, which is a tensor; without it, it is a Python int: collective.

    Raises
    ------
    TypeError
        If there are dims: see `round`, the method.
    """
    if self.ndim > 0:
        raise TypeError("round() is for a tensor without dims: see its method round()")
    return round(self.item()) if ndigits is None else functions.round(self, ndigits)
