"""Masks of attention: made of functions, as arrays and as blocks."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import device as _device
from dtensor.experimental.implicit_replication import implicit_replication
from dtensor.torch.nn.attention._blocks import BlockMask, MaskMod, ordered, pair
from dtensor.torch.nn.attention._mods import Mod, grid_of, whole_array

__all__ = ["and_masks", "create_block_mask", "create_mask", "or_masks"]

Array = npt.NDArray[Any]
ScoreMod = Callable[[Any, Any, Any, Any, Any], Any]


# --- of other masks -------------------------------------------------------------------


def _joined(
    mods: tuple[MaskMod, ...], start: bool, how: Callable[[Any, Any], Any], name: str
) -> MaskMod:
    if not all(callable(mod) for mod in mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mods}")

    def joined(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        found = [mod(b, h, q_idx, kv_idx) for mod in mods]
        none = b.new_ones((), dtype=bool) if start else b.new_zeros((), dtype=bool)
        return functools.reduce(how, found) if found else none

    joined.__name__ = name
    return joined


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a `mask_mod` of what all of these let be seen. Not collective."""
    return _joined(mask_mods, True, lambda x, y: x & y, "and_mask")


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """Return a `mask_mod` of what any of these lets be seen. Not collective."""
    return _joined(mask_mods, False, lambda x, y: x | y, "or_mask")


# --- of all indices -------------------------------------------------------------------


def _is_scored(mod: Callable[..., Any]) -> bool:
    """Return whether a function is a `score_mod`, by the number of its arguments."""
    places = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    count = sum(
        p.kind in places and p.default is inspect.Parameter.empty
        for p in inspect.signature(mod).parameters.values()
    )
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def _seen(mod: Mod, shape: tuple[int, ...], start: int, stop: int) -> Array:
    """Return what queries from `start` to `stop` see, as an array of bool; of one batch
    or head if that is the same for all."""
    grid = grid_of(
        [range(n) for n in shape[:2]] + [range(start, stop), range(shape[3])]
    )
    scores = None
    if mod.scored:
        scores = _C.into_torch(_C.as_tensor(np.zeros(grid.shape, np.float32)))
    with implicit_replication():
        found = whole_array(mod(grid, scores))
    found = ~np.isneginf(found) if mod.scored else found
    found = found.reshape((1,) * (4 - found.ndim) + found.shape)
    return np.broadcast_to(found, (*found.shape[:2], *grid.shape[2:]))


def _masking(
    mod_fn: Callable[..., Any],
    B: int | None,  # noqa: N803
    H: int | None,  # noqa: N803
    Q_LEN: int,  # noqa: N803
    KV_LEN: int,  # noqa: N803
    device: Any,
) -> tuple[Mod, tuple[int, ...]]:
    """Return a function that is ready for indices, and how many there are."""
    _device.kind_of(device)  # or it raises
    scored = _is_scored(mod_fn)
    mod = Mod("score_mod" if scored else "mask_mod", mod_fn, scored)
    shape = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    mod.prepare(shape, dtype=np.float32)
    return mod, shape


def create_mask(
    mod_fn: ScoreMod | MaskMod,
    B: int | None,  # noqa: N803
    H: int | None,  # noqa: N803
    Q_LEN: int,  # noqa: N803
    KV_LEN: int,  # noqa: N803
    device: Any = None,
) -> Any:
    """Return which keys each query sees.

    Collective only if `mod_fn` captures DTensors.

    Parameters
    ----------
    mod_fn : callable
        A `mask_mod`, or a `score_mod`: then what it makes -inf is hidden.
    B, H : int or None
        The numbers of batches and heads; None: 1.
    Q_LEN, KV_LEN : int
        The numbers of queries and keys.
    device : str, optional
        Where PyTorch puts the result.

    Returns
    -------
    Tensor of bool, shape (B, H, Q_LEN, KV_LEN)

    Raises
    ------
    AssertionError
        If the function has neither 4 nor 5 arguments, or a mask is not of bool.
    """
    mod, shape = _masking(mod_fn, B, H, Q_LEN, KV_LEN, device)
    seen = np.broadcast_to(_seen(mod, shape, 0, Q_LEN), shape)
    return _C.into_torch(_C.as_tensor(seen.copy()))


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,  # noqa: N803
    H: int | None,  # noqa: N803
    Q_LEN: int,  # noqa: N803
    KV_LEN: int,  # noqa: N803
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,  # noqa: N803
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """Return which blocks of keys each block of queries sees, and the mask within.

    Blocks of queries are looked at one by one. Collective only if `mask_mod` captures
    DTensors.

    Parameters
    ----------
    mask_mod : callable
        ``mask_mod(b, h, q_idx, kv_idx)`` tells whether a query sees a key.
    B, H : int or None
        The numbers of batches and heads; None: 1, for all of them.
    Q_LEN, KV_LEN : int
        The numbers of queries and keys.
    device : str, optional
        Where PyTorch puts the result.
    BLOCK_SIZE : int or (int, int), default 128
        How many queries and keys a block has.
    _compile, compute_dq_write_order, dq_kv_order
        Without effect.
    separate_full_blocks : bool, default True
        Whether blocks that are seen whole are listed apart.

    Raises
    ------
    ValueError
        If there is nothing to mask, or the block size is not positive.
    AssertionError
        If the mask is not of bool.
    """
    size = pair(BLOCK_SIZE)
    if min(Q_LEN, KV_LEN, *(n for n in (B, H) if n is not None), *size) < 1:
        raise ValueError(
            "create_block_mask: lengths and BLOCK_SIZE must be positive, but they are "
            f"{(B, H, Q_LEN, KV_LEN)} and {BLOCK_SIZE}"
        )
    mod, shape = _masking(mask_mod, B, H, Q_LEN, KV_LEN, device)
    starts = list(range(0, KV_LEN, size[1]))
    some, whole = [], []
    for start in range(0, Q_LEN, size[0]):
        block = _seen(mod, shape, start, min(start + size[0], Q_LEN))
        seen = np.add.reduceat(block.sum(-2, dtype=np.int64), starts, axis=-1)
        some.append(seen > 0)
        whole.append(seen == size[0] * size[1])
    blocks = (*shape[:2], len(some), len(starts))
    dense, full = (np.broadcast_to(np.stack(x, -2), blocks) for x in (some, whole))
    apart: tuple[Any, Any] = (None, None)
    if separate_full_blocks:
        dense, apart = dense & ~full, ordered(full)
    counts, columns = ordered(dense)
    return BlockMask.from_kv_blocks(
        counts,
        columns,
        apart[0],
        apart[1],
        BLOCK_SIZE=size,
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )
