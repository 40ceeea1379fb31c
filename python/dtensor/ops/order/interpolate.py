"""Interpolation between points, which may be cut.

Of many points that are cut each rank keeps its own. Places are sent to the ranks that
have the points around them, and values come back.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make import routes
from dtensor.ops._make.composite import within
from dtensor.ops._make.elementwise import conjugated
from dtensor.ops._make.fallback import mesh_of, on_mesh
from dtensor.ops._make.operator import (
    Operand,
    Rule,
    call,
    implements,
    letters,
    operator,
)
from dtensor.ops._make.parts import inside, local, make, move, positions
from dtensor.ops._make.routes import route_to
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.order.sets_parts import cut_by_all
from dtensor.ops.reduce.selection import Lines, sorted_lines, told

__all__ = ["interp"]

Array = npt.NDArray[Any]


@implements(np.interp)
@operator(operands=3)
def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> Any:
    """Interpolate between points: see `numpy.interp`.

    Parameters
    ----------
    x : array_like
        Where to interpolate; of any shape and layout.
    xp, fp : array_like, shape (n,)
        The points, in ascending order. If they are cut, and 2^14 or more, each place is
        sent to a rank that has the points around it; else they are gathered.
    left, right, period
        As in NumPy. With a period the points are gathered.
    """
    if period is None and _is_in_parts(x, xp, fp):
        return _in_parts
    names = letters(x.ndim)
    points = letters(1, whole=[0], skip=x.ndim)
    text = rule([names, points, points], [names])
    return text, call(np.interp, x, xp, fp, left, right, period)


# --- of points that are cut -----------------------------------------------------------


def _is_in_parts(x: Operand, xp: Operand, fp: Operand) -> bool:
    """Return whether the points stay cut: they are many."""
    if xp.ndim != 1 or xp.shape != fp.shape or xp.size < max(routes.LEAST_SIZE, 2):
        return False
    kinds = [np.dtype(a.dtype or float).kind for a in (x, xp, fp)]
    layouts = [a.layout.settled() for a in (xp, fp) if a.layout is not None]
    return (
        {*kinds} <= {*"biufc"}
        and "c" not in kinds[:2]
        and any(layout.is_cut(0) for layout in layouts)
        and not any(layout.is_strided(0) for layout in layouts)
    )


def _in_parts(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    mesh = mesh_of((x, xp, fp))
    given = [on_mesh(each, mesh) for each in (x, xp, fp)]
    numbers, heights = (np.zeros(2, each.dtype) for each in (given[0], given[2]))
    dtype = np.interp(numbers, [0.0, 1.0], heights, left, right).dtype  # or its error
    with within("interp", *given, left, right):
        result = _interpolated(given, (left, right), dtype)
        if given[0].size < routes.LEAST_SIZE and given[0].layout.is_replicated:
            result = move("interp", result, result.layout.with_placements(None))
    result = result if given[0].ndim else np.reshape(result, ())
    kept = [_C.save(each) for each in given]

    def back(grad: Any) -> Any:
        x, xp, fp = (each.unpack() for each in kept)
        needs = [each.requires_grad for each in (x, xp, fp)]
        return _of_interp(needs, grad, None, x, xp, fp, left, right)

    _C.record_function("interp", back, (*given,), (result,))
    return result


class _Heads(NamedTuple):
    """The first point of each part that has points, in their order."""

    parts: Array
    places: Array
    heights: Array

    @classmethod
    def of(cls, lines: Lines, own: list[Any]) -> "_Heads":
        """Return what all ranks say, each the index, place and height of its first
        point. Collective."""
        every = told(lines, np.array([own]))[:, 0]
        parts = np.flatnonzero(lines.counts[0])
        parts = parts[np.argsort(every[parts, 0].real)]
        return cls(parts, every[parts, 1].real, every[parts, 2])


def _interpolated(given: list[Any], ends: tuple[Any, Any], dtype: Any) -> Any:
    x, xp, fp = cut_by_all("interp", *given)
    fp = move("interp", fp, xp.layout.with_dtype(fp.dtype))
    to = x.layout.with_dtype(dtype)
    if is_meta(x) or is_meta(xp) or is_meta(fp):
        return _C.without_data(to)
    if not inside(to):
        return make((), to)
    places, points = (local(each).astype(float).ravel() for each in (x, xp))
    heights = local(fp).astype(dtype)
    lines = sorted_lines("interp", xp, [0], points[None])
    own = [positions(xp.layout, 0)[:1], points[:1], heights[:1]]
    heads = _Heads.of(lines, [each[0] if each.size else dtype.type(0) for each in own])
    before = np.searchsorted(heads.places, places, "right") - 1
    owner = heads.parts[np.maximum(before, 0)]
    route = route_to("interp", xp.layout, 0, owner)
    came = route.there(places)
    answer = np.empty(0, dtype)
    if came.size:
        (at,) = (heads.parts == route.mine).nonzero()
        after = slice(at[0] + 1, at[0] + 2)  # up to the next part's first point
        points = np.concatenate([points, heads.places[after]])
        heights = np.concatenate([heights, heads.heights[after].astype(dtype)])
        answer = np.interp(came, points, heights, *ends)
        answer = np.where(came == came, answer, came)  # as NumPy between many points
    result = route.back(answer)
    return make(result.reshape(to.local_shape()), to)


# --- the gradient ---------------------------------------------------------------------


@operator(operands=3, name="interp_backward")
def _slopes(x: Operand, xp: Operand, fp: Operand) -> Answer:
    names = letters(x.ndim)
    points = letters(1, whole=[0], skip=x.ndim)
    dtype = np.result_type(fp.dtype, np.float64)
    return rule([names, points, points], [names]), call(_slope, x, xp, fp), dtype


def _between(x: Array, xp: Array) -> tuple[Array, Array]:
    """Return the point before each place, and the fraction of the way to the next one;
    places beyond the ends are moved to the ends."""
    at = np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(len(xp) - 2, 0))
    step = xp[np.minimum(at + 1, len(xp) - 1)] - xp[at]
    way = (x - xp[at]) / np.where(step == 0, 1, step)
    return at, np.clip(way, 0, 1)


def _slope(x: Array, xp: Array, fp: Array) -> Array:
    """Return the derivative of `numpy.interp`, 0 beyond the ends."""
    at, _ = _between(x, xp)
    after = np.minimum(at + 1, len(xp) - 1)
    step = xp[after] - xp[at]
    slope = (fp[after] - fp[at]) / np.where(step == 0, 1, step)
    return np.asarray(np.where((x < xp[0]) | (x > xp[-1]), 0.0, slope))


@operator(name="interp_backward")
def _shares(g: Operand, x: Operand, xp: Operand, ends: tuple[bool, bool]) -> Answer:
    """Each point's share of the gradients at the places next to it; `ends`: whether the
    first and the last point get those of the places beyond the ends."""
    names = " ".join(letters(x.ndim))
    return (
        Rule(f"{names},{names},*->{xp.shape[0]}"),
        call(_share, g, x, xp, ends),
        g.dtype,
    )


def _share(g: Array, x: Array, xp: Array, ends: tuple[bool, bool]) -> Array:
    at, way = _between(x, xp)
    lost = (x < xp[0]) & (not ends[0]) | (x > xp[-1]) & (not ends[1])
    g = np.where(lost, 0, g)
    shares = np.zeros(len(xp), g.dtype)
    np.add.at(shares, at, g * (1 - way))
    np.add.at(shares, np.minimum(at + 1, len(xp) - 1), g * way)
    return shares


def _of_interp(
    needs: Any,
    g: Any,
    _out: Any,
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> tuple[Any, ...]:
    if period is not None:
        raise NotImplementedError("interp: no gradient with a period")
    ends = (left is None, right is None)
    flow = g * conjugated(_slopes(x, xp, fp)) if needs[0] or needs[1] else None
    return (
        flow,
        -_shares(flow, x, xp, ends) if needs[1] else None,
        _shares(g, x, xp, ends) if needs[2] else None,
    )


interp.vjp_all(_of_interp)
