"""Convolutions in front of which are operators: known calls run no Python but for the
kernel's own."""

from collections.abc import Callable
from typing import Any

from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.words import Answer
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.model import conv
from dtensor.ops.model.columns import Steps
from dtensor.ops.reduce.reductions import sum as sum_

__all__ = ["conv1d", "conv2d", "conv3d"]


def _steps(weight: Any, stride: Any, padding: Any, dilation: Any) -> Steps:
    return conv.steps_of(weight.shape[2:], stride, padding, dilation)


def _row(dims: int) -> Callable[..., Maybe]:
    def ask(
        input: Any,  # noqa: A002
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: Any = 1,
    ) -> Maybe:
        arrays = [input, weight, *([] if bias is None else [bias])]
        known = all(isinstance(x, Operand) and x.dtype is not None for x in arrays)
        steps = stride, padding, dilation, groups
        if not known or any(isinstance(x, Operand) for x in steps):
            return None
        if input.ndim != dims + 2 or weight.ndim != dims + 2:
            return None
        found = _steps(weight, *steps[:3])
        conv.check(input, weight, bias, groups)
        conv.check_places(input, weight, found)
        made: Answer = conv.convolution.__wrapped__(input, weight, bias, found)
        return made

    return ask


def _of_input(
    grad: Any,
    _out: Any,
    _input: Any,
    weight: Any,
    _bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    _groups: Any = 1,
) -> Any:
    steps = _steps(weight, stride, padding, dilation)
    return conv.convolution_input(grad, conj(weight), _input.shape, steps)


def _of_weight(
    grad: Any,
    _out: Any,
    input: Any,  # noqa: A002
    _weight: Any,
    _bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    _groups: Any = 1,
) -> Any:
    steps = _steps(_weight, stride, padding, dilation)
    return conv.convolution_weight(grad, conj(input), _weight.shape, steps)


def _of_bias(grad: Any, _out: Any, *_: Any) -> Any:
    return sum_(grad, axis=(0, *range(2, grad.ndim)))


def _in_front(dims: int, function: Any) -> Any:
    gradients = _of_input, _of_weight, _of_bias
    made = in_front(_row(dims), conv.convolution, *gradients)(function)
    made.autocast = lambda operator, *args, **options: function(*args, **options)
    return made


conv1d = _in_front(1, conv.conv1d)
conv2d = _in_front(2, conv.conv2d)
conv3d = _in_front(3, conv.conv3d)
