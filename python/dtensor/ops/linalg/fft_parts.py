"""Fourier transforms of dims that are cut: who holds which part of them meanwhile.

Several dims are transformed one at a time, those that are whole first: what cuts a dim
goes to another one, by one all_to_all. `fft_long` is for a dim without another one.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dtensor import _C
from dtensor.ops._make.operator import Operand
from dtensor.ops._make.parts import move, other_dim

__all__ = ["in_turn", "is_long", "needs_turns", "part_count", "recut", "relieved"]

# Shorter lines are gathered: it takes fewer messages.
LEAST_POINTS = 1 << 14

# --- who may hold a dim's parts -------------------------------------------------------


def needs_turns(a: Operand, dims: Sequence[int]) -> bool:
    """Return whether several dims are to be transformed one at a time: some of them are
    cut, and none of the others can be cut instead."""
    if a.layout is None or len({*dims}) < len(dims):
        return False
    layout = a.layout.settled()
    rest = [dim for dim in range(a.ndim) if dim not in dims]
    stuck = [d for d in dims if layout.is_cut(d) and other_dim(layout, d, rest) is None]
    return (
        len(dims) > 1 and stuck != [] or any(is_long(a, d, a.shape[d]) for d in stuck)
    )


def is_long(a: Operand, dim: int, points: int) -> bool:
    """Return whether one dim is to be transformed in steps: it is cut, too long to be
    gathered, and no other dim can be cut instead."""
    if a.layout is None:
        return False
    layout = a.layout.settled()
    if points < max(LEAST_POINTS, 4 * part_count(layout, dim) ** 2):
        return False
    return layout.is_cut(dim) and other_dim(layout, dim, range(a.ndim)) is None


def part_count(layout: _C.Layout, dim: int) -> int:
    """Return how many parts a dim has."""
    return math.prod(layout.mesh.shape[m] for m in layout.cut_by(dim))


def relieved(name: str, x: Any, dim: int, by: Iterable[int]) -> Any:
    """Return a tensor whose dim is whole, if one of some others can be cut instead."""
    other = other_dim(x.layout.settled(), dim, by) if x.layout.is_cut(dim) else None
    return x if other is None else recut(name, x, dim, other)


def recut(name: str, x: Any, dim: int, other: int) -> Any:
    """Return a tensor in which what cuts one dim cuts another one."""
    cutting = x.layout.cut_by(dim)
    placements = [
        _C.Shard(other) if m in cutting else p for m, p in enumerate(x.placements)
    ]
    return move(name, x, x.layout.with_placements(placements))


# --- several dims ---------------------------------------------------------------------


def in_turn(
    name: str,
    transform: Callable[..., Any],
    x: Any,
    points: dict[int, int | None],
    norm: str | None,
    later: Sequence[int] = (),
) -> Any:
    """Transform dims one after the other, those that are whole first.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    transform : callable
        ``fft`` or ``ifft``.
    points : dict of int to int or None
        The dims, and how many points each gets; None: as many as it has.
    later : sequence of int
        Dims that the caller transforms afterwards.

    Returns
    -------
    DTensor
        Cut as `x` where dims are not transformed. Each dim that is cut costs an
        all_to_all of one part.
    """
    left = dict(points)
    while left:
        whole = [dim for dim in left if not x.layout.is_cut(dim)]
        dim = whole[-1] if whole else max(left)
        busy = [*later, *left]
        others = [other for other in range(x.ndim) if other not in busy]
        x = relieved(name, x, dim, [*others, *busy])
        x = transform(x, left.pop(dim), dim, norm)
    return x
