"""layer_norm, rms_norm and group_norm with NumPy's functions, for dtypes that the C
kernels lack. Arguments and results are those of csrc/ext/kernels/norm.c."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BACKWARD", "FORWARD"]

Array = npt.NDArray[Any]


def _stats(x: Array, eps: float, centred: bool) -> tuple[Any, Any]:
    mean = x.mean(-1, keepdims=True) if centred else x.dtype.type(0)
    return mean, 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)


class _Rows:
    """An array as rows that are normed, with a weight for each number of a row."""

    def __init__(self, x: Array, dims: int, grouped: bool) -> None:
        self.affine = x.shape[1:2] if grouped else x.shape[x.ndim - dims :]
        self.channels = (math.prod(self.affine), 1)
        self.inner = math.prod(x.shape[2:]) if grouped else 1
        self.shape = x.shape
        self.length = dims * self.inner if grouped else self.channels[0]

    def of(self, x: Array) -> Array:
        return x.reshape(-1, self.length) if x.size else x.reshape(0, self.length)

    def spread(self, weight: Array) -> Array:
        """Return a weight for each number of the array."""
        whole = np.repeat(weight.reshape(-1), self.inner)
        rows = math.prod(self.shape) // whole.size if whole.size else 0
        return self.of(np.tile(whole, rows))

    def gathered(self, x: Array) -> Array:
        """Return the sums of what has the same weight."""
        runs = x.reshape(-1, self.channels[0], self.inner)
        return np.asarray(runs.sum((0, 2)).reshape(self.affine))


def _forward(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    dims: int,
    grouped: bool = False,
    centred: bool = True,
) -> Array:
    rows = _Rows(x, dims, grouped)
    flat = rows.of(x)
    mean, scale = _stats(flat, eps, centred)
    y = (flat - mean) * scale
    if weight is not None:
        y = y * rows.spread(weight)
    if bias is not None:
        y = y + rows.spread(bias)
    return np.asarray(y.reshape(x.shape))


def _rms_forward(x: Array, weight: Array | None, eps: float, dims: int) -> Array:
    return _forward(x, weight, None, eps, dims, centred=False)


def _backward(
    grad: Array,
    x: Array,
    weight: Array | None,
    eps: float,
    dims: int,
    wanted: int,
    grouped: bool = False,
    centred: bool = True,
) -> Any:
    rows = _Rows(x, dims, grouped)
    flat, g = rows.of(x), rows.of(grad)
    mean, scale = _stats(flat, eps, centred)
    n = (flat - mean) * scale
    h = g if weight is None else g * rows.spread(weight)
    dx = h - n * (h * n).mean(-1, keepdims=True)
    if centred:
        dx = dx - h.mean(-1, keepdims=True)
    found = ((dx * scale).reshape(x.shape), rows.gathered(g * n), rows.gathered(g))
    kept = tuple(d for k, d in enumerate(found) if wanted >> k & 1)
    return kept if len(kept) > 1 else kept[0]


FORWARD: dict[str, Callable[..., Any]] = {
    "layer_norm": _forward,
    "rms_norm": _rms_forward,
    "group_norm": partial(_forward, grouped=True),
}
BACKWARD: dict[str, Callable[..., Any]] = {
    "layer_norm": _backward,
    "rms_norm": partial(_backward, centred=False),
    "group_norm": partial(_backward, grouped=True),
}
