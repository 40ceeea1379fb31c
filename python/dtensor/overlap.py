"""Functions of parts and of the rows around them: stencils, filters, windows."""

import functools
from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.experimental.func_map import local_map
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.parts import inside, move
from dtensor.ops._make.strict import explicit
from dtensor.ops.shape.borders import BOUNDARIES, Border, bordered

__all__ = ["halo", "map_overlap"]

Depth = int | Mapping[int, int | tuple[int, int]]

FEWER = (
    'as boundary="none" gives the parts at the ends of the array fewer rows than '
    "others. To keep the edges of the array as they are, return as many rows as come "
    "in, and leave the first and the last of them alone: new = u.copy(); new[1:-1] = "
    '...; or pass boundary="nearest", or another that gives all parts their borders'
)


def _borders(
    name: str, x: Any, depth: Depth, boundary: str, value: Any
) -> tuple[Border, ...]:
    """Return the borders of each dim, in the order of the dims."""
    if not isinstance(x, _C.DTensor):
        raise TypeError(f"{name}: expected a DTensor, got {type(x).__name__}")
    if boundary not in BOUNDARIES:
        raise ValueError(
            f"{name}: boundary must be one of {', '.join(BOUNDARIES)}, not {boundary!r}"
        )
    found: dict[int, Border] = {}
    if isinstance(depth, tuple | list):
        raise TypeError(
            f"{name}: depth must be a number, of all dims, or a dict of numbers or "
            f"(before, after) by dim, not {depth!r}"
        )
    if not isinstance(depth, Mapping):
        depth = dict.fromkeys(range(x.ndim), depth)
    for key, given in depth.items():
        dim = normalize_axis_index(key, x.ndim)
        pair = given if isinstance(given, tuple) else (given, given)
        before, after = map(index, pair)
        if min(before, after) < 0 or dim in found:
            raise ValueError(
                f"{name}: depth must have two numbers, not negative, for each dim "
                f"once, not {dict(depth)}"
            )
        found[dim] = Border(dim, before, after, boundary, value)
        found[dim].check(x.layout)
    return tuple(found[dim] for dim in sorted(found))


def halo(x: Any, depth: Depth, boundary: str = "none", value: Any = 0) -> Any:
    """Return this rank's part of a tensor, with the rows around it.

    Collective over the mesh. A rank gets the rows of its borders from those that have
    them, and nothing else: for a dim that is cut into long parts one message from each
    neighbour. All dims together, so that corners are right: the rows of the second dim
    are sent with the borders of the first.

    Parameters
    ----------
    x : DTensor
        Of any layout but strided ones along these dims. A Partial is reduced first.
    depth : int, or dict of int to int or (int, int)
        How many rows before and after the part, in each dim: one number for all dims
        and both ends, or one or two numbers for each dim that is named. Parts may be
        shorter than that.
    boundary : {"none", "wrap", "reflect", "constant", "nearest"}
        What is beyond the ends of the array: nothing, so that the parts there have
        fewer rows; the other end; the rows before the last, in reverse; `value`; the
        last row. As the modes "wrap", "reflect", "constant" and "edge" of `numpy.pad`.
    value : number, default 0
        With ``boundary="constant"``.

    Returns
    -------
    Tensor
        This rank's, a copy. It has a gradient: what comes for the rows of borders is
        sent back, and added to that of the rows.

    Raises
    ------
    TypeError
        If `x` is not a DTensor, or `depth` is a sequence.
    ValueError
        If the array has not as many rows as the boundary asks for, a dim is strided or
        named twice, a depth is negative. On all ranks.

    See Also
    --------
    map_overlap : Call a function of such a part; the result is a DTensor.

    Examples
    --------
    >>> import numpy as np
    >>> from dtensor import Shard, distribute_tensor, init_device_mesh
    >>> mesh = init_device_mesh("cpu", (1,))
    >>> x = distribute_tensor(np.arange(4.0), mesh, [Shard(0)])
    >>> halo(x, {0: 1}, "wrap").numpy()
    array([3., 0., 1., 2., 3., 0.])
    """
    borders = _borders("halo", x, depth, boundary, value)
    with explicit():
        x = move("halo", x, x.layout.settled())
    for border in borders:
        x = bordered(x, border)
    return x.to_local()


def map_overlap(
    function: Callable[[Any], Any],
    x: Any,
    depth: Depth,
    boundary: str = "none",
    value: Any = 0,
) -> Any:
    """Call a function of this rank's part and the rows around it.

    Collective over the mesh: `halo`, the call, and one agreement about the results.

    Parameters
    ----------
    function : callable
        Of the Tensor that `halo` gives. It returns a Tensor or array of the same shape,
        whose borders are cut off; or, unless the boundary is "none", one that has no
        borders any more. With "none" the parts at the ends of the array have fewer
        rows than others, so that a function which takes borders off, such as
        ``u[2:] - u[:-2]``, takes rows of the parts there. One that keeps the edges of
        the array as they are returns a copy of all its rows in which the first and the
        last ones are unchanged. A function that raises on one rank raises on all.
    x, depth, boundary, value
        As of `halo`. A dim of `x` that is cut and has no depth has no borders: name
        every dim along which the function looks at neighbours.

    Returns
    -------
    DTensor
        Of the shape of `x` and the dtype of what the function returns, cut as `x`. It
        has a gradient if the function is made of operators.

    Raises
    ------
    ValueError
        If the function returns another shape, on any rank, or not the same dtype on all
        of them, also those whose part is empty; and as `halo`. On all ranks.

    Notes
    -----
    The function must not look further than `depth` rows: what it gives at the ends of
    parts would depend on the number of ranks. Nobody can see that it does.

    Where it needs a second array, such as a coefficient of each place, that is the part
    that `halo` gives with the same depth and boundary.

    Examples
    --------
    >>> import numpy as np
    >>> from dtensor import Shard, distribute_tensor, init_device_mesh
    >>> mesh = init_device_mesh("cpu", (1,))
    >>> x = distribute_tensor(np.arange(5.0) ** 2, mesh, [Shard(0)])
    >>> y = map_overlap(lambda u: u[2:] - 2 * u[1:-1] + u[:-2], x, {0: 1}, "nearest")
    >>> y.to_local().numpy()
    array([ 1.,  2.,  2.,  2., -7.])
    >>> weight = halo(x + 1, {0: 1}, "nearest")
    >>> def slope(u):
    ...     return weight[1:-1] * (u[2:] - u[:-2])
    >>> map_overlap(slope, x, {0: 1}, "nearest").to_local().numpy()
    array([  1.,   8.,  40., 120., 119.])
    """
    borders = _borders("map_overlap", x, depth, boundary, value)
    settled = x.layout.settled()
    plain = settled.with_placements(None).with_placements(settled.placements)
    with explicit():
        y = move("map_overlap", x, plain)
    layout = y.layout.settled()
    for border in borders:
        y = bordered(y, border)
    result = local_map(_trimmed(function, layout, borders), y.placements)(y)
    with explicit():
        return move("map_overlap", result, settled.with_dtype(result.dtype))


def _trimmed(
    function: Callable[[Any], Any], layout: _C.Layout, borders: Sequence[Border]
) -> Callable[[Any], Any]:
    """Return a function whose results have no borders."""
    whole = all(border.boundary != "none" for border in borders)

    @functools.wraps(function)
    def call(u: Any) -> Any:
        if not inside(layout):
            return u
        result = function(u)
        if result is None:
            raise TypeError("map_overlap: the function returned None, and not an array")
        shape, part = tuple(np.shape(result)), tuple(layout.local_shape())
        if shape == part and whole:
            return result
        if shape != tuple(u.shape):
            raise ValueError(
                f"map_overlap: the function returned an array of shape {shape}; "
                f"expected {u.shape}, that of its argument, "
                + (f"or without borders {part}" if whole else FEWER)
            )
        key = [slice(None)] * layout.ndim
        for border in borders:
            first = border.rows_before(layout)
            key[border.dim] = slice(first, first + part[border.dim])
        return result[tuple(key)]

    return call
