"""Resizing: each dim by itself (ops/model/resample.py)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.autocast import in_single
from dtensor.ops._make.composite import as_dtype
from dtensor.ops._make.halves import is_half
from dtensor.ops.model.pool import adaptive_avg_pool1d, adaptive_avg_pool2d
from dtensor.ops.model.resample import Sampling, resample

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

# mode -> how many dims after the channels
_DIMS = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "area": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
}
_SMOOTH = "bilinear", "bicubic"  # which have antialias


# --- the sizes ------------------------------------------------------------------------


def _each(name: str, words: str, given: Any, lengths: list[int]) -> list[Any]:
    """Return one number for each dim."""
    if not isinstance(given, list | tuple):
        return [given] * len(lengths)
    if len(given) != len(lengths):
        raise ValueError(
            f"Input and {words} must have the same number of spatial dimensions, but "
            f"got input with spatial dimensions of {lengths} and {name} of {given}. "
            "Please provide input tensor in (N, C, d1, d2, ...,dK) format and one "
            "number for each of d1, d2, ...,dK."
        )
    return list(given)


def _sizes(
    size: Any, scale_factor: Any, lengths: list[int]
) -> tuple[list[int], list[float | None]]:
    """Return the lengths of the result, and by which factors they came about."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = _each("output size", "output", size, lengths)
        if not all(isinstance(n, int | np.integer) for n in sizes):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {[*map(type, sizes)]}"
            )
        return [int(n) for n in sizes], [None] * len(lengths)
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = _each("scale_factor", "scale_factor", scale_factor, lengths)
    sizes = [math.floor(n * factor) for n, factor in zip(lengths, factors, strict=True)]
    return sizes, [float(factor) for factor in factors]


def _check(input: Any, mode: str, sizes: list[int]) -> None:
    dims = input.ndim - 2
    if mode not in _DIMS or dims not in (1, 2, 3):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.ndim}D) for the modes: {' | '.join(_DIMS)} (got {mode})"
        )
    if dims not in _DIMS[mode]:
        needs = _DIMS[mode][0] + 2
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs {needs}D input"
        )
    kind = np.dtype(input.dtype).kind
    if kind in "bic" or (kind == "u" and not mode.startswith("nearest")):
        raise NotImplementedError(f"{mode!r} is not implemented for {input.dtype}")
    lengths = list(input.shape[2:])
    if min(*lengths, *sizes) <= 0:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"{lengths} output {sizes}"
        )


def _area(x: Any, sizes: list[int]) -> Any:
    """Return means of areas: of volumes those of areas, then along the first dim."""
    if len(sizes) == 1:
        return adaptive_avg_pool1d(x, sizes)
    if len(sizes) == 2:
        return adaptive_avg_pool2d(x, sizes)
    count, channels, depth, height, width = x.shape
    x = np.reshape(x, (count, channels * depth, height, width))
    x = np.reshape(adaptive_avg_pool2d(x, sizes[1:]), (count, channels, depth, -1))
    x = adaptive_avg_pool2d(x, (sizes[0], sizes[1] * sizes[2]))
    return np.reshape(x, (count, channels, *sizes))


@in_single
def interpolate(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Return the input with other lengths of the dims after the channels.

    Dims that keep their length, and dims 0 and 1, stay cut.

    Parameters
    ----------
    input : tensor, shape (N, C, lengths...)
        With one, two or three lengths.
    size : int or sequence of int, optional
        The new lengths.
    scale_factor : float or sequence of float, optional
        Instead: what they are multiplied with, rounded down.
    mode : str, default "nearest"
        ``"nearest"``, ``"nearest-exact"`` and ``"area"`` for any number of lengths;
        ``"linear"`` for one, ``"bilinear"`` and ``"bicubic"`` for two, ``"trilinear"``
        for three.
    align_corners : bool, optional
        Whether first and last elements lie on those of the input, or the corners of
        these elements do; for the linear and cubic modes, default False.
    recompute_scale_factor : bool, optional
        Whether distances are those of the lengths, or of `scale_factor`.
    antialias : bool, default False
        Whether a smaller result is of all elements; for ``"bilinear"`` and
        ``"bicubic"``.

    Raises
    ------
    ValueError
        If options do not fit together.
    NotImplementedError
        If there is no such mode for so many dims.
    RuntimeError
        If a length is 0.
    """
    if mode in ("nearest", "area", "nearest-exact") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear "
            "| bilinear | bicubic | trilinear"
        )
    lengths = list(input.shape[2:])
    sizes, factors = _sizes(size, scale_factor, lengths)
    if recompute_scale_factor and size is not None:
        raise ValueError(
            "recompute_scale_factor is not meaningful with an explicit size."
        )
    if antialias and not (mode in _SMOOTH and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and "
            "requires a 4-D tensor as input"
        )
    _check(input, mode, sizes)
    if mode == "area":
        return _area(input, sizes)
    dtype = np.dtype(input.dtype)
    x = as_dtype(input, np.float32) if is_half(dtype) else input
    for dim in reversed(range(len(lengths))):
        length, n = lengths[dim], sizes[dim]
        factor = None if recompute_scale_factor else factors[dim]
        if length != n or (factor is not None and factor != 1):
            corners = bool(align_corners)
            how = Sampling(mode, length, n, factor, corners, antialias)
            x = resample(x, dim + 2, how)
    x = as_dtype(x, dtype)
    return x if x is not input else input * 1


def upsample(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    """Return `interpolate`, by its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Any:
    """Return `interpolate` with the mode "nearest"."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Any,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Any:
    """Return `interpolate` with the mode "bilinear" and aligned corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
