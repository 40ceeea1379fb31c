"""Rows of pools: known calls of them are operators and run no Python."""

from collections.abc import Callable
from typing import Any

from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.words import Answer
from dtensor.ops.model.pool_parts import (
    average,
    average_input,
    largest_of,
    maximum,
    put_back,
)
from dtensor.ops.model.pool_windows import INT64, INTEGERS, shares_of, windows_of
from dtensor.ops.model.windows import Dims

Decorator = Callable[[Callable[..., Any]], Any]

__all__ = ["avg_row", "max_row", "share_row"]


def _is_batch(count: int, input: Any, *given: Any) -> bool:  # noqa: A002
    return (
        isinstance(input, Operand)
        and input.ndim == count + 2
        and not any(isinstance(x, Operand) for x in given)
    )


def _max_dims(count: int, x: Any, steps: tuple[Any, ...]) -> Dims:
    return windows_of(f"max_pool{count}d", x, INTEGERS, *steps)


def _avg_dims(count: int, x: Any, *steps: Any) -> Dims:
    kernel_size, stride, padding, ceil_mode, padded = steps
    given = kernel_size, stride, padding, 1, ceil_mode, padded
    return windows_of(f"avg_pool{count}d", x, INT64, *given)


def max_row(count: int) -> Decorator:
    """Return the decorator that puts an operator in front of a pool of maxima."""

    def ask(
        input: Any,  # noqa: A002
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: Any = False,
        return_indices: Any = False,
    ) -> Maybe:
        steps = kernel_size, stride, padding, dilation, ceil_mode
        if return_indices or not _is_batch(count, input, *steps):
            return None
        found: Answer = maximum.__wrapped__(input, _max_dims(count, input, steps))
        return found

    def back(
        grad: Any,
        _out: Any,
        input: Any,  # noqa: A002
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: Any = False,
        *_rest: Any,
    ) -> Any:
        steps = kernel_size, stride, padding, dilation, ceil_mode
        index = largest_of(input, _max_dims(count, input, steps))[1]
        return put_back(grad, index, input.shape[2:])

    return in_front(ask, maximum, back)


def avg_row(count: int) -> Decorator:
    """Return the decorator that puts an operator in front of a pool of means."""

    def ask(
        input: Any,  # noqa: A002
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: Any = False,
        count_include_pad: Any = True,
        divisor_override: Any = None,
    ) -> Maybe:
        steps = kernel_size, stride, padding, ceil_mode, count_include_pad
        if divisor_override == 0 or not _is_batch(count, input, *steps):
            return None
        dims = _avg_dims(count, input, *steps)
        found: Answer = average.__wrapped__(input, dims, divisor_override)
        return found

    def back(
        grad: Any,
        _out: Any,
        _input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: Any = False,
        count_include_pad: Any = True,
        divisor_override: Any = None,
    ) -> Any:
        steps = kernel_size, stride, padding, ceil_mode, count_include_pad
        return average_input(grad, _avg_dims(count, _input, *steps), divisor_override)

    return in_front(ask, average, back)


def share_row(count: int) -> Decorator:
    """Return the decorator that puts an operator in front of means of shares."""

    def ask(input: Any, output_size: Any) -> Maybe:  # noqa: A002
        if not _is_batch(count, input, output_size):
            return None
        dims = shares_of(f"adaptive_avg_pool{count}d", input, output_size)
        found: Answer = average.__wrapped__(input, dims, None)
        return found

    def back(grad: Any, _out: Any, _input: Any, output_size: Any) -> Any:
        dims = shares_of(f"adaptive_avg_pool{count}d", _input, output_size)
        return average_input(grad, dims, None)

    return in_front(ask, average, back)
