"""Transposed convolutions: the gradient of a convolution's input, as a function."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.composite import as_dtype
from dtensor.ops._make.copies import astype
from dtensor.ops._make.halves import is_half
from dtensor.ops.model.columns import Ints, Steps, places_of
from dtensor.ops.model.conv import check_dtypes, convolution_input, lengths_of, steps_of

__all__ = ["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

Lengths = int | Sequence[int]
_AXES = ("depth", "height", "width")


def _check(x: Any, weight: Any, bias: Any, groups: int) -> None:
    """Raise what torch raises, of an input that is a batch."""
    check_dtypes(x, weight, bias, groups)
    channels, filters = weight.shape[0], weight.shape[1] * groups
    shapes = f"weight of size {list(weight.shape)}"
    if channels % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at "
            f"dimension 0, but got {shapes} instead"
        )
    if x.shape[1] != channels:
        raise RuntimeError(
            f"Given transposed=1, {shapes}, expected input{list(x.shape)} to have "
            f"{channels} channels, but got {x.shape[1]} channels instead"
        )
    if bias is not None and tuple(bias.shape) != (filters,):
        raise RuntimeError(
            f"Given transposed=1, {shapes}, expected bias to be 1-dimensional with "
            f"{filters} elements, but got bias of size {list(bias.shape)} instead"
        )


def _check_output_padding(more: Ints, steps: Steps) -> None:
    if min(more) < 0:
        raise RuntimeError("negative output_padding is not supported")
    strides, dilations = steps[0], steps[3]
    triples = zip(more, strides, dilations, strict=True)
    if any(n >= s and n >= d for n, s, d in triples):
        axes = _AXES[-len(more) :]
        told = " ".join(
            f"{name}_{axis}: {n}"
            for name, values in (
                ("output_padding", more),
                ("stride", strides),
                ("dilation", dilations),
            )
            for axis, n in zip(axes, values, strict=True)
        )
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            + told
        )


def _transpose(
    dims: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    if len(x.shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
            f"conv_transpose{dims}d, but got input of size: {list(x.shape)}"
        )
    if len(weight.shape) != dims + 2:
        raise RuntimeError(
            f"Expected {dims + 2}-dimensional weight for conv_transpose{dims}d, but got"
            f" weight of size {list(weight.shape)}"
        )
    alone = len(x.shape) == dims + 1
    if alone:
        x = x[None]
    kernel = tuple(weight.shape[2:])
    steps = steps_of(kernel, stride, lengths_of("padding", padding, dims), dilation)
    more = lengths_of("output_padding", output_padding, dims)
    _check(x, weight, bias, groups)
    _check_output_padding(more, steps)
    each = zip(x.shape[2:], kernel, more, *steps, strict=True)
    lengths = tuple(
        (n - 1) * s - low - high + d * (k - 1) + add + 1
        for n, k, add, s, low, high, d in each
    )
    if min(lengths) < 1 or 0 in x.shape[2:]:
        told = [" x ".join(map(str, shape)) for shape in (x.shape[2:], lengths)]
        raise RuntimeError(
            f"Given input size per channel: ({told[0]}). Calculated output size per "
            f"channel: ({told[1]}). Output size is too small"
        )
    places = places_of(lengths, kernel, steps)
    ends = [(0, m - n) for m, n in zip(places, x.shape[2:], strict=True)]
    dtype = x.dtype
    if bias is not None and is_half(dtype):  # rounded once
        x, weight, bias = (astype(part, np.float32) for part in (x, weight, bias))
    if any(end for _, end in ends):  # a convolution would see more than there is
        x = np.pad(x, [(0, 0), (0, 0), *ends])
    out = convolution_input(
        x, weight, (x.shape[0], weight.shape[1] * groups, *lengths), steps
    )
    if bias is not None:
        out = as_dtype(out + np.reshape(bias, (-1, *(1,) * dims)), dtype)
    return out[0] if alone else out


@narrowed
def conv_transpose1d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Any:
    """Transposed convolution along the last dim.

    Parameters
    ----------
    input : tensor, shape (samples, channels, places) or (channels, places)
    weight : tensor, shape (channels, filters / groups, kernel)
    bias : tensor, shape (filters,), optional
    stride, padding, output_padding, groups, dilation
        See `conv_transpose2d`.

    Returns
    -------
    tensor, shape (samples, filters, length) or (filters, length)

    Raises
    ------
    RuntimeError
        As `conv_transpose2d`.
    """
    steps = (stride, padding, output_padding, groups, dilation)
    return _transpose(1, input, weight, bias, *steps)


@narrowed
def conv_transpose2d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Any:
    """Transposed convolution along the last two dims.

    What a convolution by `weight` would make `input` of: each element adds the kernel,
    times it, at its place. Nothing is sent where samples, filters or groups are cut;
    where the channels of both operands are, the result is Partial.

    Parameters
    ----------
    input : tensor, shape (samples, channels, places, places), or without samples
    weight : tensor, shape (channels, filters / groups, kernel height, kernel width)
    bias : tensor, shape (filters,), optional
    stride : int or (int, int), default 1
        How far apart the places of the kernel are.
    padding : int or (int, int), default 0
        How much is left out at the ends of each dim.
    output_padding : int or (int, int), default 0
        How much is added at the end of each dim: less than `stride` or `dilation`.
    groups : int, default 1
        Channels and filters are in so many groups, which have nothing in common.
    dilation : int or (int, int), default 1
        How far apart the elements under the kernel are.

    Returns
    -------
    tensor, shape (samples, filters, height, width), or without samples

    Raises
    ------
    RuntimeError
        For shapes, dtypes and numbers that do not go together, as torch does; on every
        rank.
    """
    steps = (stride, padding, output_padding, groups, dilation)
    return _transpose(2, input, weight, bias, *steps)


@narrowed
def conv_transpose3d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: Lengths = 1,
    padding: Lengths = 0,
    output_padding: Lengths = 0,
    groups: int = 1,
    dilation: Lengths = 1,
) -> Any:
    """Transposed convolution along the last three dims.

    Parameters
    ----------
    input : tensor, shape (samples, channels, places...), or without samples
    weight : tensor, shape (channels, filters / groups, kernel...)
    bias : tensor, shape (filters,), optional
    stride, padding, output_padding, groups, dilation
        See `conv_transpose2d`.

    Returns
    -------
    tensor, shape (samples, filters, lengths...), or without samples

    Raises
    ------
    RuntimeError
        As `conv_transpose2d`.
    """
    steps = (stride, padding, output_padding, groups, dilation)
    return _transpose(3, input, weight, bias, *steps)
