"""batch_norm: name, arguments and formulas as in torch.nn.functional.

The mean and the variance are those of the whole batch, wherever its samples lie. Each
is reduced once, a number for each channel, and so are their gradients.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dtensor._C import DTensor
from dtensor.autograd.grad_mode import is_grad_enabled, no_grad
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.elementwise import is_floating
from dtensor.ops._make.recorded import recorded
from dtensor.ops.model.channels import (
    channel_mix,
    channel_squares,
    channel_sums,
    gathered,
)

__all__ = ["Reduce", "batch_norm", "normalized", "update"]

Reduce = Callable[[Any], Any]


class _Batch:
    """What the mean of a channel is of: a tensor, or what ranks have together."""

    def __init__(self, x: Any, reduce: Reduce | None) -> None:
        self.across = reduce
        count = math.prod((x.shape[0], *x.shape[2:]))
        self.count = count if reduce is None else int(reduce(np.asarray(count)))

    def total(self, sums: Any) -> Any:
        """Return sums for each channel, whole on every rank that has the channel."""
        return self.across(sums) if self.across else settled("batch_norm", sums)

    def statistics(self, x: Any) -> tuple[Any, Any]:
        """Return the mean and the biased variance of each channel."""
        mean = self.total(gathered(x)) / max(1, self.count)
        squares = channel_squares(x, mean)
        if isinstance(x, np.ndarray):  # which goes with tensors of any mesh
            squares = np.asarray(squares)
        return mean, self.total(squares) / max(1, self.count)


def _normed(x: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    scale = 1 / np.sqrt(var + eps)
    return channel_mix(x, mean, scale if weight is None else scale * weight, bias)


def _back(
    batch: _Batch,
    grad: Any,
    _out: Any,
    x: Any,
    weight: Any,
    _bias: Any,
    mean: Any,
    var: Any,
    eps: float,
) -> tuple[Any, Any, Any]:
    """Return the gradients where `mean` and `var` are those of the batch: with
    n = (x - mean) scale and h = grad weight,

        dx = (h - mean of h - n mean of h n) scale
    """
    if is_grad_enabled():  # the gradients have one, too, through the statistics
        mean, var = batch.statistics(x)
    scale = 1 / np.sqrt(var + eps)
    factor = scale if weight is None else scale * weight
    own = sums, products = channel_sums(grad, x, mean)
    sums, products = batch.total(sums), batch.total(products)
    shift = factor / -max(1, batch.count)
    slope = shift * scale**2
    dx = channel_mix(x, mean, slope * products, shift * sums, grad, factor)
    of_bias, of_scale = own if batch.across else (sums, products)
    dweight = None if weight is None else of_scale * scale
    return dx, dweight, None if _bias is None else of_bias


def _check(
    x: Any, count: int, training: bool, eps: float, vectors: dict[str, Any]
) -> None:
    """Raise what torch raises."""
    if training and count == 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, got input size "
            f"{list(x.shape)}"
        )
    if eps < 0 or (training and eps == 0):
        must = "positive during training" if training else "non-negative"
        raise ValueError(f"batch_norm eps must be {must}, but got {eps}")
    _check_running(training, vectors["running_mean"], vectors["running_var"])
    for name, vector in vectors.items():
        if vector is not None and math.prod(vector.shape) != x.shape[1]:
            raise RuntimeError(
                f"{name} should contain {x.shape[1]} elements not "
                f"{math.prod(vector.shape)}"
            )
    dtype = np.dtype(x.dtype)
    if not is_floating(dtype):
        raise NotImplementedError(f'"batch_norm" not implemented for {dtype.name!r}')
    allowed = {dtype} | ({np.dtype(np.float32)} if dtype.itemsize == 2 else set())
    if not {np.dtype(v.dtype) for v in vectors.values() if v is not None} <= allowed:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_running(training: bool, mean: Any, var: Any) -> None:
    if training and (mean is None) != (var is None):
        raise ValueError(
            "running_mean and running_var must either both be None or neither be None"
        )
    for name, running in (("running_mean", mean), ("running_var", var)):
        if not training and running is None:
            raise RuntimeError(f"{name} must be defined in evaluation mode")


def update(running: Any, value: Any, momentum: float) -> None:
    """Bring a running mean nearer, in place; one of this rank takes what is whole."""
    if isinstance(value, DTensor) and not isinstance(running, DTensor):
        value = value.full_tensor()
    value = as_dtype(value * momentum, running.dtype)
    np.add(running * (1 - momentum), value, out=running)


def normalized(
    input: Any,  # noqa: A002
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: bool,
    momentum: float,
    eps: float,
    reduce: Reduce | None = None,
) -> Any:
    """Return `batch_norm`, of samples whose sums `reduce` adds up over ranks."""
    vectors = {
        "running_mean": running_mean,
        "running_var": running_var,
        "weight": weight,
        "bias": bias,
    }
    batch = _Batch(input, reduce if training else None)
    _check(input, batch.count, training, eps, vectors)
    wide = np.dtype(np.float32) if np.dtype(input.dtype).itemsize == 2 else input.dtype
    x = as_dtype(settled("batch_norm", input), wide)
    weight, bias = (None if v is None else as_dtype(v, wide) for v in (weight, bias))
    if not training:
        mean, var = as_dtype(running_mean, wide), as_dtype(running_var, wide)
        return as_dtype(_normed(x, weight, bias, mean, var, eps), input.dtype)
    with no_grad():
        mean, var = batch.statistics(x)
        if running_mean is not None and batch.count:
            update(running_mean, mean, momentum)
            update(running_var, var * (batch.count / (batch.count - 1)), momentum)
    back = partial(_back, batch)
    out = recorded("batch_norm", _normed, back, (x, weight, bias), mean, var, eps)
    return as_dtype(out, input.dtype)


def batch_norm(
    input: Any,  # noqa: A002
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Bring each channel to mean 0 and variance 1, then scale and shift.

    ``(x - mean) / sqrt(variance + eps) * weight + bias`` [1]_. In training, mean and
    (biased) variance are those of the channel in all samples and places of the global
    batch: equal to one process on every layout, as torch's ``SyncBatchNorm``. They are
    reduced once each, a number for each channel, and nothing else is sent, but for
    running means of channels that `input` has in parts only. In evaluation, nothing is.

    Parameters
    ----------
    input : tensor, shape (samples, channels, ...)
        Any dims may be cut.
    running_mean, running_var : tensor, shape (channels,), or None
        What is used in evaluation. Training brings them nearer to the mean and to the
        unbiased variance of the batch, in place.
    weight, bias : tensor, shape (channels,), optional
    training : bool, default False
    momentum : float, default 0.1
        How much nearer.
    eps : float, default 1e-5

    Returns
    -------
    tensor
        Of the shape, dtype and layout of `input`.

    Raises
    ------
    ValueError
        If there is one value per channel in training; for an `eps` that is not
        positive.
    RuntimeError
        If shapes or dtypes do not fit, or evaluation lacks the running mean or
        variance.
    NotImplementedError
        For a dtype that is not of real floating-point numbers.

    References
    ----------
    .. [1] S. Ioffe and C. Szegedy, "Batch Normalization", 2015.
    """
    return normalized(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
