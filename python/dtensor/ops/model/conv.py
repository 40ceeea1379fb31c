"""Convolutions of one to three dims, and what their gradients are made of.

The three products of columns.py are each other's gradients. Samples, filters, groups
and channels may be cut; places not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.halves import product_call, wide_call
from dtensor.ops._make.operator import Operand, Part, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.model.columns import (
    Ints,
    Steps,
    convolve,
    convolve_input,
    convolve_weight,
    is_few,
    padded_shape,
    places_of,
)
from dtensor.ops.model.linear import adds_once
from dtensor.ops.reduce.reductions import sum as sum_

__all__ = [
    "check",
    "check_dtypes",
    "check_places",
    "conv1d",
    "conv2d",
    "conv3d",
    "convolution",
    "convolution_input",
    "convolution_weight",
    "lengths_of",
    "steps_of",
]

# --- operators ------------------------------------------------------------------------


class _Terms:
    """Words of the operands' dims. Channels are in groups, between which is cut."""

    def __init__(self, x: Ints, weight: Ints, places: Ints) -> None:
        groups = x[1] // weight[1] if weight[1] else 1
        self.lengths = {"g": groups} if groups > 1 else {}
        channels, filters = ("(g c)", "(g f)") if groups > 1 else ("c", "f")
        self.x = ["n", channels, *map(str, x[2:])]
        self.weight = [filters, "c", *map(str, weight[2:])]
        self.bias = [filters]
        self.out = ["n", filters, *map(str, places)]


# Which operands may be Partial on a mesh dim. A bias that is not is added once.
_ROWS = "sum,R->sum; R,sum->sum; avg,R->avg; R,avg->avg"
_ROWS_WITH_BIAS = (
    "sum,R,R->sum; R,sum,R->sum; sum,R,sum->sum; R,sum,sum->sum;"
    "avg,R,R->avg; R,avg,R->avg; avg,R,avg->avg; R,avg,avg->avg; R,R,avg->avg"
)


def _calls(x: Ints, weight: Ints, steps: Steps) -> Callable[..., Any]:
    return wide_call if is_few(x, weight, steps) else product_call


@operator(name="convolution")
def convolution(
    input: Operand,  # noqa: A002
    weight: Operand,
    bias: Operand | None,
    steps: Steps,
) -> Answer:
    places = places_of(input.shape[2:], weight.shape[2:], steps)
    words = _Terms(input.shape, weight.shape, places)
    operands, rows = [words.x, words.weight], _ROWS
    adds: Any = True
    if bias is not None:
        operands, rows = [*operands, words.bias], _ROWS_WITH_BIAS
        adds = Part(lambda operands, results: adds_once(2, operands, results))
    product = rule(operands, [words.out], rows, words.lengths)
    make = _calls(input.shape, weight.shape, steps)
    return product, make(convolve, input, weight, bias, adds, steps), input.dtype


@operator(name="convolution_input")
def convolution_input(
    grad: Operand, weight: Operand, shape: Ints, steps: Steps
) -> Answer:
    """Return the gradient of an input of this shape."""
    words = _Terms(shape, weight.shape, grad.shape[2:])
    local = Part(lambda _operands, results: results[0].local_shape())
    product = rule([words.out, words.weight], [words.x], _ROWS, words.lengths)
    make = _calls(shape, weight.shape, steps)
    return product, make(convolve_input, grad, weight, local, steps), grad.dtype


@operator(name="convolution_weight")
def convolution_weight(
    grad: Operand,
    input: Operand,
    shape: Ints,
    steps: Steps,  # noqa: A002
) -> Answer:
    """Return the gradient of weights of this shape."""
    words = _Terms(input.shape, shape, grad.shape[2:])
    local = Part(lambda _operands, results: results[0].local_shape())
    product = rule([words.out, words.x], [words.weight], _ROWS, words.lengths)
    make = _calls(input.shape, shape, steps)
    return product, make(convolve_weight, grad, input, local, steps), grad.dtype


convolution.vjp(
    lambda grad, _out, _input, weight, _bias, steps: convolution_input(
        grad, conj(weight), _input.shape, steps
    ),
    lambda grad, _out, input, _weight, _bias, steps: convolution_weight(
        grad, conj(input), _weight.shape, steps
    ),
    lambda grad, _out, _input, _weight, _bias, _steps: sum_(
        grad, axis=(0, *range(2, grad.ndim))
    ),
)
convolution_input.vjp(
    lambda grad, _out, _grad, weight, _shape, steps: convolution(
        grad, conj(weight), None, steps
    ),
    lambda grad, _out, rows, _weight, _shape, steps: convolution_weight(
        conj(rows), grad, _weight.shape, steps
    ),
)
convolution_weight.vjp(
    lambda grad, _out, _grad, input, _shape, steps: convolution(
        conj(input), grad, None, steps
    ),
    lambda grad, _out, rows, _input, _shape, steps: convolution_input(
        conj(rows), grad, _input.shape, steps
    ),
)


# --- what is called -------------------------------------------------------------------


def lengths_of(name: str, value: Any, count: int) -> Ints:
    """Return an argument that is one number, or one for each dim."""
    if isinstance(value, int | np.integer):
        return (int(value),) * count
    values = tuple(map(int, value))
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values "
            f"to match the convolution dimensions, but got {name}={list(values)}"
        )
    return values


def steps_of(kernel: Sequence[int], stride: Any, padding: Any, dilation: Any) -> Steps:
    """Return the steps of a kernel of this size."""
    count = len(kernel)
    strides = lengths_of("stride", stride, count)
    dilations = lengths_of("dilation", dilation, count)
    if padding == "same":
        if any(s != 1 for s in strides):
            raise RuntimeError(
                "padding='same' is not supported for strided convolutions"
            )
        whole = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
        low = tuple(n // 2 for n in whole)
        high = tuple(n - n // 2 for n in whole)
    elif isinstance(padding, str):
        if padding != "valid":
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        low = high = (0,) * count
    else:
        low = high = lengths_of("padding", padding, count)
    for values, least, what in (
        (low, 0, "negative padding"),
        (strides, 1, "non-positive stride"),
        (dilations, 1, "non-positive dilation"),
    ):
        if min(values) < least:
            raise RuntimeError(f"{what} is not supported")
    return strides, low, high, dilations


def check_dtypes(x: Any, weight: Any, bias: Any, groups: int) -> None:
    """Raise what torch raises of dtypes, and of a number of groups."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    types = {np.dtype(each.dtype) for each in (x, weight, bias) if each is not None}
    if len(types) > 1:
        raise RuntimeError(
            f"Input type ({x.dtype}), weight type ({weight.dtype}) and bias type "
            "should be the same"
        )


def check(x: Any, weight: Any, bias: Any, groups: int) -> None:
    """Raise what torch raises, of an input that is a batch."""
    check_dtypes(x, weight, bias, groups)
    of = f"Given groups={groups}, "
    shapes = f"weight of size {list(weight.shape)}"
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"{of}expected weight to be at least {groups} at dimension 0, but got "
            f"{shapes} instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"{of}expected weight to be divisible by {groups} at dimension 0, but got "
            f"{shapes} instead"
        )
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"{of}{shapes}, expected input{list(x.shape)} to have "
            f"{weight.shape[1] * groups} channels, but got {x.shape[1]} channels "
            "instead"
        )
    if bias is not None and tuple(bias.shape) != weight.shape[:1]:
        raise RuntimeError(
            f"Given {shapes}, expected bias to be 1-dimensional with {weight.shape[0]} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )


def check_places(x: Any, weight: Any, steps: Steps) -> None:
    padded = padded_shape(x.shape, steps)[2:]
    reach = [d * (k - 1) + 1 for d, k in zip(steps[3], weight.shape[2:], strict=True)]
    if any(n < k for n, k in zip(padded, reach, strict=True)):
        told = [" x ".join(map(str, lengths)) for lengths in (padded, reach)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({told[0]}). Kernel size: "
            f"({told[1]}). Kernel size can't be greater than actual input size"
        )


def _convolve(
    dims: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    if len(x.shape) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
            f"conv{dims}d, but got input of size: {list(x.shape)}"
        )
    if len(weight.shape) != dims + 2:
        raise RuntimeError(
            f"Expected {dims + 2}-dimensional weight for conv{dims}d, but got weight "
            f"of size {list(weight.shape)}"
        )
    alone = len(x.shape) == dims + 1
    if alone:
        x = x[None]
    steps = steps_of(weight.shape[2:], stride, padding, dilation)
    check(x, weight, bias, groups)
    check_places(x, weight, steps)
    out = convolution(x, weight, bias, steps)
    return out[0] if alone else out


@narrowed
def conv1d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Convolution (as a cross-correlation) along the last dim.

    Parameters
    ----------
    input : tensor, shape (samples, channels, length) or (channels, length)
    weight : tensor, shape (filters, channels / groups, kernel)
    bias : tensor, shape (filters,), optional
    stride, padding, dilation, groups
        See `conv2d`.

    Returns
    -------
    tensor, shape (samples, filters, places) or (filters, places)

    Raises
    ------
    RuntimeError
        As `conv2d`.
    """
    return _convolve(1, input, weight, bias, stride, padding, dilation, groups)


@narrowed
def conv2d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Convolution (as a cross-correlation) along the last two dims.

    Nothing is sent where samples, filters or groups are cut; where the channels of
    both operands are, the result is Partial. Other dims are whole while it computes.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or without samples
    weight : tensor, shape (filters, channels / groups, kernel height, kernel width)
    bias : tensor, shape (filters,), optional
    stride : int or (int, int), default 1
        How far apart the places of the kernel are.
    padding : int, (int, int), "same" or "valid", default 0
        Zeros around the input. "same": as many as give as many places as there are
        elements; "valid": none.
    dilation : int or (int, int), default 1
        How far apart the elements under the kernel are.
    groups : int, default 1
        Channels and filters are in so many groups, which have nothing in common.

    Returns
    -------
    tensor, shape (samples, filters, places, places), or without samples

    Raises
    ------
    RuntimeError
        For shapes, dtypes and numbers that do not go together, as torch does; on every
        rank.
    """
    return _convolve(2, input, weight, bias, stride, padding, dilation, groups)


@narrowed
def conv3d(
    input: Any,  # noqa: A002
    weight: Any,
    bias: Any = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Convolution (as a cross-correlation) along the last three dims.

    Parameters
    ----------
    input : tensor, shape (samples, channels, lengths...), or without samples
    weight : tensor, shape (filters, channels / groups, kernel...)
    bias : tensor, shape (filters,), optional
    stride, padding, dilation, groups
        See `conv2d`.

    Returns
    -------
    tensor, shape (samples, filters, places...), or without samples

    Raises
    ------
    RuntimeError
        As `conv2d`.
    """
    return _convolve(3, input, weight, bias, stride, padding, dilation, groups)
