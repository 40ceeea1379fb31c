"""``torch.nn.grad``: the gradients of convolutions, as functions.

They are the operators that backward calls: they have gradients, and DTensors may be cut
as for the convolution (samples, filters and groups; where addends are cut, the result
is Partial).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dtensor import _C
from dtensor.ops.model.conv import (
    check,
    check_places,
    convolution_input,
    convolution_weight,
    steps_of,
)

__all__ = [
    "conv1d_input",
    "conv1d_weight",
    "conv2d_input",
    "conv2d_weight",
    "conv3d_input",
    "conv3d_weight",
]

Ints = int | Sequence[int]


class _Shaped(NamedTuple):
    """What is known of an operand whose elements are not needed."""

    shape: tuple[int, ...]
    dtype: Any


def _checked(
    dims: int, x: Any, weight: Any, grad: Any, options: tuple[Any, ...], groups: int
) -> Any:
    """Return the steps of a convolution, if it gives what `grad` is the gradient of."""
    for what, each in (("input", x), ("weight", weight), ("grad_output", grad)):
        if len(each.shape) != dims + 2:
            raise RuntimeError(
                f"Expected {dims + 2}-dimensional {what} for the gradient of "
                f"conv{dims}d, but got one of size {list(each.shape)}"
            )
    steps = steps_of(weight.shape[2:], *options)
    check(x, weight, None, groups)
    check_places(x, weight, steps)
    strides, low, high, dilations = steps
    places = [
        (n + a + b - d * (k - 1) - 1) // s + 1
        for n, k, s, a, b, d in zip(
            x.shape[2:], weight.shape[2:], strides, low, high, dilations, strict=True
        )
    ]
    wanted = [x.shape[0], weight.shape[0], *places]
    if list(grad.shape) != wanted:
        raise RuntimeError(
            f"grad_output of size {list(grad.shape)} is not the gradient of a "
            f"convolution that gives {wanted}"
        )
    if np.dtype(grad.dtype) != np.dtype(weight.dtype):
        raise RuntimeError(
            f"grad_output is of {grad.dtype}, and the convolution of {weight.dtype}"
        )
    return steps


def _result(made: Any, *given: Any) -> Any:
    return _C.into_torch(made) if any(map(_C.is_torch, given)) else made


def _of_input(
    dims: int, size: Any, weight: Any, grad: Any, options: tuple[Any, ...], groups: int
) -> Any:
    shape = tuple(map(int, size))
    known = _Shaped(shape, weight.dtype)
    steps = _checked(dims, known, weight, grad, options, groups)
    made = convolution_input(grad, weight, shape, steps)
    return _result(made, grad, weight)


def _of_weight(
    dims: int, x: Any, size: Any, grad: Any, options: tuple[Any, ...], groups: int
) -> Any:
    shape = tuple(map(int, size))
    known = _Shaped(shape, x.dtype)
    steps = _checked(dims, x, known, grad, options, groups)
    return _result(convolution_weight(grad, x, shape, steps), grad, x)


_INPUT = """Return the gradient of {name} with respect to its input.

    Collective only if operands are DTensors that have to be moved for it.

    Parameters
    ----------
    input_size : sequence of int
        The shape of the input, with samples and channels.
    weight : tensor
    grad_output : tensor
        The gradient of what the convolution gives.
    stride, padding, dilation, groups
        As for `{name}`.

    Returns
    -------
    tensor
        Of shape `input_size`.

    Raises
    ------
    RuntimeError
        For shapes and dtypes that do not go together; on every rank.
    """
_WEIGHT = _INPUT.replace("its input", "its weight")
_WEIGHT = _WEIGHT.replace(
    """    input_size : sequence of int
        The shape of the input, with samples and channels.
    weight : tensor
""",
    """    input : tensor
    weight_size : sequence of int
        The shape of the weight.
""",
).replace("`input_size`", "`weight_size`")


def _input(dims: int) -> Callable[..., Any]:
    def gradient(
        input_size: Sequence[int],
        weight: Any,
        grad_output: Any,
        stride: Ints = 1,
        padding: Ints | str = 0,
        dilation: Ints = 1,
        groups: int = 1,
    ) -> Any:
        options = (stride, padding, dilation)
        return _of_input(dims, input_size, weight, grad_output, options, groups)

    return _named(gradient, f"conv{dims}d_input", _INPUT.format(name=f"conv{dims}d"))


def _weight(dims: int) -> Callable[..., Any]:
    def gradient(
        input: Any,  # noqa: A002
        weight_size: Sequence[int],
        grad_output: Any,
        stride: Ints = 1,
        padding: Ints | str = 0,
        dilation: Ints = 1,
        groups: int = 1,
    ) -> Any:
        options = (stride, padding, dilation)
        return _of_weight(dims, input, weight_size, grad_output, options, groups)

    return _named(gradient, f"conv{dims}d_weight", _WEIGHT.format(name=f"conv{dims}d"))


def _named(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


conv1d_input, conv2d_input, conv3d_input = map(_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_weight, (1, 2, 3))
