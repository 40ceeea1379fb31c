"""Shapes that do not fit each other, or what is to have them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.torch._types import torch_dtype
from dtensor.torch._words.table import Call, Shape, parted, says, shapes_in

__all__: list[str] = []


@says(
    r"operands could not be broadcast together with shapes (.*)",
    r"shape mismatch: objects cannot be broadcast to a single shape\.(.*)",
)
def _broadcast(call: Call, text: str) -> str | None:
    return parted(call.shapes) or parted(shapes_in(text))


@says(r"operands could not be broadcast together with shape (\S+) (\S+)$")
def _repeats(call: Call, whole: str, given: str) -> str | None:
    if call.name not in ("repeat", "repeat_interleave"):
        return None
    return (
        "repeats must have the same size as input along dim, but got repeats.size(0) = "
        f"{shapes_in(given)[0][0]} and input.size({call.told('dim', 2, 0) or 0}) = "
        f"{shapes_in(whole)[0][0]}"
    )


def _widened(shape: Shape, target: Sequence[int], dtype: Any) -> str | None:
    """Say why a shape cannot be expanded to another."""
    if len(shape) > len(target):
        return (
            f"expand(torch.{torch_dtype(dtype).legacy}Tensor{{{list(shape)}}}, "
            f"size={list(target)}): the number of sizes provided ({len(target)}) must "
            "be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    for dim in reversed(range(len(target))):
        old = shape[dim - len(target)] if dim >= len(target) - len(shape) else 0
        if target[dim] == -1 and not old:
            return (
                "The expanded size of the tensor (-1) isn't allowed in a leading, "
                f"non-existing dimension {dim}"
            )
        if old > 1 and target[dim] not in (-1, old):
            return (
                f"The expanded size of the tensor ({target[dim]}) must match the "
                f"existing size ({old}) at non-singleton dimension {dim}.  Target "
                f"sizes: {list(target)}.  Tensor sizes: {list(shape)}"
            )
    return None


@says(
    r"operands could not be broadcast together with remapped shapes "
    r"\[original->remapped\]: (\(\S*\))  and requested shape (\(\S*\))",
    r"(input) operand has (more) dimensions than allowed by the axis remapping",
    r"all (elements) of (broadcast) shape must be non-negative",
)
def _expanded(call: Call, *_: str) -> str | None:
    first, sizes = call.args[0], call.sizes
    if not isinstance(first, Tensor):
        return None
    if sizes is None and len(call.shapes) == 2:
        sizes = list(call.shapes[1])
    return None if sizes is None else _widened(tuple(first.shape), sizes, first.dtype)


@says(r"non-broadcastable output operand with shape (\(.*\)) doesn't match .* (\(.*\))")
def _written(_call: Call, target: str, result: str) -> str:
    [old], [new] = shapes_in(target), shapes_in(result)
    return (
        f"output with shape {list(old)} doesn't match the broadcast shape {list(new)}"
    )


@says(r"could not broadcast input array from shape (\(\S*\)) into shape (\(\S*\))")
def _stored(call: Call, source: str, target: str) -> str | None:
    [old], [new] = shapes_in(source), shapes_in(target)
    if call.name == "setitem" and call.args[1] is not ...:  # which copy_ writes
        return _widened(old, new, getattr(call.args[-1], "dtype", np.float32))
    return parted([new, old]) or (
        f"output with shape {list(new)} doesn't match the broadcast shape "
        f"{list(np.broadcast_shapes(old, new))}"
    )


@says(
    r"shape mismatch: value array of shape (\S+) ?could not be broadcast to "
    r"indexing result of shape (\S+)",
)
def _put(call: Call, value: str, result: str) -> str | None:
    [old], [new] = shapes_in(value), shapes_in(result)
    return (
        f"shape mismatch: value tensor of shape {list(old)} cannot be broadcast to "
        f"indexing result of shape {list(new)}"
    )


@says(
    r"cannot reshape array of size (\d+) into shape \((.*)\)",
    r"can only (specify) one (unknown) dimension",
)
def _reshaped(call: Call, size: str, shape: str) -> str | None:
    sizes = call.sizes
    if sizes is None and len(call.shapes) == 2:
        sizes = list(call.shapes[1])
    wrong = [k for k, n in enumerate(sizes or ()) if n < -1]
    if sizes is not None and wrong:
        return (
            f"invalid shape dimension {sizes[wrong[0]]} at index {wrong[0]} of shape "
            f"{sizes}"
        )
    if sizes is not None and sizes.count(-1) > 1:
        return "only one dimension can be inferred"
    if not size.isdigit():
        return None
    if call.name == "unflatten":
        dim, lengths = call.told("dim", 1), call.told("sizes", 2)
        of = call.shapes[0][dim]
        return (
            f"unflatten: Provided sizes {list(lengths)} don't multiply up to the size "
            f"of dim {dim} ({of}) in the input tensor"
        )
    if sizes is None:
        parts = (part.strip() for part in shape.split(",") if part.strip())
        sizes = [-1 if part == "newaxis" else int(part) for part in parts]
    if size == "0" and -1 in sizes:
        return (
            f"cannot reshape tensor of 0 elements into shape {sizes} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    return f"shape '{sizes}' is invalid for input of size {size}"


@says(r"negative dimensions are not allowed")
def _negative(call: Call) -> str | None:
    sizes = Call("", (None, *call.args), {}).sizes
    if sizes is None:
        return None
    wrong = [n for n in sizes if n < 0]
    if not wrong:
        return None
    return f"Trying to create tensor with negative dimension {wrong[0]}: {sizes}"


@says(
    r"all the input array dimensions except for .* along dimension (\d+), the array at "
    r"index \d+ has size (\d+) and the array at index (\d+) has size (\d+)"
)
def _joined(call: Call, along: str, first: str, place: str, other: str) -> str:
    dims = {"hstack": 1, "column_stack": 1, "dstack": 2}
    dim = call.told("dim", 1, call.options.get("axis", dims.get(call.name, 0)))
    return (
        f"Sizes of tensors must match except in dimension {dim}. Expected size {first} "
        f"but got size {other} for tensor number {place} in the list."
    )


@says(
    r"all the input arrays must have same number of dimensions, but the array at index "
    r"\d+ has (\d+) dimension\(s\) and the array at index \d+ has (\d+)"
)
def _levelled(call: Call, first: str, other: str) -> str:
    return f"Tensors must have same number of dimensions: got {first} and {other}"


@says(r"all input arrays must have the same shape")
def _stacked(call: Call) -> str | None:
    given = next(iter(call.args), ())
    shapes = [list(getattr(x, "shape", ())) for x in given]
    if call.name == "pad_sequence" or not shapes:
        return None
    place = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), 0)
    return (
        f"stack expects each tensor to be equal size, but got {shapes[0]} at entry 0 "
        f"and {shapes[place]} at entry {place}"
    )


@says(r"need at least one array to (\w+)")
def _nothing(call: Call, what: str) -> str:
    if what == "stack":
        return "stack expects a non-empty TensorList"
    return "torch.cat(): expected a non-empty list of Tensors"


@says(r"array split does not result in an equal division")
def _split(call: Call) -> str | None:
    dim = {"hsplit": 1, "vsplit": 0, "dsplit": 2}.get(call.name)
    if dim is None:
        return None
    dim = min(dim, len(call.shapes[0]) - 1)
    return (
        f"torch.{call.name} attempted to split along dimension {dim}, but the size of "
        f"the dimension {call.shapes[0][dim]} is not divisible by the split_size "
        f"{call.told('split_size_or_sections', 1)}!"
    )


@says(r"number sections must be larger than 0")
def _sections(call: Call) -> str:
    count = call.told("indices_or_sections", 1)
    return f"number of sections must be larger than 0, got {count}"


@says(r"repeated axis in `(\w+)` argument")
def _moved_twice(call: Call, which: str) -> str:
    dims = call.told(which, 1 if which == "source" else 2)
    return f"movedim: repeated dim in `{which}` ({list(dims)})"


@says(r"`source` and `destination` arguments must have the same number")
def _moved(call: Call) -> str:
    source, destination = call.told("source", 1), call.told("destination", 2)
    return (
        f"movedim: Invalid source or destination dims: source ({list(source)} dims) "
        "should contain the same number of dims as destination "
        f"({list(destination)} dims)"
    )


@says(r"axis1 and axis2 cannot be the same")
def _diagonal(call: Call) -> str:
    dims = call.told("dim1", 2, 0), call.told("dim2", 3, 1)
    return f"diagonal dimensions cannot be identical {dims[0]}, {dims[1]}"


@says(r"Input must be 1- or 2-d", r"diag requires an array of at least two dimensions")
def _diag(call: Call) -> str | None:
    count = len(next(iter(call.shapes), ()))
    if call.name == "trace":
        return f"trace: expected a matrix, but got tensor with dim {count}"
    if call.name != "diag":
        return None
    return f"diag(): Supports 1D or 2D tensors. Got {count}D"
