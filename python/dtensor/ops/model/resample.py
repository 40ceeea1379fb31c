"""Resampling a dim: its elements are weighted sums of a few of those that there were.

Other dims may be cut, or the array a sum that is pending; where the dim itself is cut,
elements are taken for each tap. What brings a gradient back is the transposed matrix of
weights.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, rule

__all__ = ["Sampling", "resample", "taps_of"]

Array = npt.NDArray[Any]
Taps = tuple[Array, Array]  # which elements, and their weights: (taps, length)


class Sampling(NamedTuple):
    """How a dim of a length gets another size."""

    mode: str
    length: int
    size: int
    factor: float | None = None  # how much longer the caller wants it
    align_corners: bool = False
    antialias: bool = False


# --- which elements -------------------------------------------------------------------


def _nearest(length: int, size: int, factor: float | None, exact: bool) -> Taps:
    scale = np.float32(1 / factor if factor else np.float32(length) / np.float32(size))
    places = np.arange(size, dtype=np.float32) + np.float32(0.5 if exact else 0.0)
    index = np.minimum((places * scale).astype(np.int64), length - 1)
    return index[None], np.ones((1, size))


def _scale(
    length: int, size: int, factor: float | None, align_corners: bool, kind: Any
) -> Any:
    """Return how far apart in the input two neighbours of the result are."""
    if align_corners:
        return kind(length - 1) / kind(size - 1) if size > 1 else kind(0)
    return kind(1 / factor) if factor else kind(length) / kind(size)


def _linear(length: int, places: Array) -> Taps:
    places = np.maximum(places, 0)
    first = np.minimum(places.astype(np.int64), length - 1)
    far = np.clip(places - first, 0, 1)
    taps = [first, np.minimum(first + 1, length - 1)]
    return np.stack(taps), np.stack([1 - far, far])


def _cubic(length: int, places: Array) -> Taps:
    first = np.minimum(np.floor(places).astype(np.int64), length - 1)
    far = np.clip(places - first, 0, 1)
    taps = np.stack([first - 1, first, first + 1, first + 2])
    weights = [_cubic_weight(x, -0.75) for x in (far + 1, far, 1 - far, 2 - far)]
    return np.clip(taps, 0, length - 1), np.stack(weights)


def _cubic_weight(x: Array, a: float) -> Array:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


_FILTERS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "bilinear": (2, lambda x: np.maximum(1 - x, 0)),
    "bicubic": (4, lambda x: _cubic_weight(x, -0.5)),
}


def _smooth(length: int, size: int, scale: Any, mode: str) -> Taps:
    """Return the taps of a filter that is as wide as elements of the result are."""
    width, weight = _FILTERS[mode]
    stretch = max(float(scale), 1.0)
    support = width / 2 * stretch
    centre = float(scale) * (np.arange(size) + 0.5)
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((centre + support + 0.5).astype(np.int64), length)
    taps = first + np.arange(int(np.max(stop - first, initial=0)))[:, None]
    weights = weight(np.abs(taps - centre + 0.5) / stretch)
    weights = np.where(taps < stop, weights, 0)
    total = weights.sum(axis=0)
    return np.minimum(taps, length - 1), weights / np.where(total == 0, 1, total)


@functools.lru_cache(256)
def taps_of(how: Sampling, dtype: Any) -> Taps:
    """Return which elements are added up, and their weights in a dtype."""
    length, size = how.length, how.size
    if how.mode.startswith("nearest"):
        return _nearest(length, size, how.factor, how.mode == "nearest-exact")
    kind = np.float64 if dtype == np.float64 else np.float32
    scale = _scale(length, size, how.factor, how.align_corners, kind)
    if how.antialias:
        return _smooth(length, size, scale, how.mode)
    half: Any = kind(0.0 if how.align_corners else 0.5)
    places = scale * (np.arange(size, dtype=kind) + half) - half
    return (_cubic if how.mode == "bicubic" else _linear)(length, places)


# --- operators ------------------------------------------------------------------------


def _answer(name: str, x: Operand, dim: int, how: Sampling, back: bool) -> Answer:
    """Return what an operator answers: a sum of addends is resampled by addends."""
    words = letters(x.ndim)
    lengths = how.length, how.size
    given, made = (
        [*words[:dim], str(n), *words[dim + 1 :]]
        for n in (reversed(lengths) if back else lengths)
    )
    index, weights = taps_of(how, x.dtype)
    options = (how.length,) if back else ()
    kernel = call(_C.kernel(name), x, index, weights, dim, *options)
    return rule([given], [made], "0"), kernel, x.dtype


@operator
def resample(
    input: Operand,  # noqa: A002
    dim: int,
    how: Sampling,
) -> Answer | Callable[..., Any]:
    """Return sums of elements along a dim, weighted; a dim that is cut stays so."""
    cut = input.layout is not None and input.layout.is_cut(dim)
    if cut or input.dtype not in DIRECT:
        return _by_taps
    return _answer("resample", input, dim, how, back=False)


@operator(name="resample_backward")
def resample_back(grad: Operand, dim: int, how: Sampling) -> Answer:
    return _answer("resample_back", grad, dim, how, back=True)


resample.vjp(lambda grad, _out, _input, dim, how: resample_back(grad, dim, how))
resample_back.vjp(lambda grad, _out, _grad, dim, how: resample(grad, dim, how))


def _by_taps(x: Any, dim: int, how: Sampling) -> Any:
    """Add up arrays of the elements under each tap."""
    index, weights = taps_of(how, np.dtype(x.dtype))
    if len(index) == 1:
        return np.take(x, index[0], axis=dim)
    shape = [1] * x.ndim
    shape[dim] = -1
    terms = (
        np.take(x, each, axis=dim) * weight.astype(x.dtype).reshape(shape)
        for each, weight in zip(index, weights, strict=True)
    )
    return functools.reduce(np.add, terms)
