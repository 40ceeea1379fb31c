"""Methods about the memory of a tensor, and those that fill it with random numbers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.composite import within
from dtensor.ops._make.operator import METHODS
from dtensor.ops.index.write import writing
from dtensor.torch._attributes import data_ptr
from dtensor.torch._dtypes import channels_last, channels_last_3d, contiguous_format
from dtensor.torch._matrix import adjoint
from dtensor.torch._numbers import fitted
from dtensor.torch._types import numpy_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["ATTRIBUTES", "TABLE"]


def fill_(self: Any, value: Any) -> Any:
    """Set all elements to one number, and return this tensor.

    Of a Partial the addend of each rank is set, as in PyTorch: a sum over n ranks is
    then n times the number.
    """
    value = fitted(value, self.dtype)
    METHODS["fill_"](self, value)
    if isinstance(self, _C.DTensor) and self.layout.is_partial:
        METHODS["fill_"](self.detach().to_local(), value)
    return self


_LAST = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}


def is_contiguous(self: Any, memory_format: Any = contiguous_format) -> bool:
    """Return whether this rank's array has no gaps, in the order of the format.

    Raises
    ------
    TypeError
        If it is no format.
    """
    if not isinstance(memory_format, type(contiguous_format)):
        raise TypeError(
            "is_contiguous(): argument 'memory_format' must be torch.memory_format, "
            f"not {type(memory_format).__name__}"
        )
    order = _LAST.get(memory_format)
    if order is None:
        return bool(_C.Tensor.is_contiguous(self))
    if self.ndim != len(order):
        return False
    return bool(_C.Tensor.is_contiguous(ops.permute_dims(self.detach(), order)))


# --- other shapes of the same memory --------------------------------------------------


def _places(self: Any, size: Any, stride: Any, offset: int | None) -> Any:
    """Return where the elements of strides lie in the flattened tensor.

    Raises
    ------
    RuntimeError
        If they are not all in it.
    """
    index: Any = np.asarray(offset or 0)
    for n, step in zip(size, stride, strict=True):
        index = index[..., None] + np.arange(n) * step
    if index.size and not 0 <= index.max() < self.numel():
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
            f"{offset or 0} are out of bounds for a tensor of {self.numel()} elements"
        )
    return index


def as_strided(
    self: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """Return the elements at strides of the flattened tensor; a copy."""
    index = _places(self, size, stride, storage_offset)
    return ops.getitem(ops.ravel(self), (index,))


def as_strided_scatter(
    self: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """Return the tensor with `src` at strides of the flattened elements."""
    index = _places(self, size, stride, storage_offset)
    flat = ops.copy(ops.ravel(self))
    ops.setitem(flat, (index,), src)
    return ops.reshape(flat, tuple(self.shape))


def as_strided_(
    self: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Any:
    """As `as_strided`, of this object; not recorded."""
    return set_(self, as_strided(self.detach(), size, stride, storage_offset))


def set_(self: Any, source: Any = None, *ignored: Any) -> Any:
    """Take the memory of another tensor, or be empty, and return this tensor.

    Raises
    ------
    RuntimeError
        If the dtype is another one.
    """
    if source is None:
        source = ops.empty_like(self.detach(), shape=(0,))
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {source.dtype} to a tensor of type "
            f"{self.dtype}"
        )
    self.data = source.detach()
    return self


def resize_(self: Any, *sizes: Any, memory_format: Any = None) -> Any:
    """Change the shape; elements stay in their order, and new ones are 0."""
    shape = tuple(sizes[0]) if len(sizes) == 1 and np.iterable(sizes[0]) else sizes
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    count, have = math.prod(shape), int(self.numel())
    flat = ops.getitem(ops.ravel(self), slice(0, min(count, have)))
    if count > have:
        flat = ops.pad(flat, (0, count - have))
    return set_(self, ops.reshape(flat, shape))


def resize_as_(self: Any, the_template: Any, memory_format: Any = None) -> Any:
    """Change the shape to that of another tensor: see `resize_`."""
    return resize_(self, tuple(the_template.shape))


def resize(self: Any, *sizes: Any) -> Any:
    """Return the elements in another shape of as many."""
    shape = tuple(sizes[0]) if len(sizes) == 1 and np.iterable(sizes[0]) else sizes
    return ops.reshape(self, shape)


def is_set_to(self: Any, tensor: Any) -> bool:
    """Return whether this rank's elements are those of another tensor."""
    alike = tuple(self.shape) == tuple(tensor.shape)
    return alike and data_ptr(self) == data_ptr(tensor)


def new(self: Any, *sizes: Any) -> Any:
    """Return a new tensor of this dtype, of a shape or with data."""
    if len(sizes) == 1 and isinstance(sizes[0], list | np.ndarray):
        found: Any = _C.tensor(sizes[0], numpy_dtype(self.dtype))
        return _C.into_torch(found)
    return self.new_empty(*(sizes or ((0,),)))


def new_empty_strided(self: Any, size: Any, stride: Any, **options: Any) -> Any:
    """Return a new tensor of a size; strides are those of a contiguous one."""
    return self.new_empty(tuple(size), **options)


# --- functions of the user's ----------------------------------------------------------


def _refuse_recorded(name: str, *tensors: Any) -> None:
    if any(x.requires_grad for x in tensors):
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use "
            f"var.detach().{name}() instead."
        )


def _type_of(x: Any) -> Any:
    return x.type()


def _operand(name: str, self: Any, which: str, place: int, x: Any) -> Any:
    """Return another tensor in the shape and layout of the first.

    Raises
    ------
    TypeError
        If it is no tensor, or of another dtype, or only one of them is a DTensor.
    """
    if not isinstance(x, _C.Tensor):
        raise TypeError(
            f"{name}(): argument '{which}' (position {place}) must be Tensor, not "
            f"{type(x).__name__}"
        )
    if isinstance(x, _C.DTensor) != isinstance(self, _C.DTensor):
        raise TypeError(f"{name}: mixed Tensor and DTensor: distribute both, or none")
    if x.dtype != self.dtype:
        what = f"'{which}'" if name == "map_" else f"argument '{which}'"
        wanted, got = (_type_of(each) for each in (self, x))
        raise TypeError(f"{name}: expected {wanted} for {what} (got {got})")
    whole = METHODS["expand"](x.detach(), tuple(self.shape))
    if not isinstance(self, _C.DTensor):
        return whole
    return whole.redistribute(self.device_mesh, self.placements)


def _local(x: Any) -> Any:
    bare = x.detach()
    return bare.to_local() if isinstance(bare, _C.DTensor) else bare


_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "b": bool,
    "i": int,
    "u": int,
    "c": complex,
}


def _mapped(
    name: str, function: Callable[..., Any], self: Any, others: tuple[Any, ...]
) -> Any:
    """Replace each element of this rank by a function of it and of those of others."""
    if self.device == "meta":
        return self
    if isinstance(self, _C.DTensor) and self.layout.is_partial:
        raise RuntimeError(f"{name}: the DTensor is Partial: redistribute it first")
    number = _NUMBERS.get(np.dtype(self.dtype).kind, float)

    def call(*tensors: Any) -> Any:
        found = [function(*xs) for xs in zip(*tensors, strict=True)]
        for x in found:
            if isinstance(x, str):
                raise TypeError("must be real number, not str")
        return [number(x) for x in found]

    def all_elements(*tensors: Any) -> Any:
        return call(*(ops.ravel(_local(x)).tolist() for x in tensors))

    with within(name, self, function), writing(self):
        flat = _C.carried(name, all_elements, (self, *others), {})
        local = _local(self)
        METHODS["copy_"](local, np.array(flat, local.dtype).reshape(local.shape))
        _C.written(self, name, function)
    return self


def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
    """Replace each element of this rank by what a function makes of it."""
    _refuse_recorded("apply_", self)
    return _mapped("apply_", callable, self, ())


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Set the diagonal to one number, and return this tensor."""
    ops.fill_diagonal(self, fill_value, wrap)
    return self


def map_(self: Any, other: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """Replace each element of this rank by a function of it and of one of `other`.

    Parameters
    ----------
    other : Tensor or DTensor
        Of the same dtype, and of a shape that broadcasts to that of this tensor. Of a
        DTensor it gets the layout, which may send it.
    callable : callable
        ``callable(own, others)`` gets Python's numbers, and returns one.

    Raises
    ------
    RuntimeError
        If one of them requires a gradient, or the shape does not broadcast.
    TypeError
        If `other` is no tensor, or of another dtype.
    """
    found = _operand("map_", self, "other", 1, other)
    _refuse_recorded("map_", self, other)
    return _mapped("map_", callable, self, (found,))


def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
    """Replace each element by a function of it and of those of two tensors.

    As `map_`, of which `x` and `y` are the others.
    """
    found = _operand("map2_", self, "x", 1, x), _operand("map2_", self, "y", 2, y)
    _refuse_recorded("map2_", self, x, y)
    return _mapped("map2_", callable, self, found)


# --- random numbers -------------------------------------------------------------------


def _drawn(self: Any, generator: Any) -> Any:
    """Fill with uniform numbers of (0, 1]."""
    self.uniform_(generator=generator)
    return 1 - self.detach()


def cauchy_(
    self: Any, median: float = 0, sigma: float = 1, *, generator: Any = None
) -> Any:
    """Fill with numbers of the Cauchy distribution; not those that PyTorch draws."""
    u = _drawn(self, generator)
    return METHODS["copy_"](self, median + sigma * ops.tan(math.pi * (u - 0.5)))


def geometric_(self: Any, p: float, *, generator: Any = None) -> Any:
    """Fill with numbers of trials up to the first success, of probability `p`.

    Raises
    ------
    RuntimeError
        If `p` is not between 0 and 1.
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    floats = ops.zeros_like(self.detach(), dtype=np.float64)
    u = _drawn(floats, generator)
    found = ops.maximum(ops.ceil(ops.log(u) * (1 / math.log1p(-p))), 1)
    return METHODS["copy_"](self, found)


def log_normal_(
    self: Any, mean: float = 1, std: float = 2, *, generator: Any = None
) -> Any:
    """Fill with exponentials of normal numbers; not those that PyTorch draws."""
    self.normal_(mean, std, generator=generator)
    return METHODS["copy_"](self, ops.exp(self.detach()))


def _false(self: Any) -> bool:
    """Return False: there are no such tensors here."""
    return False


TABLE: dict[str, Any] = {
    function.__name__: function
    for function in (
        apply_,
        as_strided,
        as_strided_,
        as_strided_scatter,
        cauchy_,
        fill_,
        fill_diagonal_,
        geometric_,
        is_contiguous,
        is_set_to,
        log_normal_,
        map2_,
        map_,
        new,
        new_empty_strided,
        resize,
        resize_,
        resize_as_,
        set_,
    )
}
TABLE |= {f"is_{what}": _false for what in "conj neg inference distributed".split()}
TABLE |= {
    "const_data_ptr": data_ptr,
    "resize_as": lambda self, x: resize(self, x.shape),
}
ATTRIBUTES = {
    "H": property(adjoint, doc="The conjugate transpose of a matrix."),
    "mH": property(adjoint, doc="The conjugate transpose of the last two dims."),
}
