"""``torch.nn.attention.flex_attention``: attention with scores changed by a function.

Queries are taken in blocks, so that not all scores are held at once; backward computes
those of a block again. Without a `score_mod` the kernels of
`scaled_dot_product_attention` do the work, with the mask of a block of queries.
"""

import math
from typing import Any, NamedTuple, TypedDict

import numpy as np

from dtensor.torch.nn.attention._blocks import (
    BlockMask as BlockMask,
    noop_mask as noop_mask,
)
from dtensor.torch.nn.attention._checked import checked
from dtensor.torch.nn.attention._masks import (
    ScoreMod,
    and_masks as and_masks,
    create_block_mask as create_block_mask,
    create_mask as create_mask,
    or_masks as or_masks,
)
from dtensor.torch.nn.attention._mods import Mod
from dtensor.torch.nn.attention._rows import (
    Attention,
    AuxRequest as AuxRequest,
    in_blocks,
)

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


class AuxOutput(NamedTuple):
    """The logarithm of the sum of exp of each query's scores, and the greatest one.

    None is what was not asked for. `max_scores` has no gradient.
    """

    lse: Any = None
    max_scores: Any = None


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels; here they have no effect."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: str


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: ScoreMod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Return ``softmax(score_mod(scale * query @ key.mT) + mask) @ value``.

    The functions are called with arrays of indices that broadcast where PyTorch's are
    tensors without dims, and with loops where that gives something else; a few calls
    for single indices tell which. What they capture gets gradients. Scores are float32,
    of float64 operands float64. Where there are many, queries are taken in blocks, and
    backward calls the functions again.

    Of DTensors batches and heads may be cut, of all three alike: nothing is sent then.
    The functions get DTensors of global indices; a Tensor that they capture is taken as
    replicated, and must not require a gradient.

    Parameters
    ----------
    query : tensor, shape (B, Hq, L, E)
    key : tensor, shape (B, H, S, E)
    value : tensor, shape (B, H, S, Ev)
    score_mod : callable, optional
        ``score_mod(score, b, h, q_idx, kv_idx)`` returns another score.
    block_mask : BlockMask, optional
        Which keys are seen. What its blocks hide, and what its `mask_mod` hides in
        blocks that are seen in part, is hidden. Blocks of keys before the first and
        behind the last one that a block of queries sees cost nothing.
    scale : float, optional
        Default ``1 / sqrt(E)``.
    enable_gqa : bool, default False
        Whether each head of key and value may serve a group of heads of the query.
    return_lse : bool, default False
        The older form of ``return_aux=AuxRequest(lse=True)``: returns a pair.
    kernel_options : dict, optional
        Without effect.
    return_aux : AuxRequest, optional
        What to return besides.

    Returns
    -------
    tensor, shape (B, Hq, L, Ev)
        A query that sees no key has a row of zeros; with `return_lse` a pair with the
        logarithms of the sums, of shape (B, Hq, L), -inf for such a query; with
        `return_aux` a pair with an `AuxOutput`.

    Raises
    ------
    ValueError, NotImplementedError, RuntimeError
        As PyTorch, for shapes that do not go together; RuntimeError for DTensors that
        are cut along other dims. On every rank, before anything is sent.

    Notes
    -----
    After FlexAttention (Dong et al. 2024, arXiv:2412.05496).
    """
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, "
            "please use return_aux=AuxRequest(lse=True) instead."
        )
    checked(query, key, value, block_mask, enable_gqa)
    wanted = return_aux or AuxRequest(lse=return_lse)
    width = int(query.shape[-1])
    factor = 1 / math.sqrt(width or 1) if scale is None else float(scale)
    mods = (
        None if score_mod is None else Mod("score_mod", score_mod, True),
        None if block_mask is None else Mod("mask_mod", block_mask.mask_mod, False),
    )
    call = Attention(key, value, query, mods, block_mask, factor, wanted)
    wide = np.float64 if np.dtype(query.dtype) == np.float64 else np.float32
    for mod in mods:
        if mod is not None:
            mod.prepare(call.shape, call.mesh, wide)
    found = in_blocks(call, query)
    if return_aux is not None:
        return found[0], AuxOutput(*found[1:])
    return (found[0], found[1]) if return_lse else found[0]
