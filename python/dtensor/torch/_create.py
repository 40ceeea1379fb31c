"""New tensors of this rank: ``torch.zeros`` and the like make `Tensor`s, not DTensors.

The functions of the same names in `dtensor.torch.distributed.tensor` make DTensors.
Ranks that make the same draws get the same random numbers: see `dtensor.random`.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C, ops
from dtensor._core import device as _device
from dtensor.ops.random import arrays as _random
from dtensor.random import Generator, default_generator
from dtensor.torch._numbers import fitted, made_of
from dtensor.torch._promotion import bare
from dtensor.torch._rows import in_rows
from dtensor.torch._steps import spaced, spaced_floats
from dtensor.torch._types import numpy_dtype, takes

__all__ = [
    "arange",
    "as_tensor",
    "asarray",
    "bernoulli",
    "empty",
    "eye",
    "from_numpy",
    "full",
    "linspace",
    "logspace",
    "normal",
    "ones",
    "rand",
    "randint",
    "randn",
    "randperm",
    "tensor",
    "tril_indices",
    "triu_indices",
    "zeros",
]

Fill = Callable[[Any], Any]

bernoulli = _random.bernoulli


# --- from data ------------------------------------------------------------------------


def _on(x: _C.Tensor, device: str | None, requires_grad: bool = False) -> _C.Tensor:
    if _device.kind_of(device) == "meta":
        x = _device.empty_like(x, device="meta")
    x = _C.into_torch(x)
    return x.requires_grad_() if requires_grad else x


def tensor(
    data: Any,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> _C.Tensor:
    """Return a tensor with a copy of data.

    Parameters
    ----------
    data : array_like
    dtype : dtype_like, optional
        Default: that of an array; for Python floats, `get_default_dtype`.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    requires_grad : bool, default False
        Whether operations on it are recorded.
    pin_memory : bool
        Ignored.
    """
    return _on(made_of(_C.tensor, data, dtype), device, requires_grad)


def as_tensor(
    data: Any, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> _C.Tensor:
    """Return a tensor that shares the memory of data if possible: see `tensor`."""
    if isinstance(data, _C.Tensor) and dtype is None and device is None:
        return data.as_torch()
    return _on(made_of(_C.as_tensor, data, dtype), device)


def asarray(
    obj: Any,
    *,
    dtype: npt.DTypeLike | None = None,
    device: str | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> _C.Tensor:
    """Return a tensor of an object, with a copy or without: see `tensor`."""
    make = _C.tensor if copy else _C.as_tensor
    return _on(made_of(make, obj, dtype), device, requires_grad)


def from_numpy(ndarray: npt.NDArray[Any]) -> _C.Tensor:
    """Return a tensor that shares the memory of an array.

    Raises
    ------
    TypeError
        If it is not a NumPy array.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return _on(_C.as_tensor(ndarray), None)


# --- from a shape ---------------------------------------------------------------------


def _new(
    size: Sequence[Any],
    fill: Fill,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> _C.Tensor:
    """Return a tensor filled by `fill`; the size is given as numbers or as one list."""
    if len(size) == 1 and np.iterable(size[0]):
        size = tuple(size[0])
    x = _device.empty(size, numpy_dtype(dtype), device)
    if not _device.is_meta(x):
        fill(x)
    made: _C.Tensor = _C.into_torch(x)
    return made.requires_grad_() if requires_grad else made


def _sized(size: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Return the lengths that are given, or those of ``size=``, which is taken out."""
    if "size" not in options:
        return size
    if size:
        raise TypeError("the size is given twice: by position, and as `size`")
    return (options.pop("size"),)


def _made(
    size: tuple[Any, ...], value: Any, fill: Fill, options: dict[str, Any]
) -> _C.Tensor:
    """Return a tensor of a number (False: 0; None: until `fill` has filled it)."""
    if not options and _device.kind_of(None) == "cpu":
        one = len(size) == 1 and type(size[0]) in (tuple, list)
        made = _C.filled(tuple(size[0]) if one else size, value)
        if made is not None:
            if value is None:
                fill(made)
            return made
    return _new(_sized(size, options), fill, **options)


def filler(value: Any) -> Fill:
    """Return what sets all elements of a new tensor to one number."""
    plain = type(value) in (int, float) and not 6e4 < abs(value) < math.inf

    def fill(x: Any) -> None:
        array = None if isinstance(x, _C.DTensor) or not plain else _C.Tensor.numpy(x)
        if array is not None and (array.dtype.kind == "f" or value in (0, 1)):
            array.fill(value)
        else:
            x.fill_(fitted(value, x.dtype))

    return fill


_ZEROS, _ONES = filler(0), filler(1)


@takes(_new)
def empty(*size: Any, **options: Any) -> _C.Tensor:
    """Return a tensor whose elements are arbitrary.

    Parameters
    ----------
    *size : int, or one sequence of int
        The shape; also ``size=`` a sequence.
    **options
        `dtype` (default: `get_default_dtype`), `device` (``"cpu"`` or ``"meta"``; by
        default that of the ``with device(...):`` block) and `requires_grad` (default:
        False). `layout`, `pin_memory` and `memory_format` are ignored.

    Raises
    ------
    RuntimeError
        If there is no such device.
    """
    return _made(size, None, lambda x: x, options)


@takes(_new)
def zeros(*size: Any, **options: Any) -> _C.Tensor:
    """Return a tensor of zeros; arguments as for `empty`."""
    return _made(size, False, _ZEROS, options)


@takes(_new)
def ones(*size: Any, **options: Any) -> _C.Tensor:
    """Return a tensor of ones; arguments as for `empty`."""
    return _made(size, 1, _ONES, options)


@takes(_new)
def full(size: Sequence[int], fill_value: Any, **options: Any) -> _C.Tensor:
    """Return a tensor of one value, by default in its dtype: see `empty`."""
    if type(fill_value := bare(fill_value)) is float:
        return _made((size,), fill_value, filler(fill_value), options)
    if options.get("dtype") is None:
        options["dtype"] = _C.tensor(fill_value).dtype
    return _new((size,), filler(fill_value), **options)


@takes(_new)
def eye(n: int, m: int | None = None, **options: Any) -> _C.Tensor:
    """Return a matrix with ones on its diagonal; options as for `empty`."""
    columns = n if m is None else m
    if options:
        return _new((n, columns), lambda x: x.copy_(np.eye(n, columns)), **options)
    made = zeros(n, columns)
    if not _device.is_meta(made):
        np.fill_diagonal(_C.Tensor.numpy(made)[:columns], 1)
    return made


# --- sequences of numbers -------------------------------------------------------------


@takes(_new)
def in_order(
    array: npt.NDArray[Any], default: npt.DTypeLike | None = None, **options: Any
) -> _C.Tensor:
    """Return a tensor of the elements of an array; options as for `empty`."""
    options["dtype"] = options.get("dtype") or default

    def fill(x: _C.Tensor) -> None:
        np.copyto(_C.Tensor.numpy(x), array, casting="unsafe")

    return _new(array.shape, fill, **options)


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, _C.Tensor | np.generic | np.ndarray) else x


@takes(_new)
def arange(start: Any, end: Any = None, step: Any = 1, **options: Any) -> _C.Tensor:
    """Return ``start, start + step, ...`` below `end`: ``arange(n)`` is 0 ... n - 1.

    By default int64 if all arguments are integers. Options as for `empty`.
    """
    start, end = (0, start) if end is None else (start, end)
    start, end, step = _number(start), _number(end), _number(step)
    whole = all(isinstance(n, int) for n in (start, end, step))
    kind = options.get("dtype")
    if not whole and kind is not None and np.dtype(numpy_dtype(kind)).kind in "ui":
        if np.dtype(numpy_dtype(kind)) == np.int64:
            start, end, step = int(start), int(end), int(step)
        count = math.ceil((end - start) / step)  # then all are cut off, as in PyTorch
        return in_order(int(start) + int(step) * np.arange(count), **options)
    return in_order(np.arange(start, end, step), np.int64 if whole else None, **options)


@takes(_new)
def linspace(start: float, end: float, steps: int, **options: Any) -> _C.Tensor:
    """Return `steps` numbers from `start` to `end`, both included: see `empty`."""
    start, end = _number(start), _number(end)
    kind = np.dtype(numpy_dtype(options.get("dtype")) or _C.get_default_dtype())
    if kind in (np.float32, np.float64):
        return in_order(
            spaced_floats(kind.type(start), kind.type(end), steps), **options
        )
    if kind.kind not in "ui":
        return in_order(np.linspace(start, end, steps), **options)
    return in_order(spaced(int(start), int(end), steps, (steps + 1) // 2), **options)


@takes(_new)
def logspace(
    start: float, end: float, steps: int, base: float = 10.0, **options: Any
) -> _C.Tensor:
    """Return powers of `base`, with the exponents of `linspace`; of integers those from
    the whole parts of `start` and `end`, cut off."""
    start, end = _number(start), _number(end)
    kind = options.get("dtype")
    if kind is None or np.dtype(numpy_dtype(kind)).kind not in "ui":
        return in_order(np.logspace(start, end, steps, base=base), **options)
    exponents = spaced(int(start), int(end), steps, steps // 2 or 1)
    return in_order(np.power(float(base), exponents), **options)


@takes(_new)
def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> _C.Tensor:
    """Return the rows and columns of a lower triangle, shape (2, n), as int64."""
    return in_order(np.stack(np.tril_indices(row, offset, col)), np.int64, **options)


@takes(_new)
def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> _C.Tensor:
    """Return the rows and columns of an upper triangle, shape (2, n), as int64."""
    return in_order(np.stack(np.triu_indices(row, offset, col)), np.int64, **options)


# --- random ---------------------------------------------------------------------------


@takes(_new)
def rand(*size: Any, generator: Generator | None = None, **options: Any) -> _C.Tensor:
    """Return uniform numbers in [0, 1).

    Parameters
    ----------
    *size, **options
        As for `empty`.
    generator : Generator, optional
        Default: that of `manual_seed`, which starts equal on all ranks.
    """
    return _made(size, None, lambda x: x.uniform_(generator=generator), options)


@takes(_new)
def randn(*size: Any, generator: Generator | None = None, **options: Any) -> _C.Tensor:
    """Return normal numbers with mean 0 and variance 1; arguments as for `rand`."""
    return _made(size, None, lambda x: x.normal_(generator=generator), options)


@takes(_new)
def randint(
    low: int,
    high: Any = None,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    **options: Any,
) -> _C.Tensor:
    """Return integers from `low` to `high`, without `high`; by default int64.

    Also ``randint(high, size)``. Options as for `rand`.
    """
    if size is None:  # (high, size)
        low, high, size = 0, low, high
    elif high is None:  # (high, size=size)
        low, high = 0, low
    options["dtype"] = options.get("dtype") or np.int64
    return _new((size,), lambda x: x.random_(low, high, generator=generator), **options)


@takes(_new)
def randperm(
    n: int, *, generator: Generator | None = None, **options: Any
) -> _C.Tensor:
    """Return 0 ... n - 1 in random order, by default as int64: see `rand`."""
    stream = default_generator() if generator is None else generator
    return in_order(np.asarray(stream.permutation(n)), np.int64, **options)


@takes(_new)
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return normal numbers with one mean and deviation, or with one for each element.

    Parameters
    ----------
    mean, std : float or tensor
    size : sequence of int, optional
        The shape; to be given if neither is a tensor, and only then.
    generator, **options
        As for `rand`.
    """
    if size is None:
        made = _random.normal(mean, std, generator=generator, **options)
        of = mean if isinstance(mean, _C.Tensor) else std
        made = ops.astype(made, numpy_dtype(of.dtype), copy=False)
        return in_rows(_C.into_torch(made))
    return _new((size,), lambda x: x.normal_(mean, std, generator=generator), **options)
