"""A line search for the strong Wolfe conditions.

Nocedal and Wright 2006, "Numerical Optimization", algorithms 3.5 and 3.6, with cubic
interpolation and the safeguards of minFunc, as PyTorch has them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Point", "strong_wolfe"]

DECREASE, CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """A point of the line: its place, the loss, the gradient, the slope."""

    t: Any
    loss: Any
    gradient: list[Any]
    slope: Any


def strong_wolfe(
    at: Callable[[Any], Point],
    first: Point,
    t: Any,
    reach: float,
    limit: int,
    tolerance: float,
) -> tuple[Point, int]:
    """Return a point, and how many were tried. `first` is where t is 0.

    `reach` is the largest element of the direction: the search ends where `tolerance`
    is more than what is left to search. `limit` is the greatest number of tries.
    """

    def too_high(p: Point) -> bool:
        return bool(p.loss > first.loss + DECREASE * p.t * first.slope)

    def is_flat(p: Point) -> bool:
        return bool(abs(p.slope) <= -CURVATURE * first.slope)

    before, now, tried = first, at(t), 0  # tried after the first one
    while tried < limit:
        if too_high(now) or (tried > 1 and now.loss >= before.loss):
            break
        if is_flat(now):
            return now, tried + 1
        if now.slope >= 0:
            break
        step = now.t - before.t
        t = _cubic(before, now, now.t + 0.01 * step, now.t * 10)
        before, now = now, at(t)
        tried += 1
    else:
        before = first
    pair = [before, now]
    low = _lower(pair)
    stuck = False
    while tried < limit and abs(pair[1].t - pair[0].t) * reach >= tolerance:
        left, right = sorted((pair[0].t, pair[1].t))
        t, stuck = _inside(_cubic(pair[0], pair[1], left, right), left, right, stuck)
        now = at(t)
        tried += 1
        if too_high(now) or now.loss >= pair[low].loss:
            pair[1 - low] = now
            low = _lower(pair)
            continue
        done = is_flat(now)
        if not done and now.slope * (pair[1 - low].t - pair[low].t) >= 0:
            pair[1 - low] = pair[low]
        pair[low] = now
        if done:
            break
    return pair[low], tried + 1


def _lower(pair: list[Point]) -> int:
    return 0 if pair[0].loss <= pair[1].loss else 1


def _cubic(a: Point, b: Point, least: Any, most: Any) -> Any:
    """Return where the cubic through two points is least, between bounds."""
    if a.t > b.t:
        a, b = b, a
    with np.errstate(all="ignore"):
        mean = a.slope + b.slope - 3 * (a.loss - b.loss) / np.float64(a.t - b.t)
        square = mean**2 - a.slope * b.slope
        if not square >= 0:
            return (least + most) / 2
        root = np.sqrt(square)
        part = (b.slope + root - mean) / np.float64(b.slope - a.slope + 2 * root)
        return min(max(b.t - (b.t - a.t) * part, least), most)


def _inside(t: Any, left: Any, right: Any, stuck: bool) -> tuple[Any, bool]:
    """Return a place that is not at the edge twice, and whether it is near one."""
    edge = 0.1 * (right - left)
    near = bool(min(right - t, t - left) < edge)
    if near and (stuck or t >= right or t <= left):
        closer_right = abs(t - right) < abs(t - left)
        return (right - edge if closer_right else left + edge), False
    return t, near
