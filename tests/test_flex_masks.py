"""Masks of attention by blocks: lists, pictures, parts of them."""

import math

import numpy as np
import pytest
from flex_tables import (
    CHANGES,
    MASKS,
    H,
    K,
    L,
    Q,
    S,
    V,
    a,
    causal,
    everywhere,
    t,
    window,
)

import dtensor.torch as torch
from dtensor.torch.nn.attention.flex_attention import (
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)


def test_a_block_mask_lists_its_blocks():
    mask = create_block_mask(causal, 2, 3, 300, 260, device="cpu", BLOCK_SIZE=64)
    assert mask.shape == (2, 3, 300, 260) and mask.numel() == 468000
    assert mask.kv_num_blocks[1, 2].tolist() == [1, 1, 1, 1, 5]
    assert mask.kv_indices[0, 0].tolist()[1] == [1, 0, 2, 3, 4]
    assert mask.full_kv_num_blocks[0, 0].tolist() == [0, 1, 2, 3, 0]
    assert mask.q_num_blocks[0, 0].tolist() == [2, 2, 2, 2, 1]
    assert mask.q_indices[0, 0].tolist()[0] == [0, 4, 1, 2, 3]
    assert mask.full_q_num_blocks[0, 0].tolist() == [3, 2, 1, 0, 0]
    assert mask.kv_indices.dtype == torch.int32 == mask.to_dense().dtype
    assert mask.to_dense()[0, 0].tolist() == np.tri(5, dtype=int).tolist()
    assert math.isclose(mask.sparsity(), 21.23076923076923)
    flat = mask.as_tuple()
    assert flat[:2] == (300, 260) and flat[-3:] == (64, 64, causal) and len(flat) == 17
    assert len(mask.as_tuple(flatten=False)) == 15
    together = create_block_mask(
        causal, 2, 3, 300, 260, BLOCK_SIZE=(64, 32), separate_full_blocks=False
    )
    assert together.full_kv_num_blocks is None
    assert together.kv_num_blocks[0, 0].tolist() == [2, 4, 6, 8, 9]


def test_a_block_mask_is_shown():
    mask = create_block_mask(causal, None, None, 300, 260, BLOCK_SIZE=64)
    steps = "\n".join("██" * (k + 1) + "  " * (4 - k) for k in range(5))
    head = "BlockMask(shape=(1, 1, 300, 260), sparsity=21.23%, \n(0, 0)\n"
    assert str(mask) == f"{head}{steps}\n)"
    assert "kv_indices=torch.Size([1, 1, 5, 5])" in repr(mask)
    assert "mask_mod=causal" in repr(mask)
    many = create_block_mask(causal, 5, None, 4096, 4096)
    text = many.to_string(grid_size=(2, 2), limit=1)
    assert text.startswith("(0, 0)\n░░  \n██░░\n\n...\n")
    assert many.to_string(-1, 1).count("\n") == 32 + 4


def test_a_block_mask_is_picked_from_and_cropped():
    mask = create_block_mask(MASKS["heads"][0], 2, H, L, S, BLOCK_SIZE=4)
    assert mask[1].shape == (1, H, L, S) == mask[-1:, :].shape
    assert mask[:, 1].shape == (2, 1, L, S)
    row = mask[:, :, torch.tensor([1])]
    assert row.kv_num_blocks.shape == (2, H, 1)
    with pytest.raises(RuntimeError, match="mask_mod from a sliced BlockMask"):
        flex_attention(t(Q[:1]), t(K[:1]), t(V[:1]), block_mask=mask[0])
    one = mask[0]
    one.mask_mod = mask.mask_mod
    got = flex_attention(t(Q[:1]), t(K[:1]), t(V[:1]), block_mask=one)
    out = everywhere(Q[:1], K[:1], V[:1], seen=MASKS["heads"][1])[0]
    assert np.allclose(a(got), out)
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        mask[2]
    small = mask._adjust(5, 4)
    assert small.shape == (2, H, 5, 4) and small.kv_indices.shape == (2, H, 2, 1)
    got = flex_attention(t(Q[:, :, :5]), t(K[:, :, :4]), t(V[:, :, :4]), None, small)
    out = everywhere(Q[:, :, :5], K[:, :, :4], V[:, :, :4], seen=MASKS["heads"][1])[0]
    assert np.allclose(a(got), out)
    assert mask.to("cpu").shape == mask.shape


def test_blocks_in_no_list_are_hidden():
    counts = torch.tensor([[[1, 2, 0]]], dtype=torch.int32)
    places = torch.tensor([[[[1, 0], [0, 1], [0, 1]]]], dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(
        counts, places, BLOCK_SIZE=(4, 5), seq_lengths=(L, S)
    )
    shown = {(0, 1), (1, 0), (1, 1)}
    seen = lambda b, h, q, k: (q // 4, k // 5) in shown  # noqa: E731
    got = flex_attention(t(Q), t(K), t(V), block_mask=mask)
    assert np.allclose(a(got), everywhere(Q, K, V, seen=seen)[0])
    assert mask.q_num_blocks.tolist() == [[[1, 2]]]


def test_masks_are_made_of_masks():
    whole = create_mask(and_masks(causal, window), None, None, 5, 5)
    assert whole[0, 0].tolist() == (np.tri(5) - np.tri(5, k=-3) > 0).tolist()
    assert create_mask(and_masks(), None, None, 2, 3).all()
    assert not create_mask(or_masks(), 2, 3, 2, 3).any()
    scored = create_mask(CHANGES["masked"][0], None, None, 3, 3)
    assert scored[0, 0].tolist() == np.tri(3, dtype=bool).tolist()
    with pytest.raises(RuntimeError, match="All inputs should be callable mask_mods"):
        and_masks(causal, 3)
