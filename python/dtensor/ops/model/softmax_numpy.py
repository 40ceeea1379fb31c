"""Softmax and its kin with NumPy's functions, for dtypes that the C kernels lack.

Arguments and results are those of csrc/ext/kernels/softmax.c."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "given",
    "log_given",
    "log_softmax",
    "log_softmax_backward",
    "log_softmax_grad",
    "logsumexp",
    "row_dot",
    "softmax",
    "softmax_backward",
    "softmax_grad",
    "sum_exp",
]

Array = npt.NDArray[Any]


def _expand(x: Array, axis: int) -> Array:
    return np.expand_dims(x, axis)


def _top(x: Array, axis: int) -> Any:
    return np.maximum.reduce(x, axis=axis) if x.shape[axis] else np.sum(x, axis=axis)


def sum_exp(x: Array, top: Array, axis: int) -> Any:
    shift = np.where(np.isinf(top), 0, top).astype(x.dtype)
    return np.add.reduce(np.exp(x - _expand(shift, axis)), axis=axis)


def logsumexp(x: Array, axis: int) -> Any:
    top = _top(x, axis)
    shift = np.where(np.isinf(top), 0, top).astype(x.dtype)
    return shift + np.log(sum_exp(x, shift, axis))


def given(x: Array, top: Array, total: Array, axis: int) -> Array:
    return np.asarray(np.exp(x - _expand(top, axis)) / _expand(total, axis))


def log_given(x: Array, top: Array, total: Array, axis: int) -> Array:
    return np.asarray(x - _expand(top, axis) - np.log(_expand(total, axis)))


def softmax(x: Array, axis: int) -> Array:
    top = _top(x, axis)
    return given(x, top, np.exp(x - _expand(top, axis)).sum(axis), axis)


def log_softmax(x: Array, axis: int) -> Array:
    top = _top(x, axis)
    return log_given(x, top, np.exp(x - _expand(top, axis)).sum(axis), axis)


def row_dot(grad: Array, y: Array, axis: int) -> Any:
    return np.add.reduce(grad * np.conj(y), axis=axis)


def softmax_grad(grad: Array, y: Array, dot: Array, axis: int) -> Array:
    return np.asarray((grad - _expand(dot, axis)) * np.conj(y))


def log_softmax_grad(grad: Array, y: Array, total: Array, axis: int) -> Array:
    return np.asarray(grad - _expand(total, axis) * np.exp(np.conj(y)))


def softmax_backward(grad: Array, y: Array, axis: int) -> Array:
    return softmax_grad(grad, y, row_dot(grad, y, axis), axis)


def log_softmax_backward(grad: Array, y: Array, axis: int) -> Array:
    return log_softmax_grad(grad, y, np.add.reduce(grad, axis=axis), axis)
