"""Maxima of windows whose places are drawn, and cross entropy behind a linear map."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.nn.utils.rnn import floats
from dtensor.ops._make.composite import settled
from dtensor.ops.model.linear import linear
from dtensor.ops.model.loss import cross_entropy
from dtensor.random import default_generator

__all__ = [
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "linear_cross_entropy",
]

Lengths = int | Sequence[int]
Array = npt.NDArray[Any]
_SIDES = ("time", "height", "width")

# --- pools ----------------------------------------------------------------------------


def _starts(samples: Array, length: int, out: int, size: int) -> Array:
    """Return where the windows of a dim begin, of samples of shape (N, channels)."""
    if out == 1:
        return np.full((*samples.shape, 1), length - size)
    step = (length - size) / (out - 1)
    place = np.arange(out - 1)
    first = ((place + samples[..., None]) * step).astype(np.int64)
    first -= (samples[..., None] * step).astype(np.int64)
    last = np.full((*samples.shape, 1), length - size)
    return np.concatenate([first, last], -1)


def _places(
    starts: list[Array], lengths: Sequence[int], sizes: Sequence[int]
) -> tuple[Array, tuple[int, ...]]:
    """Return the flat indices of all windows' elements, (N, C, windows * elements)."""
    dims = len(lengths)
    flat: Any = 0
    for d, (first, length, size) in enumerate(zip(starts, lengths, sizes, strict=True)):
        index = first[..., None] + np.arange(size)  # (N, C, out, size)
        shape = [*index.shape[:2], *[1] * 2 * dims]
        shape[2 + d], shape[2 + dims + d] = index.shape[2:]
        flat = flat * length + index.reshape(shape)
    return flat.reshape(*flat.shape[:2], -1), flat.shape[2 : 2 + dims]


def _pool(
    dims: int,
    input: Any,
    kernel_size: Lengths,
    output_size: Lengths | None,
    output_ratio: Any,
    return_indices: bool,
    samples: Any,
) -> Any:
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(
            f"{name} requires specifying either an output_size or an output_ratio"
        )
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: "
            f"{list(input.shape)}"
        )
    lengths = tuple(int(n) for n in input.shape[-dims:])
    sizes = _each(kernel_size, dims)
    if output_size is None:
        ratios = _each(output_ratio, dims)
        output_size = [int(n * r) for n, r in zip(lengths, ratios, strict=True)]
    outs = _each(output_size, dims)
    for side, n, out, size in zip(_SIDES[-dims:], lengths, outs, sizes, strict=True):
        if out + size - 1 > n:
            raise RuntimeError(
                f"{name}(): pool {side} {size} too large relative to input {side} {n}"
            )
    x: Any = settled(
        name, input if input.ndim == dims + 2 else np.expand_dims(input, 0)
    )
    rows = tuple(int(n) for n in x.shape[:2])
    if samples is None:
        samples = default_generator().random((*rows, dims))
    drawn = np.broadcast_to(floats(samples)[: rows[0]], (*rows, dims))
    order = range(dims) if dims == 3 else reversed(range(dims))
    starts = [
        _starts(drawn[..., k], *each)
        for k, each in zip(order, zip(lengths, outs, sizes, strict=True), strict=True)
    ]
    places, shape = _places(starts, lengths, sizes)
    flat = np.reshape(x, (*rows, math.prod(lengths)))
    windows = (*rows, *shape, math.prod(sizes))
    found: Any = np.reshape(np.take_along_axis(flat, places, -1), windows)
    best = np.expand_dims(np.argmax(found.detach(), axis=-1), -1)
    values = np.squeeze(np.take_along_axis(found, best, -1), -1)
    values = values if input.ndim == dims + 2 else np.squeeze(values, 0)
    if not return_indices:
        return values
    whole = np.zeros_like(found.detach(), dtype=np.int64) + places.reshape(windows)
    index = np.squeeze(np.take_along_axis(whole, best, -1), -1)
    return values, index if input.ndim == dims + 2 else np.squeeze(index, 0)


def _each(x: Any, dims: int) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, Sequence) else (x,) * dims


def fractional_max_pool2d(
    input: Any,
    kernel_size: Lengths,
    output_size: Lengths | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Return the largest element of windows of the last two dims, in places drawn.

    Parameters
    ----------
    input : tensor, shape ([N,] channels, height, width)
    kernel_size : int or sequence of int
        The size of the windows.
    output_size : int or sequence of int, optional
        How many windows there are along each dim.
    output_ratio : float or sequence of float, optional
        Or how many for each element of the input.
    return_indices : bool, default False
        Whether to return the flat indices of the elements, too.
    _random_samples : tensor, shape (N, channels, 2), optional
        Numbers from 0 to 1 that the places are made of, the last dim's first; default:
        drawn, the same for every layout.

    Raises
    ------
    ValueError
        If neither `output_size` nor `output_ratio` is given.
    RuntimeError
        If windows do not fit into the input.
    """
    given = kernel_size, output_size, output_ratio, return_indices
    return _pool(2, input, *given, _random_samples)


def fractional_max_pool3d(
    input: Any,
    kernel_size: Lengths,
    output_size: Lengths | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Return the largest element of windows of the last three dims, in places drawn.

    See `fractional_max_pool2d`; of `_random_samples` the first dim's are the first.
    """
    given = kernel_size, output_size, output_ratio, return_indices
    return _pool(3, input, *given, _random_samples)


def fractional_max_pool2d_with_indices(
    input: Any,
    kernel_size: Lengths,
    output_size: Lengths | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Return maxima and their indices: see `fractional_max_pool2d`."""
    given = kernel_size, output_size, output_ratio, True
    return _pool(2, input, *given, _random_samples)


def fractional_max_pool3d_with_indices(
    input: Any,
    kernel_size: Lengths,
    output_size: Lengths | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Return maxima and their indices: see `fractional_max_pool3d`."""
    given = kernel_size, output_size, output_ratio, True
    return _pool(3, input, *given, _random_samples)


# --- a linear map and its cross entropy -----------------------------------------------


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Any:
    """Return the cross entropy of ``linear(input, linear_weight, linear_bias)``.

    Parameters
    ----------
    input : tensor, shape ([N,] in_features)
    linear_weight : tensor, shape (C, [d_1, ..., d_K,] in_features)
    target : tensor
        Classes, of shape ([N,] [d_1, ..., d_K]), or their probabilities, of shape ([N,]
        C, [d_1, ..., d_K]).
    linear_bias : tensor, shape (C, [d_1, ..., d_K]), optional
    weight, reduction, ignore_index, label_smoothing
        As of `cross_entropy`.
    options : LinearCrossEntropyOptions, optional
        Ignored: the logits are held.

    Raises
    ------
    RuntimeError
        If shapes do not fit, or classes are ignored of probabilities.
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(
            f"expected input with dimensionality 1 or 2, got {input.ndim}"
        )
    if linear_weight.ndim < 2:
        raise RuntimeError(
            "expected linear_weight with dimensionality at least 2, got "
            f"{linear_weight.ndim}"
        )
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outs = tuple(int(n) for n in linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outs:
        raise RuntimeError(
            f"expected linear_bias shape {outs}, got {tuple(linear_bias.shape)}"
        )
    if len(outs) > 1 and input.ndim == 1:
        raise RuntimeError(
            "K-dimensional loss defined by linear_weight shape "
            f"{tuple(linear_weight.shape)} requires batched input, (N, "
            f"{input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    shape = (*(int(n) for n in input.shape[:-1]), *outs)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError(
            "ignore_index cannot be specified when target contains probabilities"
        )
    if len(outs) > 1:
        linear_weight = np.reshape(linear_weight, (math.prod(outs), -1))
        linear_bias = None if linear_bias is None else np.reshape(linear_bias, -1)
    logits = linear(input, linear_weight, linear_bias)
    return cross_entropy(
        np.reshape(logits, shape) if len(outs) > 1 else logits,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
