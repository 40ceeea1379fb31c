"""Sums for each channel of a batch, and numbers scaled by channels: what a batch norm
and its gradient are made of.

Channels are dim 1, and any dim may be cut. Sums are Partial where dims other than the
channels are: nothing is sent here.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.kernel import kernel_for
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, Words, rule

__all__ = ["channel_mix", "channel_squares", "channel_sums", "gathered", "spread"]

Array = npt.NDArray[Any]


def spread(vector: Any, x: Any) -> Any:
    """Return a vector with a number for each channel such that it is broadcast to x."""
    return np.reshape(vector, (-1,) + (1,) * (x.ndim - 2))


def gathered(x: Any) -> Any:
    """Return the sum for each channel."""
    return np.sum(x, axis=(0, *range(2, x.ndim)))


def _words(x: Operand) -> tuple[Words, Words]:
    """Return the words of `x`, and those of a vector."""
    names = letters(x.ndim)
    return names, names[1:2]


# --- with NumPy's functions, for dtypes that the C kernels lack -----------------------


def _squares(x: Array, mean: Array) -> Any:
    return gathered((x - spread(mean, x)) ** 2)


def _sums(g: Array, x: Array, mean: Array) -> Any:
    return gathered(g), gathered(g * (x - spread(mean, x)))


def _mix(
    x: Array,
    mean: Array,
    scale: Array,
    shift: Array | None,
    g: Array | None,
    factor: Array | None,
) -> Any:
    out = (x - spread(mean, x)) * spread(scale, x)
    if shift is not None:
        out = out + spread(shift, x)
    return out if g is None else out + g * spread(factor, x)


# --- operators ------------------------------------------------------------------------


@operator
def channel_squares(x: Operand, mean: Operand) -> Answer:
    """Return the sum of ``(x - mean)**2`` for each channel.

    Parameters
    ----------
    x : array_like, shape (samples, channels, ...)
    mean : array_like, shape (channels,)
    """
    whole, each = _words(x)
    kernel, dtype = kernel_for("channel_squares", [x.dtype, mean.dtype], _squares)
    return rule([whole, each], [each]), call(kernel, x, mean), dtype


@channel_squares.vjp_all
def _(_needs: Any, grad: Any, _out: Any, x: Any, mean: Any) -> tuple[Any, ...]:
    twice = grad * 2
    sums, _ = channel_sums(x - spread(mean, x), x, mean)
    return channel_mix(x, mean, twice), -twice * sums


@operator
def channel_sums(g: Operand, x: Operand, mean: Operand) -> Answer:
    """Return the sums of ``g`` and of ``g * (x - mean)`` for each channel.

    Parameters
    ----------
    g, x : array_like, shape (samples, channels, ...)
    mean : array_like, shape (channels,)

    Returns
    -------
    sums, products : DTensor, shape (channels,)
    """
    whole, each = _words(x)
    dtypes = [g.dtype, x.dtype, mean.dtype]
    kernel, dtype = kernel_for("channel_sums", dtypes, _sums)
    text = rule([whole, whole, each], [each, each], "0")
    return text, call(kernel, g, x, mean), dtype


@channel_sums.vjp_all
def _(
    _needs: Any, grad: tuple[Any, Any], _out: Any, g: Any, x: Any, mean: Any
) -> tuple[Any, ...]:
    of_sums, of_products = grad
    if of_products is None:
        return np.broadcast_to(spread(of_sums, x), x.shape), None, None
    by_x = g * spread(of_products, x)
    return channel_mix(x, mean, of_products, of_sums), by_x, -gathered(by_x)


@operator
def channel_mix(
    x: Operand,
    mean: Operand,
    scale: Operand,
    shift: Operand | None = None,
    g: Operand | None = None,
    factor: Operand | None = None,
) -> Answer:
    """Return ``(x - mean) * scale + shift + g * factor``.

    Parameters
    ----------
    x, g : array_like, shape (samples, channels, ...)
        `g` may be None, and then `factor` is.
    mean, scale, shift, factor : array_like, shape (channels,)
        `shift` may be None: 0.
    """
    whole, each = _words(x)
    given = [(x, whole), (mean, each), (scale, each), (shift, each), (g, whole)]
    there = [(v, words) for v, words in [*given, (factor, each)] if v is not None]
    kernel, dtype = kernel_for("channel_mix", [v.dtype for v, _ in there], _mix)
    text = rule([words for _, words in there], [whole])
    return text, call(kernel, x, mean, scale, shift, g, factor), dtype


@channel_mix.vjp_all
def _(
    _needs: Any,
    grad: Any,
    _out: Any,
    x: Any,
    mean: Any,
    scale: Any,
    shift: Any = None,
    g: Any = None,
    factor: Any = None,
) -> tuple[Any, ...]:
    sums, products = channel_sums(grad, x, mean)
    found = [grad * spread(scale, x), -scale * sums, products]
    if shift is not None:
        found.append(sums)
    if g is not None:
        found += [grad * spread(factor, x), gathered(grad * g)]
    return tuple(found)
