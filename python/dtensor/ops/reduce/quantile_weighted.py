"""Weighted quantiles along cut dims: elements at which sums of weights reach them."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.elementwise import anywhere
from dtensor.ops._make.fallback import on_mesh, without_gradient
from dtensor.ops._make.parts import inside, key_of, local, make, move
from dtensor.ops.reduce.quantile_parts import Reduced
from dtensor.ops.reduce.selection import Lines, selected, sorted_lines
from dtensor.ops.reduce.weights import reaching, weights_beside

__all__ = ["of_weighted_parts"]

Array = npt.NDArray[Any]


def of_weighted_parts(x: Any, what: Reduced, weights: Any, axis: Any) -> Any:
    """Return weighted quantiles along axes that are cut.

    Each rank sorts a copy of its part; some thousand numbers are sent, and weights that
    are cut in another way.

    Parameters
    ----------
    x : DTensor
    what : Reduced
    weights : array_like
    axis : int, tuple of int or None
        As the caller gives it.
    """
    name = what.function.__name__
    weights = weights_beside(on_mesh(weights, x.device_mesh), x, axis)
    if anywhere(weights < 0):
        raise ValueError("Weights must be non-negative.")
    with within(name, x, weights, what.axes, what.keepdims):
        line = settled(name, x.detach())
        weights = np.broadcast_to(settled(name, weights.detach()), x.shape)
        weights = move(name, weights, line.layout.with_dtype(weights.dtype))
        result = _reduced(name, line, weights, what)
    return without_gradient(f"{name} with weights", (x,), result)


def _rows(x: Array, axes: tuple[int, ...]) -> Array:
    """Return an array of shape (lines, elements of the axes)."""
    moved = np.moveaxis(x, axes, range(-len(axes), 0))
    rest = moved.shape[: x.ndim - len(axes)]
    return moved.reshape(math.prod(rest), math.prod(moved.shape[len(rest) :]))


def _reduced(name: str, x: _C.DTensor, weights: _C.DTensor, what: Reduced) -> Any:
    to = what.layout(x.layout)
    if is_meta(x):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    rows = _rows(local(x), what.axes)
    order = np.argsort(rows, -1, kind="stable")
    lines = sorted_lines(name, x, what.axes, np.take_along_axis(rows, order, -1))
    sums = np.zeros((len(rows), rows.shape[1] + 1))
    own = np.take_along_axis(_rows(local(weights), what.axes), order, -1)
    np.cumsum(own, axis=-1, dtype=np.float64, out=sums[:, 1:])
    del own
    share = np.ravel(_shares(name, what.levels, x.dtype))
    last = None if what.leaves_out else _last(lines)
    lines = lines.without_nan() if what.leaves_out else lines
    numbers = reaching(lines, sums, share)
    wanted = [(k, n, 1) for k, line in enumerate(numbers.tolist()) for n in line]
    found = selected(lines, wanted)
    lengths = lines.counts.sum(1)
    values = np.empty(numbers.shape, to.dtype)
    for (line, _, _), at, (value, _, _) in zip(
        wanted, np.ndindex(*numbers.shape), found, strict=True
    ):
        is_known = last is None or not last[line] != last[line]
        if lengths[line] and is_known:
            values[at] = value[0]
        else:
            values[at] = what.of(np.full(1, np.nan, x.dtype)).ravel()[0]
    whole = np.moveaxis(values, 0, -1).reshape(to.shape)
    return make(np.array(whole[key_of(to)], order="C"), to)


def _shares(name: str, levels: Any, dtype: np.dtype[Any]) -> Array:
    """Return the quantiles from 0 to 1, in the dtype in which NumPy compares them."""
    if "percentile" in name:
        every = dtype.type(100) if dtype.kind == "f" else 100
        return np.asarray(np.true_divide(levels, every))
    is_number = type(levels) in (int, float) and dtype.kind == "f"
    return np.asarray(levels, dtype if is_number else None)


def _last(lines: Lines) -> Array:
    """Return the last element of each line."""
    ends = lines.counts.sum(1)
    found = selected(lines, [(k, n - 1, 1) for k, n in enumerate(ends.tolist())])
    return np.array([value[0] for value, _, _ in found])
