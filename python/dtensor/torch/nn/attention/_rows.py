"""Attention for blocks of queries, with scores and masks of functions."""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import ops as _ops
from dtensor.experimental.implicit_replication import implicit_replication
from dtensor.ops.model.attention import scaled_dot_product_attention
from dtensor.torch.nn.attention._blocks import BlockMask
from dtensor.torch.nn.attention._mods import Mod, grid_of
from dtensor.utils.checkpoint import checkpoint

__all__ = ["Attention", "AuxRequest", "in_blocks"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
Array = npt.NDArray[Any]
MOST_SCORES = 1 << 22  # of a block of queries
SPARSE_ROWS = 1024  # queries of a block at most, if some blocks of keys are hidden


class AuxRequest(NamedTuple):
    """What `flex_attention` is to return besides: see `AuxOutput`."""

    lse: bool = False
    max_scores: bool = False


class Attention:
    """One call: what is the same for all blocks of queries."""

    def __init__(
        self,
        key: Any,
        value: Any,
        query: Any,
        mods: tuple[Mod | None, Mod | None],
        block_mask: BlockMask | None,
        scale: float,
        wanted: AuxRequest,
    ) -> None:
        self.key, self.value = key, value
        self.score_mod, self.mask_mod = mods
        self.scale, self.wanted = scale, wanted
        self.shape = tuple(map(int, (*query.shape[:3], key.shape[2])))
        self.mesh = getattr(query, "device_mesh", None)
        self.placements = getattr(query, "placements", None)
        self.size = (1, 1)
        self.part = self.full = None
        if block_mask is not None:
            self.size = block_mask.BLOCK_SIZE
            part, full = block_mask.blocks()
            lead = (1,) * (4 - part.ndim)
            self.part, self.full = (x.reshape(lead + x.shape) for x in (part, full))

    def rows(self) -> int:
        """Return how many queries a block has."""
        batches, heads, queries, keys = self.shape
        most = max(1, MOST_SCORES // max(1, batches * heads * keys))
        if self.part is not None and not (self.part | self.full).all():
            most = min(most, SPARSE_ROWS)
        fit = most // self.size[0] * self.size[0]
        return min(fit or most, max(1, queries))

    def keys(self, start: int, stop: int) -> tuple[int, int]:
        """Return the range of keys that queries see, as far as blocks tell it."""
        if self.part is None:
            return 0, self.shape[3]
        rows = slice(start // self.size[0], -(-stop // self.size[0]))
        seen = (self.part | self.full)[..., rows, :]
        columns = np.flatnonzero(seen.any((0, 1, 2)))
        if not len(columns):
            return 0, min(1, self.shape[3])
        width = self.size[1]
        return int(columns[0]) * width, min(int(columns[-1] + 1) * width, self.shape[3])

    def mask(self, grid: Any, queries: Any, keys: Any) -> Any:
        """Return what is seen, or None: all."""
        if self.mask_mod is None or self.part is None or self.full is None:
            return None
        seen = self.mask_mod(grid)
        at = np.ix_(queries // self.size[0], keys // self.size[1])
        part, full = (x[(..., *at)] for x in (self.part, self.full))
        if (part | full).all() and not full.any():
            return seen
        return (seen & part) | full if full.any() else seen & part

    def block(self, query: Any, key: Any, value: Any, start: int, low: int) -> Any:
        """Return the result for a block of queries, and what else is wanted."""
        queries = np.arange(start, start + query.shape[2])
        keys = np.arange(low, low + key.shape[2])
        places = [*map(range, self.shape[:2]), queries, keys]
        grid = grid_of(places, self.mesh, self.placements)
        with implicit_replication():
            mask = self.mask(grid, queries, keys)
            if self.score_mod is None and not any(self.wanted):
                grouped = query.shape[1] != key.shape[1]
                if mask is not None:
                    full = (1,) * (4 - mask.ndim) + tuple(mask.shape)
                    mask = ops.reshape(mask, full)
                    rows = (*full[:2], len(queries), len(keys))
                    mask = ops.broadcast_to(mask, rows)
                out = scaled_dot_product_attention(
                    query, key, value, mask, scale=self.scale, enable_gqa=grouped
                )
                return out, None, None
            return self._by_scores(query, key, value, grid, mask)

    def _by_scores(
        self, query: Any, key: Any, value: Any, grid: Any, mask: Any
    ) -> tuple[Any, Any, Any]:
        dtype = query.dtype
        wide = np.float64 if np.dtype(dtype) == np.float64 else np.float32
        query, key, value = (ops.astype(x, wide) for x in (query, key, value))
        scores = _times(query, ops.swapaxes(key, -1, -2)) * self.scale
        if self.score_mod is not None:
            scores = ops.astype(self.score_mod(grid, scores), wide)
            scores = ops.broadcast_to(scores, grid.shape)
        if mask is not None:
            scores = ops.where(mask, scores, -math.inf)
        greatest = ops.amax(scores.detach(), axis=-1, keepdims=True)
        hidden = ops.isneginf(greatest)  # a query that sees no key
        scores = ops.where(hidden, 0, scores)
        weights = ops.where(hidden, 0, ops.softmax(scores, -1))
        out = ops.astype(_times(weights, value), dtype)
        lse = None
        if self.wanted.lse:
            sums = ops.logsumexp(scores, axis=-1, keepdims=True)
            lse = ops.squeeze(ops.where(hidden, -math.inf, sums), -1)
        return out, lse, ops.squeeze(greatest, -1) if self.wanted.max_scores else None


def _times(x: Any, y: Any) -> Any:
    """Return products of matrices by heads; each head of `y` serves a group of them."""
    batches, heads, rows, width = x.shape
    groups = y.shape[1]
    if heads == groups:
        return ops.matmul(x, y)
    x = ops.reshape(x, (batches, groups, heads // groups * rows, width))
    return ops.reshape(ops.matmul(x, y), (batches, heads, rows, y.shape[-1]))


def in_blocks(call: Attention, query: Any) -> list[Any]:
    """Return the result, and what else is wanted, of all queries."""
    count, rows = int(query.shape[2]), call.rows()
    parts = []
    for start in range(0, max(count, 1), rows):
        stop = min(start + rows, count)
        low, high = call.keys(start, stop)
        picked = [query] if rows >= count else [query[:, :, start:stop]]
        for x in (call.key, call.value):
            whole = (low, high) == (0, x.shape[2])
            picked.append(x if whole else x[:, :, low:high])
        run: Callable[..., Any] = call.block
        if rows < count and (call.score_mod is not None or any(call.wanted)):
            run = functools.partial(checkpoint, call.block)
        parts.append(run(*picked, start, low))
    return [
        None if row[0] is None else row[0] if len(row) == 1 else ops.concatenate(row, 2)
        for row in zip(*parts, strict=True)
    ]
