"""Methods with PyTorch's names, where NumPy means nothing else by them.

Each does what its NumPy function does, with NumPy's dtypes; one that ends in an
underscore works in place and returns the tensor. docs/torch_parity.md lists both."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops import elementwise, pointwise
from dtensor.ops._elementwise import broadcast
from dtensor.ops._operator import (
    METHODS,
    Operand,
    call,
    method,
    operator,
)
from dtensor.ops._words import Answer
from dtensor.ops.index import getitem
from dtensor.ops.join import concatenate
from dtensor.ops.known import ndim
from dtensor.ops.matmul import matmul
from dtensor.ops.namespace import DEVICE, check_device

__all__ = [
    "bmm",
    "cat",
    "clamp",
    "div",
    "index_select",
    "masked_fill",
    "mm",
    "mul",
    "mv",
    "neg",
    "relu",
    "rsqrt",
    "sigmoid",
    "sub",
]

cat = concatenate
bmm = mm = mv = matmul
mul = pointwise.multiply
neg = pointwise.negative

# --- element by element ---------------------------------------------------------------


def _inverse_root(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.reciprocal(np.sqrt(x)))


@operator
def rsqrt(x: Operand) -> Answer:
    """Return 1 divided by the square root, element by element."""
    return broadcast([x]), call(_inverse_root, x)


def _logistic(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return 1 / (1 + exp(-x)), without overflow."""
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    if x.dtype.kind == "c":
        return np.asarray(1 / (1 + np.exp(-x)))
    power = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, x.dtype.type(1), power) / (1 + power))


@operator
def sigmoid(x: Operand) -> Answer:
    """Return 1 / (1 + exp(-x)), element by element; integers are taken for float64."""
    return broadcast([x]), call(_logistic, x)


def relu(x: Any, **options: Any) -> Any:
    """Return the elements, and 0 for the negative ones."""
    return pointwise.maximum(x, 0, **options)


def _add(x: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``x + alpha * other``: see `numpy.add` for the other options."""
    if alpha != 1:
        other = alpha * other
    return pointwise.add(x, other, **options)


def sub(x: Any, other: Any, *, alpha: Any = 1, **options: Any) -> Any:
    """Return ``x - alpha * other``: see `numpy.subtract` for the other options."""
    if alpha != 1:
        other = alpha * other
    return pointwise.subtract(x, other, **options)


def div(x: Any, other: Any, *, rounding_mode: str | None = None, **options: Any) -> Any:
    """Divide, element by element.

    Parameters
    ----------
    x, other : array_like
        They are broadcast.
    rounding_mode : {None, "floor", "trunc"}
        As `numpy.divide`, as `numpy.floor_divide`, or rounded towards zero.
    **options
        Keywords of ufuncs.

    Raises
    ------
    ValueError
        For another mode.
    """
    if rounding_mode is None:
        return pointwise.divide(x, other, **options)
    if rounding_mode == "floor":
        return pointwise.floor_divide(x, other, **options)
    if rounding_mode != "trunc":
        raise ValueError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found {rounding_mode!r}"
        )
    if np.result_type(*(getattr(v, "dtype", v) for v in (x, other))).kind in "biu":
        whole = pointwise.subtract(x, pointwise.fmod(x, other))
        return pointwise.floor_divide(whole, other, **options)
    return pointwise.trunc(pointwise.divide(x, other), **options)


def clamp(x: Any, min: Any = None, max: Any = None, **options: Any) -> Any:
    """Limit the elements to an interval.

    Parameters
    ----------
    x : array_like
    min, max : array_like, optional
        The limits; one is enough.
    **options
        Keywords of ufuncs.

    Raises
    ------
    RuntimeError
        If there is no limit.
    """
    if min is None and max is None:
        raise RuntimeError("clamp: At least one of 'min' or 'max' must not be None")
    return elementwise.clip(x, min, max, **options)


# In place as well, but for the second part.
UNARY = """
    abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan
    atanh ceil cos cosh deg2rad exp exp2 expm1 floor log log10 log1p log2 negative
    rad2deg reciprocal sign sin sinh sqrt square tan tanh trunc bitwise_not logical_not
"""
QUESTIONS = "isfinite isinf isnan signbit positive frexp"
BINARY = """
    arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor copysign divide float_power floor_divide fmod gcd heaviside hypot lcm
    ldexp multiply nextafter remainder subtract true_divide logical_and logical_or
    logical_xor
"""
RELATIONS = """
    fmax fmin greater greater_equal less less_equal logaddexp logaddexp2 maximum minimum
    not_equal
"""
# PyTorch's name -> ours
RENAMED = {
    "add": _add,
    "clamp": clamp,
    "div": div,
    "fix": elementwise.fix,
    "mul": mul,
    "nan_to_num": elementwise.nan_to_num,
    "neg": neg,
    "pow": pointwise.raised,
    "relu": relu,
    "rsqrt": rsqrt,
    "sgn": pointwise.sign,
    "sigmoid": sigmoid,
    "sinc": elementwise.sinc,
    "sub": sub,
}
RENAMED_ONLY = {
    "amax": METHODS["max"],
    "amin": METHODS["min"],
    "angle": elementwise.angle,
    "clamp_max": pointwise.minimum,
    "clamp_min": pointwise.maximum,
    "eq": pointwise.equal,
    "ge": pointwise.greater_equal,
    "gt": pointwise.greater,
    "isclose": elementwise.isclose,
    "isneginf": elementwise.isneginf,
    "isposinf": elementwise.isposinf,
    "isreal": elementwise.isreal,
    "le": pointwise.less_equal,
    "lt": pointwise.less,
    "ne": pointwise.not_equal,
}


def _in_place(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def change(self: Any, *args: Any, **options: Any) -> Any:
        function(self, *args, **options, out=self)
        return self

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = f"""As `{name}`, in place: the tensor keeps its layout and dtype.

    Returns
    -------
    Tensor or DTensor
        This one.
    """
    return change


def _register() -> None:
    inside = {name: getattr(pointwise, name) for name in f"{UNARY} {BINARY}".split()}
    only = {
        name: getattr(pointwise, name) for name in f"{QUESTIONS} {RELATIONS}".split()
    }
    inside |= RENAMED
    METHODS.update(inside | only | RENAMED_ONLY)
    inside["round"] = elementwise.round
    for name, function in inside.items():
        method(_in_place(function, name), name=f"{name}_")


_register()


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
    dtype = self.dtype if dtype is None else np.dtype(dtype)
    if dtype == self.dtype:
        return clone(self) if copy else self
    return elementwise.astype(self, dtype)


def _is_dtype(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
        return False
    return name != DEVICE


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


CASTS = {
    "bool": "bool",
    "byte": "uint8",
    "cdouble": "complex128",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}
for _name, _dtype in CASTS.items():
    _cast(_name, _dtype)


@method
def clone(self: Any, *, memory_format: Any = None) -> Any:
    """Return a copy with memory of its own, in the same layout."""
    return elementwise.copy(self)


@method
@operator
def contiguous(x: Operand, *, memory_format: Any = None) -> Answer:
    """Return the tensor with each rank's part in C order; memory is shared if it is."""
    return broadcast([x], "any"), call(np.asarray, x, order="C"), x.dtype


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
    np.copyto(self, src, casting="unsafe")
    return self


@method
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
    result = elementwise.where(_mask(mask), value, self)
    if result.dtype == self.dtype:
        return result
    return elementwise.astype(result, self.dtype, casting="same_kind")


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
    return elementwise.where(condition, self, other)


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
    def new(self: Any, *size: Any, dtype: Any = None, **options: Any) -> Any:
        return function(self, dtype=dtype, shape=_size(size), **options)

    new.__name__ = new.__qualname__ = name
    new.__doc__ = f"""Return a tensor {what}, on the same mesh.

    Parameters
    ----------
    *size : int
        The shape: cut as this tensor if it is the same, else replicated.
    dtype : dtype_like, optional
        Default: that of this tensor.
    **options
        `device_mesh` and `placements`, as of `zeros_like`.
    """
    method(new)


_new("new_zeros", np.zeros_like, "full of zeros")
_new("new_ones", np.ones_like, "full of ones")
_new("new_empty", np.empty_like, "whose elements are arbitrary")


@method
def new_full(
    self: Any, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any
) -> Any:
    """Return a tensor full of a value, on the same mesh: parameters as of `new_zeros`."""
    size = _size((size,))
    return np.full_like(self, fill_value, dtype=dtype, shape=size, **options)


@method(name="__format__")
def _format(self: Any, spec: str, /) -> str:
    """Format a tensor without dims as the number that it is, which is collective.

    An empty `spec` gives ``str(self)``, and sends nothing.

    Raises
    ------
    TypeError
        If there is a `spec` and there are dims.
    """
    if not spec:
        return str(self)
    return (
        format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)
    )


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
    return round(self.item()) if ndigits is None else elementwise.round(self, ndigits)
