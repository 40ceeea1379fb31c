"""Functions of an index, `score_mod` and `mask_mod`, called for many indices at once.

PyTorch calls them by `vmap`: within, each index is a tensor without dims. Here the
indices are arrays that broadcast, (B, 1, 1, 1) to (1, 1, 1, S): a call costs what its
operators cost, and gradients reach what the function captures. Where that is not the
same, as for ``table[b][q_idx]``, there are loops over the first indices. Which form
serves is found out by calls for single indices, whose results count.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.autograd import no_grad
from dtensor.experimental.implicit_replication import implicit_replication
from dtensor.placement_types import Replicate, Shard
from dtensor.random import get_rng_state, set_rng_state

__all__ = ["Grid", "Mod", "grid_of", "whole_array"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
Function = Callable[..., Any]
DEPTHS = (0, 2, 3, 4)  # how many indices are looped over: b and h, then q, then kv
MOST_CALLS = 1 << 16  # of one function in such loops
TRIED = (2, 2, 3, 4)  # how many values of each index are tried
SINGLES = ((0, 0, 0, 0), (1, 1, 2, 3), (0, 1, 1, 2), (1, 0, 2, 0), (0, 0, 1, 3))


class Grid(NamedTuple):
    """The values of the four indices: tensors of one dim."""

    b: Any
    h: Any
    q: Any
    kv: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Return how many values of each index there are."""
        return tuple(int(x.shape[0]) for x in self)

    def spread(self, first: int = 0) -> list[Any]:
        """Return the indices from `first` on as arrays that broadcast."""
        count = len(self) - first
        return [
            ops.reshape(x, (1,) * k + (-1,) + (1,) * (count - 1 - k))
            for k, x in enumerate(self[first:])
        ]


def grid_of(
    places: Sequence[Any], mesh: Any = None, placements: Sequence[Any] | None = None
) -> Grid:
    """Return a grid of arrays of integers. Not collective: nothing is sent.

    Parameters
    ----------
    places : sequence of array_like
        The values of each index.
    mesh : Mesh, optional
        If it is given, the grid is of DTensors.
    placements : sequence of Placement, optional
        Those of a tensor whose dims the indices follow: an index is cut where that dim
        is. Default: none is cut.
    """
    arrays = [np.asarray(x, np.int64) for x in places]
    if mesh is None:
        return Grid(*(_C.into_torch(_C.as_tensor(x)) for x in arrays))
    made = []
    for dim, x in enumerate(arrays):
        whole = _replicated(x, mesh, "an index of attention")
        to = [Shard(0) if p == Shard(dim) else Replicate() for p in placements or ()]
        cut = any(p.is_shard() for p in to)
        made.append(whole.redistribute(placements=to) if cut else whole)
    return Grid(*made)


def _replicated(array: Any, mesh: Any, what: str) -> Any:
    """Return an array that all ranks have as a DTensor."""
    layout = _C.Layout(mesh, None, array.shape, array.dtype)
    return _C.into_torch(_C.made_of(_C.of_part(array, layout), what, array))


def whole_array(x: Any) -> Any:
    """Return a tensor as an array; of a DTensor all elements, on every rank."""
    x = x.detach() if isinstance(x, _C.Tensor) else x
    array = np.asarray(x.full_tensor() if isinstance(x, _C.DTensor) else x)
    return array.astype(np.float32) if array.dtype.kind == "V" else array  # bfloat16


class Mod:
    """A `score_mod` or `mask_mod`, in the form that gives what single calls give.

    Parameters
    ----------
    name : str
        What error messages call it.
    function : callable
        It gets a score, if `scored`, and four indices.
    scored : bool
        Whether it returns a score, or whether a query sees a key.
    """

    def __init__(self, name: str, function: Function, scored: bool) -> None:
        self.name, self.function, self.scored = name, function, scored
        self.depth = 0

    def prepare(
        self, shape: Sequence[int], mesh: Any = None, dtype: Any = None
    ) -> None:
        """Find out which form serves for indices below `shape`, of a dtype of scores.

        Collective if the function is; with a mesh it is called with DTensors.

        Raises
        ------
        RuntimeError
            If the function returns what is no tensor without dims for single indices;
            or there is no form for DTensors.
        """
        if 0 in shape:
            return
        places = [_spaced(n, k) for n, k in zip(shape, TRIED, strict=True)]
        grid, score = grid_of(places, mesh), None
        if self.scored:
            flat = 2 * np.sin(np.arange(math.prod(grid.shape)))
            array = flat.reshape(grid.shape).astype(dtype)
            score = (
                _C.into_torch(_C.as_tensor(array))
                if mesh is None
                else _replicated(array, mesh, "scores that are tried")
            )
        with no_grad(), implicit_replication():
            self._choose(grid, score, mesh is None, shape)

    def _choose(
        self, grid: Grid, score: Any, is_plain: bool, shape: Sequence[int]
    ) -> None:
        before = get_rng_state()
        wanted = self._singles(grid, score)
        if get_rng_state().tolist() != before.tolist():  # nothing to compare
            set_rng_state(before)
            self.depth = 0
            return
        for depth in DEPTHS if is_plain else DEPTHS[:1]:
            if self._serves(depth, grid, score, wanted):
                self.depth = depth
                break
        else:
            raise RuntimeError(
                f"{self.name} cannot be called with arrays of indices, and that is the "
                "only way for DTensors: index a table by all indices at once, "
                "table[b, q_idx] instead of table[b][q_idx], and sum over named dims"
            )
        calls = math.prod(shape[: self.depth]) if self.depth else 1
        if calls > MOST_CALLS:
            raise RuntimeError(
                f"{self.name} cannot be called with arrays of indices, and there are "
                f"{calls} single ones: index a table by all indices at once, "
                "table[b, q_idx] instead of table[b][q_idx], and sum over named dims"
            )

    def _singles(self, grid: Grid, score: Any) -> list[tuple[tuple[int, ...], Any]]:
        """Return what the function gives for some single indices."""
        found = []
        last = [n - 1 for n in grid.shape]
        for place in dict.fromkeys(tuple(map(min, at, last)) for at in SINGLES):
            lead = [] if score is None else [ops.getitem(score, place)]
            at = [ops.getitem(x, k) for x, k in zip(grid, place, strict=True)]
            value = self.function(*lead, *at)
            self._check(value, ())
            found.append((place, whole_array(value)))
        return found

    def _serves(
        self, depth: int, grid: Grid, score: Any, wanted: list[tuple[Any, Any]]
    ) -> bool:
        try:
            array = whole_array(self._call(depth, grid, score))
        except (IndexError, RuntimeError, TypeError, ValueError):
            return False
        whole = np.broadcast_to(array, grid.shape)
        near = 1e-9 if whole.dtype.itemsize > 4 else 1e-4
        return all(
            np.allclose(whole[place], value, near, near, equal_nan=True)
            for place, value in wanted
        )

    def __call__(self, grid: Grid, score: Any = None) -> Any:
        """Return what the function gives for all indices of a grid: a tensor that can
        be broadcast to its shape."""
        with implicit_replication():
            return self._call(self.depth, grid, score)

    def _call(self, depth: int, grid: Grid, score: Any) -> Any:
        if not depth:
            lead = [] if score is None else [score]
            found = self.function(*lead, *grid.spread())
            self._check(found, grid.shape)
            return found
        rows = []
        tail = grid.shape[depth:]
        for place in itertools.product(*map(range, grid.shape[:depth])):
            lead = [] if score is None else [ops.getitem(score, place)]
            at = [ops.getitem(x, k) for x, k in zip(grid[:depth], place, strict=True)]
            row = self.function(*lead, *at, *grid.spread(depth))
            self._check(row, tail)
            rows.append(ops.broadcast_to(row, tail))
        return ops.reshape(ops.stack(rows), grid.shape)

    def _check(self, found: Any, shape: tuple[int, ...]) -> None:
        if not isinstance(found, _C.Tensor):
            raise ValueError(
                f"{self.name} must only return Tensors, got type {type(found)}"
            )
        extra = len(shape) - found.ndim
        tail = shape[max(extra, 0) :]
        if extra < 0 or any(
            n not in (1, m) for n, m in zip(found.shape, tail, strict=True)
        ):
            raise RuntimeError(
                f"{self.name} must return a tensor without dims for each index, not "
                f"one of shape {tuple(found.shape)}"
            )
        if not self.scored and np.dtype(found.dtype) != bool:
            raise AssertionError(
                f"mask.dtype must be torch.bool, got torch.{np.dtype(found.dtype)}"
            )


def _spaced(length: int, count: int) -> Any:
    """Return some indices below a length, from the first to the last."""
    return np.unique(np.linspace(0, length - 1, min(length, count)).astype(int))
