"""Softmax and its kin with NumPy's functions, for dtypes that the C kernels lack.

Arguments and results are those of csrc/ext/kernels/softmax.c."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FORMULAS"]

Array = npt.NDArray[Any]


def _expand(x: Array, axis: int) -> Array:
    return np.expand_dims(x, axis)


def _top(x: Array, axis: int) -> Any:
    return np.maximum.reduce(x, axis=axis) if x.shape[axis] else np.sum(x, axis=axis)


def _sum_exp(x: Array, top: Array, axis: int) -> Any:
    shift = np.where(np.isinf(top), 0, top).astype(x.dtype)
    return np.add.reduce(np.exp(x - _expand(shift, axis)), axis=axis)


def _logsumexp(x: Array, axis: int) -> Any:
    top = _top(x, axis)
    shift = np.where(np.isinf(top), 0, top).astype(x.dtype)
    return shift + np.log(_sum_exp(x, shift, axis))


def _softmax_given(x: Array, top: Array, total: Array, axis: int) -> Array:
    return np.asarray(np.exp(x - _expand(top, axis)) / _expand(total, axis))


def _log_softmax_given(x: Array, top: Array, total: Array, axis: int) -> Array:
    return np.asarray(x - _expand(top, axis) - np.log(_expand(total, axis)))


def _softmax(x: Array, axis: int) -> Array:
    top = _top(x, axis)
    return _softmax_given(x, top, np.exp(x - _expand(top, axis)).sum(axis), axis)


def _log_softmax(x: Array, axis: int) -> Array:
    top = _top(x, axis)
    return _log_softmax_given(x, top, np.exp(x - _expand(top, axis)).sum(axis), axis)


def _row_dot(grad: Array, y: Array, axis: int) -> Any:
    return np.add.reduce(grad * np.conj(y), axis=axis)


def _softmax_backward_given(grad: Array, y: Array, dot: Array, axis: int) -> Array:
    return np.asarray((grad - _expand(dot, axis)) * np.conj(y))


def _log_softmax_backward_given(
    grad: Array, y: Array, total: Array, axis: int
) -> Array:
    return np.asarray(grad - _expand(total, axis) * np.exp(np.conj(y)))


def _softmax_backward(grad: Array, y: Array, axis: int) -> Array:
    return _softmax_backward_given(grad, y, _row_dot(grad, y, axis), axis)


def _log_softmax_backward(grad: Array, y: Array, axis: int) -> Array:
    return _log_softmax_backward_given(grad, y, np.add.reduce(grad, axis=axis), axis)


FORMULAS: dict[str, Callable[..., Any]] = {
    "sum_exp": _sum_exp,
    "logsumexp": _logsumexp,
    "row_dot": _row_dot,
    "softmax": _softmax,
    "softmax_given": _softmax_given,
    "softmax_backward": _softmax_backward,
    "softmax_backward_given": _softmax_backward_given,
    "log_softmax": _log_softmax,
    "log_softmax_given": _log_softmax_given,
    "log_softmax_backward": _log_softmax_backward,
    "log_softmax_backward_given": _log_softmax_backward_given,
}
