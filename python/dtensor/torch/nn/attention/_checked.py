"""What `flex_attention` says of its arguments."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor.torch.nn.attention._blocks import BlockMask

__all__ = ["checked"]


def checked(
    query: Any, key: Any, value: Any, block_mask: BlockMask | None, enable_gqa: bool
) -> None:
    """Raise what PyTorch raises; nothing is sent."""
    given = (query, key, value)
    for x in given:
        if not isinstance(x, _C.Tensor):
            raise TypeError(
                f"query, key, and value must be tensors, not {type(x).__name__}"
            )
    if any(x.ndim != 4 for x in given):
        raise NotImplementedError("query, key, and value must be 4D tensors")
    if len({np.dtype(x.dtype) for x in given}) > 1:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and value.dtype: "
            f"{value.dtype} instead."
        )
    if np.dtype(query.dtype).kind in "bui":
        raise RuntimeError(f"expected a floating-point dtype but found {query.dtype}")
    _check_lengths(query, key, value, block_mask, enable_gqa)
    if block_mask is not None:
        _check_mask(query, key, block_mask)
    _check_layouts(given)


def _check_lengths(
    query: Any, key: Any, value: Any, block_mask: Any, enable_gqa: bool
) -> None:
    heads, groups = int(query.shape[1]), int(key.shape[1])
    if key.shape[:3] != value.shape[:3]:
        raise RuntimeError(
            "key and value must have the same batch size, heads and length, but their "
            f"shapes are {tuple(key.shape)} and {tuple(value.shape)}"
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    if not enable_gqa and heads != groups:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={heads} and Hkv={groups}. Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and (not groups or heads % groups):
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads} and Hkv={groups}."
        )
    batches, others = int(query.shape[0]), int(key.shape[0])
    if batches != others and (others != 1 or block_mask is None):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none "
            f"block_mask, but got block_mask={block_mask}, Bq={batches}, and "
            f"Bkv={others}."
        )


def _check_mask(query: Any, key: Any, mask: BlockMask) -> None:
    if not isinstance(mask, BlockMask):
        raise TypeError(
            f"block_mask must be a BlockMask, not {type(mask).__name__}: make one with "
            "create_block_mask"
        )
    lengths = (int(query.shape[2]), int(key.shape[2]))
    told = (
        f"block_mask was created for block_mask.shape={mask.shape} but got "
        f"q_len={lengths[0]} and kv_len={lengths[1]}. As the block mask was created "
    )
    if any(n > m for n, m in zip(lengths, mask.seq_lengths, strict=True)):
        raise ValueError(
            f"{told}for a smaller length than you're using it for, you likely need to "
            "create a new block mask."
        )
    if lengths != tuple(mask.seq_lengths):
        raise ValueError(
            f"{told}for a larger length than you're using it for, you can either 1. "
            "create a new block mask with the correct length, or 2. 'adjust' the "
            "existing block mask to the correct length by calling "
            "block_mask._adjust(q_len, kv_len). This essentially 'crops' the block "
            "mask to the upper left corner, which does not work for all mask_mods!"
        )
    lead = mask.shape[:-2][-2:]
    sizes = tuple(map(int, query.shape[:2]))[2 - len(lead) :]
    if any(n not in (1, m) for n, m in zip(lead, sizes, strict=True)):
        raise ValueError(
            f"block_mask was created for block_mask.shape={mask.shape}, but the query "
            f"has {sizes} batches and heads; make it with B=None or H=None for all"
        )


def _check_layouts(given: tuple[Any, ...]) -> None:
    are = [isinstance(x, _C.DTensor) for x in given]
    if any(are) and not all(are):
        raise RuntimeError(
            "flex_attention: got mixed Tensor and DTensor, need to convert all Tensor "
            "to DTensor before calling distributed operators!"
        )
    for x in given if all(are) else ():
        if not all(
            p.is_replicate() or p.is_shard(0) or p.is_shard(1) for p in x.placements
        ):
            raise RuntimeError(
                "flex_attention: query, key and value may be cut along batches and "
                f"heads only, Shard(0) and Shard(1), but one is {x.placements}: "
                "redistribute it; for cut sequences there is "
                "scaled_dot_product_attention within context_parallel"
            )
