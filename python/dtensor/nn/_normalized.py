"""Norms of each channel of each sample, and over neighbouring channels."""

import math
from typing import Any

import numpy as np

from dtensor.autograd.grad_mode import no_grad
from dtensor.ops._make.composite import as_dtype, settled
from dtensor.ops._make.halves import is_half
from dtensor.ops.model.batch_norm import batch_norm, update
from dtensor.ops.model.norm import group_norm

__all__ = ["instance_norm", "local_response_norm"]


def _track(x: Any, running_mean: Any, running_var: Any, momentum: float) -> None:
    """Bring running means nearer to those of the samples, in place."""
    with no_grad():
        x = settled("instance_norm", x.detach())
        x = as_dtype(x, np.float32) if is_half(x.dtype) else x
        axes = tuple(range(2, x.ndim))
        mean = np.mean(x, axis=axes, keepdims=True)
        count = math.prod(x.shape[2:])
        var = np.sum((x - mean) ** 2, axis=axes) / (count - 1)
        for running, values in ((running_mean, mean), (running_var, var)):
            if running is not None:
                values = np.reshape(values, x.shape[:2])
                found = settled("instance_norm", np.mean(values, axis=0))
                update(running, found, momentum)


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Bring each channel of each sample to mean 0 and variance 1, scale and shift.

    Parameters
    ----------
    input : tensor, shape (N, C, ...)
    running_mean, running_var : tensor, shape (C,), optional
        Brought nearer to the means over the samples, in place; used instead of the
        input's own without `use_input_stats`.
    weight, bias : tensor, shape (C,), optional
    use_input_stats : bool, default True
    momentum : float, default 0.1
        How much nearer.
    eps : float, default 1e-5

    Raises
    ------
    ValueError
        If there is one element in each channel.
    RuntimeError
        If shapes do not fit, or running means are lacking.
    """
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when "
                "use_input_stats is false"
            )
        return batch_norm(
            input, running_mean, running_var, weight, bias, False, momentum, eps
        )
    if math.prod(input.shape[2:]) == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{list(input.shape)}"
        )
    if running_mean is not None or running_var is not None:
        _track(input, running_mean, running_var, momentum)
    if input.ndim > 1 and input.shape[1] == 0:
        return input * 1
    return group_norm(input, int(input.shape[1]), weight, bias, eps)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Divide by ``(k + alpha * mean of squares) ** beta`` over neighbouring channels.

    Parameters
    ----------
    input : tensor, shape (N, C, ...)
    size : int
        How many channels; beyond the first and the last one are zeros.
    alpha, beta, k : float

    Raises
    ------
    ValueError
        If the input has fewer than three dims.
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if input.size == 0:
        return input
    x = settled("local_response_norm", input)
    ends = [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (x.ndim - 2)]
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x * x, ends), size, axis=1
    )
    return x / (np.mean(windows, axis=-1) * alpha + k) ** beta
