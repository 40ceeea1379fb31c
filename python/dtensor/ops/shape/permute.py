"""Permuting dims.

Nothing moves between ranks, and parts are views. Partial tensors stay Partial.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor.ops._make.operator import (
    Operand,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.words import Answer, Shape, method_of, rule

__all__ = [
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "rollaxis",
    "swapaxes",
    "transpose",
]


def _order(function: Callable[..., Any], ndim: int, *args: Any, **named: Any) -> Shape:
    """Return the order of dims that a NumPy function produces."""
    # In this array the stride of each dim identifies the dim.
    strides = tuple(range(ndim))
    probe = np.ndarray((1,) * ndim, "b", bytes(ndim or 1), 0, strides)
    order: Shape = function(probe, *args, **named).strides
    return order


def _permuted(function: Callable[..., Any], a: Operand, *args: Any) -> Answer:
    """Return the answer of a NumPy function that permutes dims."""
    order = _order(function, a.ndim, *args)
    names = letters(a.ndim)
    moved = rule([names], [[names[dim] for dim in order]], "any")
    return moved, call(method_of("transpose", a), a, order)


def _permuted_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient of such a function."""

    def back(grad: Any, _out: Any, _a: Any, *args: Any, **named: Any) -> Any:
        order = _order(function, _a.ndim, *args, **named)
        return transpose(grad, np.argsort(order).tolist())

    return back


@implements(np.transpose, np.permute_dims)
@operator(view=True)
def transpose(a: Operand, axes: Any = None) -> Answer:
    """Permute dims.

    Parameters
    ----------
    a : array
    axes : sequence of int, optional
        Dims of `a` in the order of the result; default: the reverse.
    """
    return _permuted(np.transpose, a, axes)


transpose.vjp(_permuted_back(np.transpose))
permute_dims = transpose


@method(name="permute")
@method(name="transpose")
@operator(name="transpose", view=True)
def _transpose_method(a: Operand, /, *axes: Any) -> Answer:
    """Permute dims: in the order of `axes`, or the reverse."""
    return _permuted(np.ndarray.transpose, a, *axes)


_transpose_method.vjp(_permuted_back(np.ndarray.transpose))


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
@operator(view=True)
def matrix_transpose(x: Operand, /) -> Answer:
    """Swap the last two dims."""
    return _permuted(np.matrix_transpose, x)


matrix_transpose.vjp(lambda grad, _out, _x: matrix_transpose(grad))


@method
@method(name="swapdims")
@implements(np.swapaxes)
@operator(view=True)
def swapaxes(a: Operand, axis1: int, axis2: int) -> Answer:
    """Swap two dims."""
    return _permuted(np.swapaxes, a, axis1, axis2)


swapaxes.vjp(_permuted_back(np.swapaxes))


def _exchange(x: Any, dim0: int, dim1: int) -> Any:
    """As `numpy.swapaxes`; of no dims there is one, as in PyTorch."""
    if x.ndim or not {dim0, dim1} <= {0, -1}:
        return np.swapaxes(x, dim0, dim1)
    return x


@operator(name="swapaxes", view=True)
def exchanged(input: Operand, dim0: int, dim1: int) -> Answer:
    """Return a tensor with two of its dims swapped."""
    return _permuted(_exchange, input, dim0, dim1)


exchanged.vjp(_permuted_back(_exchange))


@method
@method(name="movedim")
@implements(np.moveaxis)
@operator(view=True)
def moveaxis(a: Operand, source: Any, destination: Any) -> Answer:
    """Move dims `source` to the places `destination`; the others keep their order."""
    return _permuted(np.moveaxis, a, source, destination)


moveaxis.vjp(_permuted_back(np.moveaxis))


@implements(np.rollaxis)
@operator(view=True)
def rollaxis(a: Operand, axis: int, start: int = 0) -> Answer:
    """Move a dim to before the dim `start`."""
    return _permuted(np.rollaxis, a, axis, start)


rollaxis.vjp(_permuted_back(np.rollaxis))
