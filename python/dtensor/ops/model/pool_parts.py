"""The operators that pools are made of.

Samples and channels may be cut, places not. A pool of averages and what brings its
gradient back are each other's gradients; so are what puts a gradient where maxima were,
and what picks elements there.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.model.columns import Ints
from dtensor.ops.model.windows import (
    Dims,
    averages,
    averages_input,
    has_kernel,
    largest,
    maxima,
    picked,
    put,
    tables,
)

__all__ = ["average", "average_input", "largest_of", "maximum", "pick", "put_back"]


def _words(lengths: Sequence[int]) -> list[str]:
    return ["n", "c", *map(str, lengths)]


def _places(dims: Dims) -> list[str]:
    return _words([dim.places for dim in dims])


def _elements(dims: Dims) -> list[str]:
    return _words([dim.length for dim in dims])


def _means(name: str, x: Operand, dims: Dims, divisor: int | None, other: Any) -> call:
    if not has_kernel(x.dtype, dims):
        return call(other, x, dims, divisor)
    return call(_C.kernel(name), x, *tables(dims), divisor or 0)


@operator(name="avg_pool")
def average(input: Operand, dims: Dims, divisor: int | None) -> Answer:  # noqa: A002
    partial = None if input.dtype.kind == "i" else "0"  # integers are cut off
    pool = rule([_elements(dims)], [_places(dims)], partial)
    return pool, _means("avg_pool", input, dims, divisor, averages), input.dtype


@operator(name="avg_pool_backward")
def average_input(grad: Operand, dims: Dims, divisor: int | None) -> Answer:
    """Return the gradient of the input of a pool."""
    back = rule([_places(dims)], [_elements(dims)], "0")
    kernel = _means("avg_pool_backward", grad, dims, divisor, averages_input)
    return back, kernel, grad.dtype


@operator(name="max_pool")
def maximum(input: Operand, dims: Dims) -> Answer:  # noqa: A002
    # The maximum of the ranks' maxima is the global maximum.
    pool = rule([_elements(dims)], [_places(dims)], "max->max")
    if not has_kernel(input.dtype, dims):
        return pool, call(maxima, input, dims), input.dtype
    kernel = _C.kernel("max_pool_values")
    return pool, call(kernel, input, *tables(dims), 0), input.dtype


@operator(name="max_pool_with_indices")
def largest_of(input: Operand, dims: Dims) -> Answer:  # noqa: A002
    pool = rule([_elements(dims)], [_places(dims), _places(dims)])
    kernel = call(largest, input, dims)
    if has_kernel(input.dtype, dims):
        kernel = call(_C.kernel("max_pool"), input, *tables(dims))
    return pool, kernel, (input.dtype, np.dtype(np.int64))


@operator(name="max_pool_backward")
def put_back(grad: Operand, index: Operand, lengths: Ints) -> Answer:
    """Return zeros of these lengths, with a gradient added where maxima were."""
    places = _words(grad.shape[2:])
    back = rule([places, places], [_words(lengths)], "sum,R->sum; avg,R->avg")
    return back, call(put, grad, index, lengths), grad.dtype


@operator(name="max_pool_pick")
def pick(input: Operand, index: Operand) -> Answer:  # noqa: A002
    """Return the elements at numbers."""
    places = _words(index.shape[2:])
    rows = "sum,R->sum; avg,R->avg"
    taken = rule([_words(input.shape[2:]), places], [places], rows)
    return taken, call(picked, input, index), input.dtype


average.vjp(
    lambda grad, _out, _input, dims, divisor: average_input(grad, dims, divisor)
)
average_input.vjp(lambda grad, _out, _grad, dims, divisor: average(grad, dims, divisor))
# Finding them once more costs less than an index in memory for every place.
maximum.vjp(
    lambda grad, _out, input, dims: put_back(
        grad, largest_of(input, dims)[1], input.shape[2:]
    )
)
largest_of.vjp(
    lambda grad, out, _input, _dims: put_back(grad[0], out[1], _input.shape[2:])
)
put_back.vjp(lambda grad, _out, _grad, index, _lengths: pick(grad, index), None)
pick.vjp(
    lambda grad, _out, _input, index: put_back(grad, index, _input.shape[2:]), None
)
