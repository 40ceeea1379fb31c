"""Attention over a sharded sequence: each rank's queries attend to all ranks' keys.

Keys and values are gathered, or rotate from rank to rank. The queries of a rank and the
keys of another give a partial result and the logarithm of the sum of its weights; these
are merged as they arrive. The gradient recomputes the probabilities from the logarithm
of the whole sum, part by part, so only that is kept. See Liu, Zaharia, Abbeel, "Ring
Attention with Blockwise Transformers", 2023 (arXiv:2310.01889).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.autograd import Function
from dtensor.autograd.function import once_differentiable
from dtensor.device_mesh import DeviceMesh
from dtensor.experimental import _sequence
from dtensor.functional_collectives._group import of_ranks
from dtensor.functional_collectives._moves import moved
from dtensor.ops.model import attention
from dtensor.placement_types import Partial, Replicate

__all__ = ["Ring", "ring_attention"]

Array = npt.NDArray[Any]
ALL = slice(None)

# The operators themselves: their names are replaced while a context is open.
_attention = attention._attention
_attention_backward = attention._attention_backward


class Ring(NamedTuple):
    """The settings of one call: equal on all ranks."""

    mesh: DeviceMesh
    layouts: tuple[_C.Layout, _C.Layout]  # of keys and values, sharded by sequence
    causal: bool
    balanced: bool
    rotate: bool  # around the ring; else they are gathered
    scale: float | None
    grouped: bool

    @property
    def lengths(self) -> list[int]:
        """How many keys each rank has."""
        layout = self.layouts[0]
        return [layout.local_shape((r,))[-2] for r in range(self.mesh.size())]

    def meeting(self, source: int) -> tuple[slice, slice, bool] | None:
        """Return which queries here attend to which keys of a rank; and if causally.

        The rows of a rank are in the order of the sequence. With load balancing they
        are a chunk of the head and its mirror image in the tail. Keys of an earlier
        rank: the head comes before all queries here, the tail after them. Keys of a
        later rank: all of them come before this rank's tail.
        """
        mine = self.mesh.get_local_rank()
        if not self.causal or source == mine:
            return ALL, ALL, self.causal
        if not self.balanced:
            return (ALL, ALL, False) if source < mine else None
        n, total = self.mesh.size(), sum(self.lengths)
        if source < mine:
            head = _sequence.chunk(total, 2 * n, source)
            return ALL, slice(0, head.stop - head.start), False
        head = _sequence.chunk(total, 2 * n, mine)
        return slice(head.stop - head.start, None), ALL, False


def ring_attention(tensors: Sequence[_C.Tensor], ring: Ring) -> _C.Tensor:
    """Return this rank's rows of the result for its rows of q, k, v. Differentiable."""
    result: _C.Tensor = _Attention.apply(*tensors, ring)
    return result


# --- moving keys and values -----------------------------------------------------------


def _around(ring: Ring, k: _C.Tensor, v: _C.Tensor) -> Iterator[tuple[int, list[Any]]]:
    """Yield each rank, this one first, with its keys and values."""
    mine, n = ring.mesh.get_local_rank(), ring.mesh.size()
    if ring.rotate:
        here = _wholes([k, v], ring.layouts)
        for step in range(n):
            # The next ones move while these are used.
            there = _rotated(here, ring, step + 1, True) if step + 1 < n else here
            yield (mine - step) % n, [x.to_local() for x in here]
            here = there
        return
    moves = [(x, x.with_placements([Replicate()])) for x in ring.layouts]
    everything = moved([k, v], moves)
    ends = np.cumsum(ring.lengths)
    for step in range(n):
        source = (mine - step) % n
        part = slice(int(ends[source]) - ring.lengths[source], int(ends[source]))
        yield source, [x[..., part, :] for x in everything]


def _wholes(parts: Sequence[Any], layouts: Sequence[_C.Layout]) -> list[_C.DTensor]:
    return [
        _C.of_part(part, layout) for part, layout in zip(parts, layouts, strict=True)
    ]


def _rotated(
    tensors: list[_C.DTensor], ring: Ring, step: int, wait: bool = False
) -> list[_C.DTensor]:
    """Return the tensors with each part moved `step` ranks around the ring."""
    there = of_ranks(np.roll(ring.mesh.ranks, -step).tolist(), ring.mesh)
    layouts = [
        _C.Layout(there, x.placements, x.shape, x.dtype, cuts=x.layout.cuts)
        for x in tensors
    ]
    return _C.redistribute(tensors, there, layouts, async_op=wait)


class _Sums:
    """The gradients of keys and values, accumulated as these move."""

    def __init__(self, ring: Ring, dtype: np.dtype[Any], hollow: bool) -> None:
        self.ring, self.step = ring, 0
        self.layouts = [x.with_dtype(dtype) for x in ring.layouts]
        if ring.rotate:
            shapes = [x.local_shape() for x in self.layouts]
            parts = [_zeros(shape, dtype, hollow) for shape in shapes]
            self.here = _wholes(parts, self.layouts)
        else:
            self.whole = [_zeros(x.shape, dtype, hollow) for x in self.layouts]
            self.ends = np.cumsum(ring.lengths)

    def add(self, source: int, keys: slice, grads: Sequence[Any]) -> None:
        """Add to the gradients of some of a rank's keys."""
        if self.ring.rotate:
            parts = [x.to_local().numpy(force=True) for x in self.here]
        else:
            first = int(self.ends[source]) - self.ring.lengths[source]
            rows = slice(first, int(self.ends[source]))
            parts = [_array(x)[..., rows, :] for x in self.whole]
        for part, grad in zip(parts, grads, strict=True):
            part[..., keys, :] += _array(grad)

    def go_on(self) -> None:
        """Follow the keys and values to the next rank; after the last, to the owner."""
        self.step += 1
        if self.ring.rotate:
            self.here = _rotated(self.here, self.ring, self.step)

    def result(self, dtype: np.dtype[Any]) -> list[_C.Tensor]:
        """Return the gradients of this rank's keys and values."""
        if self.ring.rotate:
            parts = [x.to_local() for x in self.here]
        else:
            moves = [(x.with_placements([Partial("sum")]), x) for x in self.layouts]
            parts = moved(self.whole, moves)
        return [_as(x, dtype) for x in parts]


# --- computing ------------------------------------------------------------------------


def _array(x: _C.Tensor) -> Array:
    return x.numpy(force=True)


def _zeros(shape: Sequence[int], dtype: np.dtype[Any], hollow: bool) -> _C.Tensor:
    """Return zeros, or a tensor without data."""
    if hollow:
        return _C.without_data(tuple(shape), dtype)
    return _C.Tensor(np.zeros(shape, dtype))


def _as(x: _C.Tensor, dtype: np.dtype[Any]) -> _C.Tensor:
    """Return a tensor in another dtype."""
    if is_meta(x):
        return _C.without_data(x.shape, dtype)
    return _C.Tensor(_array(x).astype(dtype, copy=False))


def _put_together(out: Array, total: Array, more: Array, logsum: Array) -> None:
    """Merge a partial result, and the logarithm of its weights' sum, into `out`."""
    both = np.logaddexp(total, logsum)
    finite = np.where(np.isneginf(both), 0, both)  # a query that has seen no key yet
    out *= np.exp(total - finite)[..., None]
    out += more * np.exp(logsum - finite)[..., None]
    total[...] = both


class _Attention(Function):
    """On a simulated rank, without data, only the moves of keys and values are made."""

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, ring: Ring) -> Any:
        wide = attention._sum_dtype(q)
        out = np.zeros((*q.shape[:-1], v.shape[-1]), wide)
        total = np.full(q.shape[:-1], -np.inf, wide)
        hollow = False
        for source, (keys, values) in _around(ring, k, v):
            hollow = hollow or any(map(is_meta, (q, keys, values)))
            meeting = None if hollow else ring.meeting(source)
            if meeting is None:
                continue
            rows, columns, causal = meeting
            found = _attention(
                q[..., rows, :],
                keys[..., columns, :],
                values[..., columns, :],
                None,
                causal,
                ring.scale,
                ring.grouped,
            )
            _put_together(out[..., rows, :], total[..., rows], *map(_array, found))
        if hollow:
            result, sums = (_zeros(x.shape, wide, True) for x in (out, total))
        else:
            result, sums = _C.Tensor(out), _C.Tensor(total)
        result = _as(result, q.dtype)
        ctx.ring = ring
        ctx.save_for_backward(q, k, v, result, sums)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        q, k, v, out, total = ctx.saved_tensors
        ring: Ring = ctx.ring
        hollow = is_meta(out)
        dq = _zeros(q.shape, total.dtype, hollow)
        sums = _Sums(ring, total.dtype, hollow)
        for source, (keys, values) in _around(ring, k, v):
            meeting = None if hollow else ring.meeting(source)
            if meeting is not None:
                rows, columns, causal = meeting
                zeros = np.zeros(total[..., rows].shape, total.dtype)
                found = _attention_backward(
                    grad[..., rows, :],
                    _C.Tensor(zeros),
                    q[..., rows, :],
                    keys[..., columns, :],
                    values[..., columns, :],
                    None,
                    out[..., rows, :],
                    total[..., rows],
                    causal,
                    ring.scale,
                    ring.grouped,
                    False,
                )
                _array(dq)[..., rows, :] += _array(found[0])
                sums.add(source, columns, found[1:])
            sums.go_on()
        return _as(dq, q.dtype), *sums.result(k.dtype), None
