"""Functions that draw random numbers: dropout of channels, noise, random slopes.

What is drawn depends on the index of an element in the whole array only."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.autograd.grad_mode import is_grad_enabled, no_grad
from dtensor.ops._make.composite import settled
from dtensor.ops._make.created import made
from dtensor.ops.create.like import empty_like, ones_like
from dtensor.ops.elementwise.functions import astype
from dtensor.ops.model.activation import leaky_relu
from dtensor.ops.model.softmax import softmax
from dtensor.ops.random.arrays import rand_like
from dtensor.ops.random.dropout import dropout
from dtensor.ops.random.in_place import exponential_

__all__ = [
    "alpha_dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
    "gumbel_softmax",
    "rrelu",
]


def _written(inplace: bool, input: Any, function: Callable[[Any], Any]) -> Any:
    """Return a function of the input, written into it if that is wanted."""
    if not inplace:
        return function(input)
    recorded = input.requires_grad and is_grad_enabled()
    input[...] = function(_C.old_value(input).clone() if recorded else input)
    return input


# --- dropout --------------------------------------------------------------------------


def _check(p: float) -> None:
    if p < 0 or p > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _ones(x: Any, lead: int | None) -> Any:
    """Return ones beside a tensor; of one element in each dim but the first ones."""
    if lead is None:
        return ones_like(x)
    shape = (*x.shape[:lead], *(1,) * (x.ndim - lead))
    if isinstance(x, _C.DTensor):
        layout = x.layout.like(shape, {d: d for d in range(lead)}, x.dtype)
        return made(layout, lambda own: np.ones(own.local_shape(), own.dtype))
    return ones_like(x[(..., *(slice(1),) * (x.ndim - lead))])


def _of_channels(input: Any, p: float, training: bool, inplace: bool, lead: int) -> Any:
    """Drop channels: all that the first dims number."""
    if not training or p == 0:
        return input
    input = input if inplace else settled("dropout", input)
    return _written(inplace, input, lambda x: x * dropout(_ones(x, lead), p))


def dropout1d(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Return the input divided by ``1 - p``, but each channel with probability `p` 0.

    Parameters
    ----------
    input : tensor, shape (N, C, L) or (C, L)
        Channels are drawn by their index in the whole array: layouts do not matter.
    p : float, default 0.5
    training : bool, default True
        If False, the input itself is returned and nothing is drawn.
    inplace : bool, default False
        Whether to write the result into `input`.

    Raises
    ------
    ValueError
        If `p` is not a probability.
    RuntimeError
        For other numbers of dims.
    """
    _check(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with "
            "1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _of_channels(input, p, training, inplace, input.ndim - 1)


def _warn(name: str, dims: int, ndim: int) -> None:
    if ndim not in (dims + 1, dims + 2):
        warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and "
            "will result in an error in a future release. To retain the behavior and "
            "silence this warning, please use dropout instead. Note that "
            f"{name} exists to provide channel-wise dropout on inputs with {dims} "
            "spatial dimensions, a channel dimension, and an optional batch dimension "
            f"(i.e. {dims + 1}D or {dims + 2}D inputs)."
        )


def _check_channels(ndim: int) -> None:
    if ndim < 2:
        raise RuntimeError(
            "Feature dropout requires at least 2 dimensions in the input"
        )


def dropout2d(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Return `dropout1d` of inputs of shape (N, C, H, W).

    Three dims are taken for (N, C, L), with a warning, as torch does.
    """
    _check(p)
    _warn("dropout2d", 2, input.ndim)
    if input.ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that "
            "channel-wise 1D dropout behavior is desired - input is interpreted as "
            "shape (N, C, L), where C is the channel dim. This behavior will change in "
            "a future release to interpret the input as one without a batch dimension, "
            "i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, "
            "please switch to using dropout1d instead."
        )
    _check_channels(input.ndim)
    return _of_channels(input, p, training, inplace, 2)


def dropout3d(
    input: Any, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Any:
    """Return `dropout1d` of inputs of shape (N, C, D, H, W) or (C, D, H, W)."""
    _check(p)
    _warn("dropout3d", 3, input.ndim)
    batched = input.ndim == 5
    _check_channels(input.ndim + (not batched))
    return _of_channels(input, p, training, inplace, 2 if batched else 1)


_ALPHA = 1.7580993408473766  # of SELU: its limit for small numbers is -_ALPHA


def _selu_dropout(
    input: Any, p: float, training: bool, inplace: bool, lead: int | None
) -> Any:
    """Set to SELU's lower limit, and bring mean 0 and variance 1 back."""
    if not training or p == 0:
        return input
    a = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p)) if p < 1 else 0.0

    def dropped(x: Any) -> Any:
        kept = dropout(_ones(x, lead), p) != 0
        return np.where(kept, x, -_ALPHA if p < 1 else 0) * a + _ALPHA * a * p

    return _written(inplace, input if inplace else settled("dropout", input), dropped)


def alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Set elements to SELU's lower limit with probability `p`.

    All are scaled and shifted, so that mean 0 and variance 1 remain.

    Parameters
    ----------
    input : tensor
        Elements are drawn by their index in the whole array: layouts do not matter.
    p : float, default 0.5
    training : bool, default False
        If False, the input itself is returned and nothing is drawn.
    inplace : bool, default False
        Whether to write the result into `input`.

    Raises
    ------
    ValueError
        If `p` is not a probability.
    """
    _check(p)
    return _selu_dropout(input, p, training, inplace, None)


def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    """Return `alpha_dropout` of whole channels, of inputs of shape (N, C, ...)."""
    _check(p)
    if training and p > 0:
        _check_channels(input.ndim)
    return _selu_dropout(input, p, training, inplace, 2)


# --- other noise ----------------------------------------------------------------------


def rrelu(
    input: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    """Return the input where it is positive, else a random multiple of it.

    Parameters
    ----------
    input : tensor
    lower, upper : float
        The factors are drawn evenly from between.
    training : bool, default False
        If False, the factor is their mean.
    inplace : bool, default False
        Whether to write the result into `input`.

    Raises
    ------
    RuntimeError
        If `lower` exceeds `upper`.
    """
    if lower > upper:
        raise RuntimeError(
            "Lower bound should be less than or equal to the upper bound"
        )
    if not training:
        slope = (lower + upper) / 2
        return _written(inplace, input, lambda x: leaky_relu(x, slope))

    def sloped(x: Any) -> Any:
        slopes = rand_like(x.detach()) * (upper - lower) + lower
        return np.where(x > 0, x, x * slopes)

    return _written(inplace, input if inplace else settled("rrelu", input), sloped)


def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """Return the softmax of logits with noise: samples of classes, with gradients.

    Parameters
    ----------
    logits : tensor
        Logarithms of probabilities.
    tau : float, default 1
        The temperature: small ones give samples that are almost one-hot.
    hard : bool, default False
        Whether samples are one-hot; their gradient is that of the softmax.
    eps : float
        Without effect.
    dim : int, default -1
        The dim of classes.
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    logits = settled("gumbel_softmax", logits)
    with no_grad():
        noise = -np.log(exponential_(empty_like(logits)))
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    fixed = soft.detach()
    best = np.expand_dims(np.argmax(fixed, axis=dim), dim)
    shape = [1] * logits.ndim
    shape[dim] = -1
    hot = best == np.arange(logits.shape[dim]).reshape(shape)
    return astype(hot, soft.dtype) - fixed + soft
