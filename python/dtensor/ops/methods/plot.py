"""Pictures of the elements of a tensor, of which few are sent."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.require import require
from dtensor.ops._make.copies import astype
from dtensor.ops._make.operator import method
from dtensor.ops.index.read import getitem
from dtensor.ops.order.count import histogram

__all__ = ["plot"]

_KINDS = ("line", "image", "hist")
_LINES = 16  # that a matrix is drawn as at most, if its kind is "line"


@method
def plot(
    x: Any,
    kind: str | None = None,
    *,
    ax: Any = None,
    most: int = 1000,
    root: int = 0,
    style: Mapping[str, Any] | None = None,
) -> Any:
    """Draw the elements of a tensor with matplotlib, which is an extra.

    Collective if `x` is a DTensor. Of long dims only every k-th element is sent, to one
    rank, which draws; for a histogram the counts are.

    Parameters
    ----------
    x : Tensor or DTensor
        Real numbers.
    kind : {"line", "image", "hist"}, optional
        The elements of a vector, or of each column of a matrix with 16 at most, over
        their indices; the elements of a matrix as colours, the first row on top; how
        many elements of a tensor of any shape are how large. Default: by the number of
        dims, 1, 2, or another one.
    ax : matplotlib.axes.Axes, optional
        Where to draw, on the rank that does. Default: the current one.
    most : int, default 1000
        How many elements of a dim are drawn at most; of a histogram, how many bins.
    root : int, default 0
        The rank that draws.
    style : mapping, optional
        Keywords for matplotlib's ``plot``, ``imshow`` or ``stairs``.

    Returns
    -------
    matplotlib.axes.Axes or None
        None on ranks that do not draw.

    Raises
    ------
    ValueError
        If there is no such kind, or not for this shape, or there are no elements.
    TypeError
        If `x` is complex: draw ``np.abs(x)`` or ``x.real``.
    ModuleNotFoundError
        If matplotlib is not installed, on all ranks.
    """
    if kind is None:
        kind = "line" if x.ndim == 1 else "image" if x.ndim == 2 else "hist"
    if kind not in _KINDS:
        raise ValueError(f"plot: kind is one of {', '.join(_KINDS)}, not {kind!r}")
    if (kind == "image" and x.ndim != 2) or (kind == "line" and not _is_lines(x.shape)):
        raise ValueError(f"plot: {tuple(x.shape)} is no shape for kind={kind!r}")
    if np.dtype(x.dtype).kind == "c":
        raise TypeError("plot: the elements are complex; draw np.abs(x) or x.real")
    if not x.size:
        raise ValueError(f"plot: a tensor of shape {tuple(x.shape)} has no elements")
    x = x.detach()
    draws = not isinstance(x, _C.DTensor) or world.current().rank == root
    error: Exception | None = None
    pyplot: Any = None
    try:
        pyplot = require("matplotlib", "matplotlib.pyplot") if draws else None
    except ModuleNotFoundError as missing:
        error = missing
    if isinstance(x, _C.DTensor):
        world.current().agree(b"", "plot", error, x.device_mesh)
    if error is not None:
        raise error
    found = _counted(x, most) if kind == "hist" else _sampled(x, most, root)
    if not draws:
        return None
    return _drawn(kind, found, ax or pyplot.gca(), dict(style or ()))


def _is_lines(shape: tuple[int, ...]) -> bool:
    return len(shape) == 1 or (len(shape) == 2 and shape[1] <= _LINES)


def _sampled(x: Any, most: int, root: int) -> Any:
    """Return every k-th element and the indices along each dim; None elsewhere."""
    steps = [max(1, -(-length // most)) for length in x.shape]
    some = getitem(x, tuple(slice(None, None, step) for step in steps))
    if np.dtype(some.dtype).kind not in "biuf":  # bfloat16
        some = astype(some, np.float32)
    if isinstance(some, _C.DTensor):
        some = some.full_tensor(root=root)
    places = [np.arange(0, n, k) for n, k in zip(x.shape, steps, strict=True)]
    return None if some is None else (np.asarray(some), places)


def _counted(x: Any, most: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how many elements are in each bin, and the edges of the bins."""
    bins = min(most, max(1, int(x.size**0.5)))
    if np.dtype(x.dtype).kind not in "iuf":
        x = astype(x, np.float32)
    counts, edges = histogram(x, bins)
    if isinstance(counts, _C.DTensor):
        counts, edges = counts.full_tensor(), edges.full_tensor()
    return np.asarray(counts), np.asarray(edges)


def _drawn(kind: str, found: Any, ax: Any, options: dict[str, Any]) -> Any:
    values, places = found
    if kind == "hist":
        ax.stairs(values, places, **{"fill": True} | options)
    elif kind == "line":
        ax.plot(places[0], values, **options)
    else:
        high, wide = (
            place[-1] + (place[1] if len(place) > 1 else 1) for place in places
        )
        corners = (-0.5, wide - 0.5, high - 0.5, -0.5)
        drawn = ax.imshow(values, **{"extent": corners, "aspect": "auto"} | options)
        ax.figure.colorbar(drawn, ax=ax)
    return ax
