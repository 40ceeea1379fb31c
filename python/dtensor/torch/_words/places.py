"""Dims, indices and arguments that are not there; sentences that keep their facts."""

import re
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.torch._words.table import Call, says, shapes_in, texts

__all__: list[str] = []


@says(r"(?:\w+: )*axis (-?\d+) is out of bounds for array of dimension (\d+)")
def _dim(call: Call, dim: str, count: str) -> str | None:
    n = max(int(count), 1)
    return (
        f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got "
        f"{dim})"
    )


@says(r"duplicate value in 'axis'")
def _twice(call: Call) -> str | None:
    dims = call.told("dim", 1, call.options.get("axis"))
    if not isinstance(dims, tuple | list) or not call.shapes:
        return None
    dims = [dim % len(call.shapes[0]) for dim in dims]
    dim = next(dim for k, dim in enumerate(dims) if dim in dims[:k])
    return f"dim {dim} appears multiple times in the list of dims"


@says(r"axes don't match array")
def _permuted(call: Call) -> str | None:
    if call.sizes is None or not call.shapes:
        return None
    return (
        "permute(sparse_coo): number of dimensions in the tensor input does not match "
        f"the length of the desired ordering of dimensions i.e. input.dim() = "
        f"{len(call.shapes[0])} is not equal to len(dims) = {len(call.sizes)}"
    )


@says(r"boolean index did not match indexed array along axis (\d+);")
def _masked(call: Call, axis: str) -> str | None:
    index = call.told("index", 1)
    terms = index if isinstance(index, tuple) else (index,)
    masks: list[Any] = [np.asarray(x) for x in terms if isinstance(x, list)]
    masks += [x for x in terms if isinstance(x, Tensor | np.ndarray)]
    shape = next((list(x.shape) for x in masks if x.dtype == np.bool_), None)
    if shape is None or not call.shapes:
        return None
    return (
        f"The shape of the mask {shape} at index 0 does not match the shape of the "
        f"indexed tensor {list(call.shapes[0])} at index {axis}"
    )


@says(
    r"shape mismatch: indexing arrays could not be broadcast together with shapes (.*)"
)
def _places(call: Call, text: str) -> str:
    return (
        "shape mismatch: indexing tensors could not be broadcast together with shapes "
        + ", ".join(str(list(shape)) for shape in shapes_in(text))
    )


@says(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")
def _out_of_bounds(call: Call, index: str, axis: str, size: str) -> str:
    if call.name in ("index_select", "index_reduce"):
        return "index out of range in self"
    if call.name in ("take", "put", "put_"):
        return (
            f"out of range: tried to access index {index} on a tensor of {size} "
            "elements."
        )
    return f"index {index} is out of bounds for dimension {axis} with size {size}"


@says(r"only integers, slices")
def _no_index(call: Call) -> str:
    index = call.told("index", 1)
    terms = index if isinstance(index, tuple) else (index,)
    kinds = (bool, int, slice, type(None), type(...), list, np.ndarray, Tensor)
    wrong = next((x for x in terms if not isinstance(x, kinds)), index)
    return (
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
        f"Variables are valid indices (got {type(wrong).__name__})"
    )


@says(r"([\w.<>]+)\(\) missing (\d+) required positional arguments?: (.*)")
def _missing(call: Call, function: str, count: str, names: str) -> str | None:
    own = function.rpartition(".")[2]
    ours = own in (call.name, "answer", "exchanged", "of_one") or own[0] == "_"
    if not ours:  # a user's, which we have called
        return None
    told = {"axis": "dim", "x2": "other", "x": "input", "x1": "input", "a": "input"}
    listed = [told.get(name, name) for name in re.findall(r"'(\w+)'", names)]
    quoted = ", ".join(f'"{name}"' for name in listed)
    return call.name and (
        f"{call.name}() missing {count} required positional arguments: {quoted}"
    )


@says(r"(?:\w+: )?argument (\d+) is of type (\w+), and no array")
def _no_tensor(call: Call, place: str, kind: str) -> str | None:
    which = " 'input'" if place == "1" else ""
    return call.name and (
        f"{call.name}(): argument{which} (position {place}) must be Tensor, not {kind}"
    )


_TEXTS = {
    r"too many indices for array: array is 0-dimensional": "invalid index of a 0-dim "
    "tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
    "0-dim tensor to a number",
    r"too many indices for array: array is (\d+)-dimensional": "too many indices for "
    "tensor of dimension {0}",
    r"arrays used as indices must be of integer": "tensors used as indices must be "
    "long, int, byte or bool tensors",
    r"repeated axis in transpose": "permute(): duplicate dims are not allowed.",
    r"zero-size array to reduction operation": "{name}(): Expected reduction dim to be "
    "specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
    "argument.",
    r"NumPy boolean array indexing assignment cannot assign (\d+) input values to the "
    r"(\d+) output values": "shape mismatch: value tensor of shape [{0}] cannot be "
    "broadcast to indexing result of shape [{1}]",
    r"Number of samples, -?\d+, must be": "number of steps must be non-negative",
    r"Quantiles must be in": "{name}() q must be in the range [0, 1]",
    r"repeats may not contain negative values": "repeats can not be negative",
    r"Invalid number of FFT data points \((-?\d+)\)": "Invalid number of data points "
    "({0}) specified",
    r"Invalid norm value (\w+);": 'Invalid normalization mode: "{0}"',
    r"m has more than 2 dimensions": "{name}(): expected input to have two or fewer "
    "dimensions",
    r"x must be a one-dimensional array": "x must be a one-dimensional tensor.",
    r"'list' argument must have no negative|object too deep for desired": "bincount "
    "only supports 1-d non-negative integral inputs.",
    r"The weights and list don't": "weights should be 1-d and have the same length as "
    "input",
    r"Input array must be at least 2-dimensional, but it is (\d)": "tensor.mT is only "
    "supported on matrices or batches of matrices. Got {0}-D tensor.",
    r"`bins` must be positive": "torch.{name}(): bins must be > 0",
    r"(\w+) only works on arrays of (\d) or more": "torch.{0} requires a tensor with "
    "at least {1} dimension",
    r"ufunc 'invert' not supported": "~ (operator.invert) is only implemented on "
    "integer and Boolean-type tensors",
    r"only length-1 arrays can be": "only one element tensors can be converted to "
    "Python scalars",
}
texts(_TEXTS)
