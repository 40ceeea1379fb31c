"""What PyTorch refuses and NumPy takes: looks at the arguments of a call, by its name.

A check gets the arguments of the call and raises what PyTorch raises, on all ranks.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.torch._types import torch_dtype

__all__ = ["CHECKS"]

CHECKS: dict[str, Callable[..., Any]] = {}


def _of(names: str) -> Callable[..., Any]:
    """Return a decorator that makes a function the check of some names."""

    def keep(check: Callable[..., Any]) -> Callable[..., Any]:
        CHECKS.update(dict.fromkeys(names.split(), check))
        return check

    return keep


def _kind(x: Any) -> str:
    return np.dtype(x.dtype).kind if isinstance(x, Tensor) else ""


def _name(x: Any) -> str:
    return torch_dtype(x.dtype).legacy


def _no_number(name: str, x: Any) -> None:
    if isinstance(x, int | float | complex):
        raise TypeError(f"argument {name!r} must be Tensor, not {type(x).__name__}")


@_of("tril triu tril_ triu_")
def _matrices(input: Any, *args: Any, **options: Any) -> None:
    if isinstance(input, Tensor) and input.ndim < 2:
        raise RuntimeError("input tensor must have at least 2 dimensions")


@_of("split")
def _lengths(tensor: Any, split_size: Any = 0, *args: Any, **options: Any) -> None:
    if isinstance(split_size, int) and split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )


@_of("meshgrid")
def _vectors(*tensors: Any, indexing: Any = None) -> None:
    one = len(tensors) == 1 and not isinstance(tensors[0], Tensor)
    if any(getattr(x, "ndim", 0) > 1 for x in (tensors[0] if one else tensors)):
        raise RuntimeError("Expected 0D or 1D tensors in the tensor list")


@_of("cat concat concatenate stack hstack vstack dstack column_stack row_stack")
def _several(tensors: Any = (), *args: Any, **options: Any) -> None:
    if isinstance(tensors, Tensor):
        raise TypeError("argument 'tensors' must be tuple of Tensors, not Tensor")


@_of("kron")
def _tensors(input: Any, other: Any, *args: Any, **options: Any) -> None:
    if not isinstance(other, Tensor):
        raise TypeError(f"argument 'other' must be Tensor, not {type(other).__name__}")


@_of("masked_select masked_scatter masked_scatter_")
def _mask(input: Any, mask: Any, *args: Any, **options: Any) -> None:
    _no_number("mask", mask)
    if _kind(mask) not in "b":
        raise RuntimeError("expected BoolTensor for mask")


@_of("argmax argmin max min aminmax")
def _elements(input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    if not isinstance(input, Tensor):
        return
    if _kind(input) == "c":
        raise NotImplementedError(f"not implemented for {_name(input)!r}")
    if not isinstance(dim, int) or isinstance(dim, bool) or not input.ndim:
        return
    if -input.ndim <= dim < input.ndim and input.shape[dim] == 0:
        raise IndexError(f"Expected reduction dim {dim} to have non-zero size.")


@_of("argmax argmin")
def _some(input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    if dim is None and isinstance(input, Tensor) and 0 in input.shape:
        raise IndexError("Expected reduction dim to be specified for an empty tensor.")
    _elements(input, dim)


@_of("softmax log_softmax logcumsumexp")
def _floats(input: Any, dim: Any = None, dtype: Any = None, **options: Any) -> None:
    if dtype is None and _kind(input) in set("bui"):
        raise NotImplementedError(f"not implemented for {_name(input)!r}")


@_of("quantile nanquantile")
def _reals(input: Any, *args: Any, **options: Any) -> None:
    if isinstance(input, Tensor) and _name(input) not in ("Float", "Double"):
        raise RuntimeError("input tensor must be either float or double dtype")


@_of("prod cumsum cumprod cummax cummin")
def _one(input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    if isinstance(dim, list | tuple):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")


@_of("arange range")
def _step(start: Any, end: Any = None, step: Any = 1, **options: Any) -> None:
    start, end = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


@_of("complex polar")
def _alike(real: Any, imag: Any, **options: Any) -> None:
    if _name(real) != _name(imag):
        raise RuntimeError(
            f"Expected object of scalar type {_name(real)} but got scalar type "
            f"{_name(imag)} for second argument"
        )


@_of("view_as_real")
def _complex(input: Any) -> None:
    if _kind(input) != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")


@_of("view_as_complex")
def _pairs(input: Any) -> None:
    if not input.ndim or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")


@_of("bincount")
def _counts(input: Any, *args: Any, **options: Any) -> None:
    if _kind(input) not in set("bui"):
        raise NotImplementedError(f"bincount not implemented for {_name(input)!r}")


@_of("index_select index_add index_add_ index_copy index_copy_")
def _index_along(input: Any, dim: Any, index: Any, *args: Any, **options: Any) -> None:
    _no_number("index", index)
    if isinstance(index, Tensor) and _kind(index) not in "iu":
        raise RuntimeError(
            f"Expected dtype int32/int64 for index but got {_name(index)}"
        )


@_of("take put put_")
def _index(
    input: Any, index: Any, source: Any = None, *args: Any, **options: Any
) -> None:
    _index_along(input, 0, index)
    _no_number("source", source)


@_of("scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_")
def _source(input: Any, *args: Any, **options: Any) -> None:
    given = options.get("src", args[2] if len(args) > 2 else None)
    if isinstance(given, Tensor) and given.dtype != input.dtype:
        raise RuntimeError("Expected self.dtype to be equal to src.dtype")


@_of("cross")
def _three(input: Any, other: Any, dim: Any = None) -> None:
    n = input.shape[dim] if isinstance(dim, int) else 3
    if n != 3:
        raise RuntimeError(f"inputs dimension {dim} must have length 3. Got {n}")


@_of("resize_")
def _sizes(input: Any, *sizes: Any, **options: Any) -> None:
    shape = sizes[0] if len(sizes) == 1 and np.iterable(sizes[0]) else sizes
    if any(n < 0 for n in shape):
        raise RuntimeError(f"negative size in {list(shape)}")


@_of("unfold")
def _windows(input: Any, dimension: int, size: int, step: int) -> None:
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")


@_of("multinomial")
def _chances(input: Any, *args: Any, **options: Any) -> None:
    if _kind(input) not in "fV":
        raise RuntimeError("multinomial only supports floating-point dtypes")
