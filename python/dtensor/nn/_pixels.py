"""Channels that become pixels, pixels that become channels, channels in turn."""

from typing import Any

import numpy as np

from dtensor.ops.methods.torch import contiguous

__all__ = ["channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]


def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Return an image with `upscale_factor` times the height and the width.

    Parameters
    ----------
    input : tensor, shape (..., C * r * r, H, W)
    upscale_factor : int
        r.

    Returns
    -------
    tensor, shape (..., C, H * r, W * r)

    Raises
    ------
    RuntimeError
        If shapes do not fit.
    """
    r = upscale_factor
    if input.ndim < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input "
            f"with {input.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(
            f"pixel_shuffle expects a positive upscale_factor, but got {r}"
        )
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by "
            f"the square of upscale_factor, but input.size(-3)={channels} is not "
            f"divisible by {r * r}"
        )
    n = len(lead)
    x = np.reshape(input, (*lead, channels // (r * r), r, r, height, width))
    x = np.transpose(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return np.reshape(x, (*lead, channels // (r * r), height * r, width * r))


def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Return the inverse of `pixel_shuffle`.

    Parameters
    ----------
    input : tensor, shape (..., C, H * r, W * r)
    downscale_factor : int
        r.

    Returns
    -------
    tensor, shape (..., C * r * r, H, W)

    Raises
    ------
    RuntimeError
        If shapes do not fit.
    """
    r = downscale_factor
    if input.ndim < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got "
            f"input with {input.ndim} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(
            f"pixel_unshuffle expects a positive downscale_factor, but got {r}"
        )
    *lead, channels, height, width = input.shape
    for name, length, dim in (("height", height, -2), ("width", width, -1)):
        if length % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, "
                f"but input.size({dim})={length} is not divisible by {r}"
            )
    n = len(lead)
    x = np.reshape(input, (*lead, channels, height // r, r, width // r, r))
    x = np.transpose(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return np.reshape(x, (*lead, channels * r * r, height // r, width // r))


def channel_shuffle(input: Any, groups: int) -> Any:
    """Return the input with its channels taken from each of some groups in turn.

    Parameters
    ----------
    input : tensor, shape (N, C, ...)
    groups : int
        Into how many groups the channels are divided.

    Raises
    ------
    RuntimeError
        If shapes do not fit.
    """
    if input.ndim < 3:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    count, channels, *rest = input.shape
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:"
            f"{groups}"
        )
    if channels % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{channels} channels and {groups} groups."
        )
    x = np.reshape(input, (count, groups, channels // groups, *rest))
    turned = contiguous(np.swapaxes(x, 1, 2))
    return np.reshape(turned, (count, channels, *rest))
