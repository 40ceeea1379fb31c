"""Steps of optimizers for lists of parameters, in place and on each rank alone.

A kernel goes once over a parameter and its state (csrc/kernels/optim.h). What it cannot
do (longdouble, complex numbers, arrays with gaps) is done here with NumPy. Floats of 16
bits are computed in float32 and rounded once.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.halves import is_half

__all__ = ["AdamSettings", "SGDSettings", "adam_steps", "sgd_steps"]

Array = npt.NDArray[Any]
Tensors = list[Any]


class AdamSettings(NamedTuple):
    """What `dtensor.optim.Adam` is told; `decoupled`: weight decay is that of AdamW."""

    lr: float
    beta1: float
    beta2: float
    eps: float
    weight_decay: float
    decoupled: bool
    maximize: bool


class SGDSettings(NamedTuple):
    """What `dtensor.optim.SGD` is told; at `first` velocities are still to be set."""

    lr: float
    momentum: float
    dampening: float
    weight_decay: float
    nesterov: bool
    maximize: bool
    first: bool


def _array(x: Any) -> Array:
    """Return this rank's array itself."""
    part = x.to_local() if isinstance(x, _C.DTensor) else x
    return np.asarray(part.detach())


def _gradient(param: Array, grad: Array, weight_decay: float, maximize: bool) -> Array:
    """Return what a step goes along, with weight decay; a new array or `grad`."""
    grad = -grad if maximize else grad
    return np.asarray(grad + weight_decay * param if weight_decay else grad)


def _rounded_once(step: Callable[..., None], arrays: list[Any], *how: Any) -> None:
    """Do a step in place: of 16-bit floats in float32."""
    if not is_half(arrays[0].dtype):
        step(arrays, *how)
        return
    wide = [x if x is None else x.astype(np.float32) for x in arrays]
    step(wide, *how)
    for to, x in zip(arrays, wide, strict=True):
        if to is not None and to is not arrays[1]:  # the gradient stays
            to[...] = x


def _adam(arrays: list[Any], step: float, how: AdamSettings) -> None:
    """The formulas of dt_adam, for a parameter, its gradient, mean, square and peak."""
    param, grad, mean, square, peak = arrays
    if param.dtype.kind == "c":  # each part has its own squares
        for part in ("real", "imag"):
            _adam([x if x is None else getattr(x, part) for x in arrays], step, how)
        return
    if how.decoupled:
        param *= 1 - how.lr * how.weight_decay
    decay = 0 if how.decoupled else how.weight_decay
    grad = _gradient(param, grad, decay, how.maximize)
    mean += (grad - mean) * (1 - how.beta1)
    square *= how.beta2
    square += (1 - how.beta2) * (grad * grad)
    if peak is not None:
        np.maximum(peak, square, out=peak)
    root = np.sqrt(square if peak is None else peak)
    root /= math.sqrt(1 - how.beta2**step)
    param -= how.lr / (1 - how.beta1**step) * (mean / (root + how.eps))


def adam_steps(
    params: Tensors,
    grads: Tensors,
    means: Tensors,
    squares: Tensors,
    peaks: Tensors | None,
    steps: list[float],
    how: AdamSettings,
) -> None:
    """Do a step of Adam for each parameter.

    Parameters
    ----------
    params, grads, means, squares : list of tensor
        Gradients have the layouts of their parameters, and so has the state.
    peaks : list of tensor, optional
        The greatest squares so far, of AMSGrad.
    steps : list of float
        How many steps each parameter will have had.
    how : AdamSettings
    """
    lists = (params, grads, means, squares, peaks)
    for k in _C.adam_steps(params, grads, means, squares, peaks, steps, *how):
        arrays = [None if x is None else _array(x[k]) for x in lists]
        _rounded_once(_adam, arrays, steps[k], how)


def _sgd(arrays: list[Any], how: SGDSettings) -> None:
    """The formulas of dt_sgd, for a parameter, its gradient and velocity."""
    param, grad, velocity = arrays
    grad = _gradient(param, grad, how.weight_decay, how.maximize)
    if velocity is not None:
        if how.first:
            velocity[...] = grad
        else:
            velocity *= how.momentum
            velocity += (1 - how.dampening) * grad
        grad = grad + how.momentum * velocity if how.nesterov else velocity
    param -= how.lr * grad


def sgd_steps(
    params: Tensors, grads: Tensors, velocities: Tensors | None, how: SGDSettings
) -> None:
    """Do a step of gradient descent for each parameter.

    Parameters
    ----------
    params, grads : list of tensor
        Gradients have the layouts of their parameters, and so has the state.
    velocities : list of tensor, optional
        None without momentum.
    how : SGDSettings
    """
    lists = (params, grads, velocities)
    for k in _C.sgd_steps(params, grads, velocities, *how):
        arrays = [None if x is None else _array(x[k]) for x in lists]
        _rounded_once(_sgd, arrays, how)
