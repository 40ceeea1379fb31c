"""unfold and fold: what lies under a window at each place as columns, and their sums.

They are each other's gradients. Samples and channels may be cut; places not.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.halves import wide_call
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer, Words, rule
from dtensor.ops.model.columns import (
    Ints,
    Steps,
    columns_of,
    from_columns,
    places_of,
)

__all__ = ["fold", "unfold"]

Array = npt.NDArray[Any]
Lengths = int | Sequence[int]

# --- operators ------------------------------------------------------------------------


def _unfolded(x: Array, kernel: Ints, places: Ints, steps: Steps) -> Array:
    return columns_of(x, kernel, places, 1, steps)[:, 0]


def _folded(columns: Array, lengths: Ints, kernel: Ints, steps: Steps) -> Array:
    channels = columns.shape[1] // math.prod(kernel)
    shape = (len(columns), channels, *lengths)
    return from_columns(columns, shape, kernel, steps)


def _words(lengths: Ints, kernel: Ints, places: int) -> tuple[Words, Words]:
    """Return the words of an image and of its columns."""
    window = f"(c {math.prod(kernel)})"
    return ["n", "c", *map(str, lengths)], ["n", window, str(places)]


@operator(name="unfold")
def _unfold(x: Operand, kernel: Ints, steps: Steps) -> Answer:
    places = places_of(x.shape[2:], kernel, steps)
    image, columns = _words(x.shape[2:], kernel, math.prod(places))
    run = call(_unfolded, x, kernel, places, steps)
    return rule([image], [columns], "0"), run, x.dtype


@operator(name="fold")
def _fold(x: Operand, lengths: Ints, kernel: Ints, steps: Steps) -> Answer:
    image, columns = _words(lengths, kernel, x.shape[2])
    run = wide_call(_folded, x, lengths, kernel, steps)
    return rule([columns], [image], "0"), run, x.dtype


_unfold.vjp(
    lambda grad, _out, _x, kernel, steps: _fold(grad, _x.shape[2:], kernel, steps)
)
_fold.vjp(lambda grad, _out, _x, _lengths, kernel, steps: _unfold(grad, kernel, steps))

# --- what is called -------------------------------------------------------------------


def _pair(name: str, value: Any) -> Ints:
    if isinstance(value, int | np.integer):
        return (int(value),) * 2
    values = tuple(map(int, value))
    if len(values) not in (1, 2):
        raise RuntimeError(
            f"It is expected {name} equals to 2, but got size {len(values)}"
        )
    return values * (2 // len(values))


def _steps(
    kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[Ints, Steps]:
    """Return the size of the window and its steps, or raise what torch raises."""
    kernel, dilations = _pair("kernel_size", kernel_size), _pair("dilation", dilation)
    pads, strides = _pair("padding", padding), _pair("stride", stride)
    for values, least, what, name in (
        (kernel, 1, "kernel size should be greater than zero", "kernel"),
        (dilations, 1, "dilation should be greater than zero", "dilation"),
        (pads, 0, "padding should be non-negative", "pad"),
        (strides, 1, "stride should be greater than zero", "stride"),
    ):
        if min(values) < least:
            height, width = values
            raise RuntimeError(
                f"{what}, but got {name}_height: {height} {name}_width: {width}"
            )
    return kernel, (strides, pads, pads, dilations)


def _told(kernel: Ints, steps: Steps) -> str:
    return f"kernel_size={kernel}, dilation={steps[3]}, padding={steps[1]}"


def unfold(
    input: Any,  # noqa: A002
    kernel_size: Lengths,
    dilation: Lengths = 1,
    padding: Lengths = 0,
    stride: Lengths = 1,
) -> Any:
    """Return what lies under a window at each of its places, as columns.

    Nothing is sent where samples or channels are cut.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or without samples
    kernel_size : int or (int, int)
        The size of the window.
    dilation : int or (int, int), default 1
        How far apart the elements under the window are.
    padding : int or (int, int), default 0
        Zeros around the input.
    stride : int or (int, int), default 1
        How far apart the places are.

    Returns
    -------
    tensor, shape (samples, channels * window, places), or without samples

    Raises
    ------
    RuntimeError
        For shapes and numbers that do not go together, as torch does; on every rank.
    """
    kernel, steps = _steps(kernel_size, dilation, padding, stride)
    alone = len(input.shape) == 3
    if len(input.shape) not in (3, 4) or 0 in input.shape[0 if alone else 1 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other"
            f" non-zero dimensions for input, but got: {list(input.shape)}"
        )
    lengths = tuple(input.shape[-2:])
    places = places_of(lengths, kernel, steps)
    if min(places) < 1:
        raise RuntimeError(
            f"Given input with spatial size {lengths}, {_told(kernel, steps)}, "
            f"calculated shape of the array of sliding blocks as {places}, but its "
            "components must be at least one."
        )
    out = _unfold(input[None] if alone else input, kernel, steps)
    return out[0] if alone else out


def fold(
    input: Any,  # noqa: A002
    output_size: Lengths,
    kernel_size: Lengths,
    dilation: Lengths = 1,
    padding: Lengths = 0,
    stride: Lengths = 1,
) -> Any:
    """Add the columns of `unfold` up where they came from.

    Nothing is sent where samples or channels are cut.

    Parameters
    ----------
    input : tensor, shape (samples, channels * window, places), or without samples
    output_size : int or (int, int)
        The height and width of the result.
    kernel_size, dilation, padding, stride
        Those of `unfold`.

    Returns
    -------
    tensor, shape (samples, channels, height, width), or without samples

    Raises
    ------
    RuntimeError
        For shapes and numbers that do not go together, as torch does; on every rank.
    """
    lengths = _pair("output_size", output_size)
    kernel, steps = _steps(kernel_size, dilation, padding, stride)
    alone = len(input.shape) == 2
    if len(input.shape) not in (2, 3) or 0 in input.shape[0 if alone else 1 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size"
            f" and non-zero dimensions for input, but got: {list(input.shape)}"
        )
    rows, count = input.shape[-2:]
    if rows % math.prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of "
            f"kernel_size, but got input.size(1)={rows} and kernel_size={kernel}."
        )
    height, width = places_of(lengths, kernel, steps)
    if count != height * width or min(height, width) < 1:
        raise RuntimeError(
            f"Given output_size={lengths}, {_told(kernel, steps)}, stride={steps[0]}, "
            "expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {height} * {width} = {height * width}, but got "
            f"input.size(2)={count}."
        )
    out = _fold(input[None] if alone else input, lengths, kernel, steps)
    return out[0] if alone else out
