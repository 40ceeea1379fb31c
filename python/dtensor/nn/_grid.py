"""Sampling at any places: `grid_sample`, and the grids of affine maps."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.ops._make.composite import composite
from dtensor.ops.index.take import take_along_axis

__all__ = ["affine_grid", "grid_sample"]


def _fixed(x: Any) -> Any:
    return x.detach() if isinstance(x, Tensor) else x


# --- places ---------------------------------------------------------------------------


def _unnormalized(x: Any, length: int, align_corners: bool) -> Any:
    """Return places from -1 to 1 as numbers of elements."""
    if align_corners:
        return (x + 1) * ((length - 1) / 2)
    return ((x + 1) * length - 1) / 2


def _reflected(x: Any, length: int, align_corners: bool) -> Any:
    low, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
    if span == 0:
        return x * 0
    away = np.abs(x - low)
    turns = np.floor(_fixed(away) / span)
    rest = away - turns * span
    back = np.mod(turns, 2) == 1
    return np.where(back, span - rest, rest) + low


def _moved(x: Any, length: int, mode: str, align_corners: bool) -> Any:
    """Return places inside, but for the padding of zeros."""
    if mode == "reflection":
        x = _reflected(x, length, align_corners)
    return x if mode == "zeros" else _clipped(x, length)


def _clipped(x: Any, length: int) -> Any:
    """Return places moved to the nearest element; the gradient of the outermost ones is
    0, as of those outside."""
    fixed = _fixed(x)
    between = (fixed > 0) & (fixed < length - 1)
    return np.where(between, x, np.clip(fixed, 0, length - 1))


# --- elements -------------------------------------------------------------------------


class _Source:
    """The elements of an input, by numbers along each dim."""

    def __init__(self, input: Any, places: Any) -> None:
        self.lengths = tuple(input.shape[2:])
        lead = tuple(input.shape[:2])
        self.flat = input.reshape((*lead, math.prod(self.lengths)))
        self.shape = (*lead, *places)

    def at(self, numbers: Sequence[Any]) -> Any:
        """Return the elements at numbers of shape (samples, places); 0 outside."""
        index: Any = 0
        inside: Any = True
        for k, length in zip(numbers, self.lengths, strict=True):
            within = (k >= 0) & (k <= length - 1)  # not if it is NaN
            inside = inside & within
            index = index * length + np.where(within, k, 0).astype(np.int64)
        wide = np.broadcast_to(
            index[:, None], (index.shape[0], self.shape[1], index.shape[1])
        )
        return np.where(inside[:, None], take_along_axis(self.flat, wide, 2), 0)


def _bilinear(source: _Source, places: Sequence[Any]) -> Any:
    below = [np.floor(_fixed(x)) for x in places]
    out: Any = 0
    for corner in itertools.product((0, 1), repeat=len(places)):
        weight: Any = 1
        for upper, x, low in zip(corner, places, below, strict=True):
            weight = weight * (x - low if upper else 1 - (x - low))
        numbers = [low + upper for upper, low in zip(corner, below, strict=True)]
        out = out + source.at(numbers) * weight[:, None]
    return out


def _bicubic(
    source: _Source, places: Sequence[Any], padding: str, align_corners: bool
) -> Any:
    below = [np.floor(_fixed(x)) for x in places]
    far = [x - low for x, low in zip(places, below, strict=True)]
    weights = [_cubic_weights(x) for x in far]
    out: Any = 0
    for taps in itertools.product(range(4), repeat=2):
        numbers = [
            _moved(low + (tap - 1), length, padding, align_corners)
            for tap, low, length in zip(taps, below, source.lengths, strict=True)
        ]
        weight = weights[0][taps[0]] * weights[1][taps[1]]
        out = out + source.at(numbers) * weight[:, None]
    return out


def _cubic_weights(x: Any) -> list[Any]:
    a = -0.75
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (x, 1 - x)]
    wide = [((d - 5) * d + 8) * d * a - 4 * a for d in (x + 1, 2 - x)]
    return [wide[0], *near, wide[1]]


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Return the elements of an input at places that a grid gives.

    Parameters
    ----------
    input : tensor, shape (samples, channels, height, width), or with a depth
    grid : tensor, shape (samples, rows, columns, 2), or (samples, ..., 3)
        Places from -1 to 1, the last dim of `input` first.
    mode : {"bilinear", "nearest", "bicubic"}
        How elements between places are taken; "bicubic" without a depth.
    padding_mode : {"zeros", "border", "reflection"}
        What is outside.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost elements, not their far ends;
        default: False.

    Returns
    -------
    tensor, shape (samples, channels, rows, columns)
        Samples that are cut stay cut and send nothing.

    Raises
    ------
    ValueError, RuntimeError
        If a mode is another one, or the shapes do not fit. On every rank.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or "
            f"'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
            f"'border', or 'reflection', but got: '{padding_mode}'"
        )
    count = input.ndim - 2
    if count not in (2, 3) or grid.ndim != input.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of "
            f"dimensions, but got input with sizes {list(input.shape)} and grid with "
            f"sizes {list(grid.shape)}"
        )
    if grid.shape[0] != input.shape[0] or grid.shape[-1] != count:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, and grid "
            f"to have size {count} in last dimension, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if 0 in input.shape[1:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but "
            f"input has sizes {list(input.shape)}"
        )
    if mode == "bicubic" and count == 3:
        raise RuntimeError(
            "grid_sampler(): bicubic interpolation only supports 4D input"
        )
    align = bool(align_corners)
    shape = tuple(grid.shape[1:-1])
    flat = grid.reshape((grid.shape[0], math.prod(shape), count))
    source = _Source(input, shape)
    places = [
        _unnormalized(flat[..., count - 1 - d], length, align)
        for d, length in enumerate(source.lengths)
    ]
    if mode != "bicubic":
        places = [
            _moved(x, length, padding_mode, align)
            for x, length in zip(places, source.lengths, strict=True)
        ]
    if mode == "nearest":
        out = source.at([np.rint(_fixed(x)) for x in places])
        if getattr(grid, "requires_grad", False):  # its gradient is 0
            out = out + places[0][:, None] * 0
    elif mode == "bilinear":
        out = _bilinear(source, places)
    else:
        out = _bicubic(source, places, padding_mode, align)
    return out.reshape(source.shape)


@composite
def affine_grid(
    theta: Any, size: Sequence[int], align_corners: bool | None = None
) -> Any:
    """Return the grid of an affine map, for `grid_sample`.

    Parameters
    ----------
    theta : tensor, shape (samples, 2, 3), or (samples, 3, 4) with a depth
        The maps, of places and a 1.
    size : sequence of int
        That of the result of `grid_sample`: samples, channels, lengths.
    align_corners : bool, optional
        As in `grid_sample`.

    Returns
    -------
    tensor, shape (samples, lengths..., 2 or 3)

    Raises
    ------
    ValueError
        If the shapes do not fit, or `theta` has no floating-point numbers.
    """
    lengths = tuple(int(n) for n in size[2:])
    count = len(lengths)
    if theta.dtype.kind not in "f":
        raise ValueError(
            f"Expected theta to have floating point type, but got {theta.dtype}"
        )
    if count not in (2, 3) or tuple(theta.shape[1:]) != (count, count + 1):
        raise ValueError(
            f"Expected a batch of {count}D affine matrices of shape "
            f"Nx{count}x{count + 1} for size {tuple(size)}. Got {tuple(theta.shape)}."
        )
    if min(lengths) < 1 or int(size[0]) != theta.shape[0]:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    ends = [_ends(n, bool(align_corners)) for n in lengths]
    axes = np.meshgrid(*ends, indexing="ij")
    base = np.stack([*(x.ravel() for x in axes[::-1]), np.ones(axes[0].size)], -1)
    turned = np.swapaxes(theta, 1, 2)
    return np.matmul(base.astype(np.dtype(theta.dtype)), turned).reshape(
        (theta.shape[0], *lengths, count)
    )


def _ends(length: int, align_corners: bool) -> Any:
    places = np.linspace(-1, 1, length) if length > 1 else np.zeros(1)
    return places if align_corners else places * ((length - 1) / length)
