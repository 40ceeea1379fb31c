"""What PyTorch refuses and NumPy takes: looks at the arguments of a call, by its name.

A check gets the arguments of the call and raises what PyTorch raises, on all ranks.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.torch._types import torch_dtype

__all__ = ["CHECKS", "kind", "legacy", "no_number", "of", "within"]

CHECKS: dict[str, Callable[..., Any]] = {}


def of(names: str) -> Callable[..., Any]:
    """Return a decorator that makes a function the check of some names; it gets the
    name that is called first."""

    def keep(check: Callable[..., Any]) -> Callable[..., Any]:
        CHECKS.update({n: functools.partial(check, n) for n in names.split()})
        return check

    return keep


def kind(x: Any) -> str:
    return np.dtype(x.dtype).kind if isinstance(x, Tensor) else ""


def legacy(x: Any) -> str:
    return torch_dtype(x.dtype).legacy


def _refused(name: str, argument: str, place: int, x: Any, wanted: str) -> TypeError:
    at = f" (position {place})" if place else ""
    return TypeError(
        f"{name}(): argument {argument!r}{at} must be {wanted}, not {type(x).__name__}"
    )


def no_number(name: str, argument: str, place: int, x: Any) -> None:
    if isinstance(x, int | float | complex):
        raise _refused(name, argument, place, x, "Tensor")


def within(input: Any, dim: Any) -> None:
    n = max(getattr(input, "ndim", 0), 1)
    if isinstance(dim, int) and not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but "
            f"got {dim})"
        )


# --- shapes and numbers ---------------------------------------------------------------


@of("meshgrid")
def _vectors(name: str, *tensors: Any, indexing: Any = None) -> None:
    one = len(tensors) == 1 and not isinstance(tensors[0], Tensor)
    for x in tensors[0] if one else tensors:
        if getattr(x, "ndim", 0) > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got "
                f"one of shape {list(x.shape)}"
            )


@of("cartesian_prod combinations")
def _rows(name: str, *tensors: Any, **options: Any) -> None:
    for x in tensors:
        if isinstance(x, Tensor) and x.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")


@of("bucketize")
def _boundaries(name: str, input: Any, boundaries: Any, **options: Any) -> None:
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})"
        )


@of("searchsorted")
def _sorted(name: str, sorted_sequence: Any, input: Any, **options: Any) -> None:
    old, new = tuple(sorted_sequence.shape), tuple(np.shape(input))
    if len(old) > 1 and old[:-1] != new[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the "
            "first N-1 dimensions of boundaries tensor and input value tensor must "
            f"match, but we got boundaries tensor {list(old)} and input value tensor "
            f"{list(new)}"
        )


@of("cross")
def _three(name: str, input: Any, other: Any, dim: Any = None) -> None:
    if input.ndim != other.ndim:
        raise RuntimeError(
            "linalg.cross: inputs must have the same number of dimensions."
        )
    n = input.shape[dim] if isinstance(dim, int) else 3
    if n != 3:
        raise RuntimeError(f"inputs dimension {dim} must have length 3. Got {n}")


@of("vdot")
def _two(name: str, input: Any, other: Any) -> None:
    if (input.ndim, other.ndim) != (1, 1):
        raise RuntimeError(
            f"1D tensors expected, but got {input.ndim}D and {other.ndim}D tensors"
        )


@of("cdist")
def _columns(name: str, x1: Any, x2: Any, *args: Any, **options: Any) -> None:
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            "X1 and X2 must have the same number of columns. "
            f"X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )


@of("renorm")
def _slices(name: str, input: Any, *args: Any, **options: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions"
        )


@of("resize_")
def _sizes(name: str, input: Any, *sizes: Any, **options: Any) -> None:
    shape = sizes[0] if len(sizes) == 1 and np.iterable(sizes[0]) else sizes
    if any(n < 0 for n in shape):
        raise RuntimeError(f"negative size in {list(shape)}")


@of("tril_indices triu_indices")
def _triangle(name: str, row: int, col: int, *args: Any, **options: Any) -> None:
    for which, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{which} must be non-negative, got{n}")


@of("arange range")
def _step(
    name: str, start: Any, end: Any = None, step: Any = 1, **options: Any
) -> None:
    start, end = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


# --- tensors, and their dtypes --------------------------------------------------------


@of("cat concat concatenate stack hstack vstack dstack column_stack row_stack")
def _several(name: str, tensors: Any = (), *args: Any, **options: Any) -> None:
    if isinstance(tensors, Tensor):
        raise _refused(name, "tensors", 1, tensors, "tuple of Tensors")
    for place, x in enumerate(tensors):
        if not isinstance(x, Tensor | np.ndarray):
            raise TypeError(
                f"expected Tensor as element {place} in argument 0, but got "
                f"{type(x).__name__}"
            )


@of("block_diag")
def _blocks(name: str, *tensors: Any) -> None:
    _several(name, tensors)


@of("kron equal")
def _tensors(name: str, input: Any, other: Any, *args: Any, **options: Any) -> None:
    if not isinstance(other, Tensor):
        raise _refused(name, "other", 2, other, "Tensor")


@of("masked_select masked_scatter masked_scatter_")
def _mask(name: str, input: Any, mask: Any, *args: Any, **options: Any) -> None:
    no_number(name, "mask", 2, mask)
    if kind(mask) not in "b":
        raise RuntimeError(f"{name}: expected BoolTensor for mask")


@of("argmax argmin max min aminmax amax amin mode kthvalue")
def _elements(name: str, input: Any, *args: Any, **options: Any) -> None:
    if not isinstance(input, Tensor):
        return
    if kind(input) == "c":
        raise NotImplementedError(f"{name} not implemented for {legacy(input)!r}")
    place = 1 if name == "kthvalue" else 0
    given = options.get("dim", args[place] if len(args) > place else None)
    for dim in given if isinstance(given, tuple | list) else (given,):
        if not isinstance(dim, int) or isinstance(dim, bool):
            return
        if -input.ndim <= dim < input.ndim and input.shape[dim] == 0:
            raise IndexError(
                f"{name}(): Expected reduction dim {dim} to have non-zero size."
            )


@of("argmax argmin")
def _some(name: str, input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    if kind(input) == "c":
        raise RuntimeError(f"{name}(): does not support complex input")
    if dim is None and isinstance(input, Tensor) and 0 in input.shape:
        raise IndexError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    _elements(name, input, dim)


@of("softmax log_softmax logcumsumexp")
def _floats(
    name: str, input: Any, dim: Any = None, dtype: Any = None, **options: Any
) -> None:
    refused = dtype is None and kind(input) in set("bui")
    if refused or name == "logcumsumexp":  # the others say it themselves
        within(input, dim)
    if refused:
        raise NotImplementedError(f"{name} not implemented for {legacy(input)!r}")


@of("quantile nanquantile")
def _reals(name: str, input: Any, q: Any, *args: Any, **options: Any) -> None:
    if isinstance(input, Tensor) and legacy(input) not in ("Float", "Double"):
        raise RuntimeError(
            f"{name}() input tensor must be either float or double dtype"
        )
    if isinstance(input, Tensor) and 0 in input.shape:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if np.ndim(q) > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")


@of("prod cumsum cumprod cummax cummin")
def _one(name: str, input: Any, dim: Any = None, *args: Any, **options: Any) -> None:
    if isinstance(dim, list | tuple):
        raise _refused(name, "dim", 0, dim, "int")


@of("complex polar")
def _alike(name: str, real: Any, imag: Any, **options: Any) -> None:
    names = legacy(real), legacy(imag)
    if set(names) - {"Half", "Float", "Double"}:
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{names[0]} and {names[1]}"
        )
    if names[0] != names[1]:
        raise RuntimeError(
            f"Expected object of scalar type {names[0]} but got scalar type {names[1]} "
            "for second argument"
        )


@of("view_as_real imag")
def _complex(name: str, input: Any) -> None:
    if isinstance(input, Tensor) and kind(input) != "c":
        raise RuntimeError(
            "view_as_real is only supported for complex tensors"
            if name == "view_as_real"
            else "imag is not implemented for tensors with non-complex dtypes."
        )


@of("view_as_complex")
def _pairs(name: str, input: Any) -> None:
    if legacy(input) not in ("Half", "Float", "Double"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but "
            f"got a tensor of scalar type: {legacy(input)}"
        )
    if not input.ndim or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")


@of("bincount")
def _counts(name: str, input: Any, *args: Any, **options: Any) -> None:
    if kind(input) not in set("bui"):
        raise NotImplementedError(
            f'"bincount_cpu" not implemented for {legacy(input)!r}'
        )


@of("multinomial")
def _chances(name: str, input: Any, *args: Any, **options: Any) -> None:
    if kind(input) not in "fV":
        raise RuntimeError("multinomial only supports floating-point dtypes")
