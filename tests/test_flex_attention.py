"""Attention with scores and masks of functions is that of formulas written out."""

import math

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from dtensor.torch.nn.attention import _rows
from dtensor.torch.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

RNG = np.random.default_rng(3)
B, H, L, S, E = 2, 4, 9, 7, 3
Q, K, V = (RNG.normal(size=(B, H, n, E)) for n in (L, S, S))
SLOPES = 0.5 ** np.arange(1, H + 1)
BIAS = RNG.normal(size=(H, L + S))
DOCS = np.array([[0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 1, 1, 1, 1, 1, 2, 2, 2]])


def t(x, grad=False):
    return torch.tensor(x, requires_grad=grad)


def a(x):
    return np.asarray(x.detach())


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q - k < 3) & (k - q < 3)


def everywhere(q, k, v, change=None, seen=None, scale=None):
    """Attention, index by index: results, logarithms of sums, probabilities."""
    batches, heads, queries = q.shape[:3]
    groups = heads // k.shape[1]
    out = np.zeros((*q.shape[:3], v.shape[-1]))
    sums = np.full(q.shape[:3], -np.inf)
    found = np.zeros((*q.shape[:3], k.shape[2]))
    for b, h, i in np.ndindex(batches, heads, queries):
        g = h // groups
        scores = k[b, g] @ q[b, h, i] * (scale or 1 / math.sqrt(q.shape[-1]))
        for j in range(len(scores)):
            if change is not None:
                scores[j] = change(scores[j], b, h, i, j)
            if seen is not None and not seen(b, h, i, j):
                scores[j] = -np.inf
        if np.isneginf(scores).all():
            continue
        p = np.exp(scores - scores.max())
        found[b, h, i] = p / p.sum()
        out[b, h, i] = found[b, h, i] @ v[b, g]
        sums[b, h, i] = np.log(p.sum()) + scores.max()
    return out, sums, found


CHANGES = {
    "alibi": (
        lambda s, b, h, q, k: s + t(SLOPES)[h] * (k - q),
        lambda s, b, h, q, k: s + SLOPES[h] * (k - q),
    ),
    "relative": (
        lambda s, b, h, q, k: s + t(BIAS)[h, q - k + S],
        lambda s, b, h, q, k: s + BIAS[h, q - k + S],
    ),
    "capped": (
        lambda s, b, h, q, k: 2 * torch.tanh(s / 2),
        lambda s, b, h, q, k: 2 * np.tanh(s / 2),
    ),
    "masked": (
        lambda s, b, h, q, k: torch.where(q >= k, s, -float("inf")),
        lambda s, b, h, q, k: s if q >= k else -np.inf,
    ),
    "table by table": (
        lambda s, b, h, q, k: s * t(BIAS)[h][q + k],
        lambda s, b, h, q, k: s * BIAS[h, q + k],
    ),
    "table in three": (
        lambda s, b, h, q, k: s * t(K)[b][h][k][0],
        lambda s, b, h, q, k: s * K[b, h, k, 0],
    ),
    "dot products": (
        lambda s, b, h, q, k: s + (t(Q)[b, h, q] * t(K)[b, h, k]).sum(),
        lambda s, b, h, q, k: s + Q[b, h, q] @ K[b, h, k],
    ),
    "nothing of it": (lambda s, b, h, q, k: s, None),
}
MASKS = {
    "causal": (causal, causal),
    "window": (and_masks(causal, window), lambda b, h, q, k: q >= k > q - 3),
    "prefix": (
        or_masks(causal, lambda b, h, q, k: k < t([2, 4])[b]),
        lambda b, h, q, k: q >= k or k < (2, 4)[b],
    ),
    "documents": (
        lambda b, h, q, k: t(DOCS)[b, q] == t(DOCS)[b, k],
        lambda b, h, q, k: DOCS[b, q] == DOCS[b, k],
    ),
    "by tables": (
        lambda b, h, q, k: t(DOCS)[b][q] == t(DOCS)[b][k],
        lambda b, h, q, k: DOCS[b, q] == DOCS[b, k],
    ),
    "heads": (
        lambda b, h, q, k: (q >= k) | (h > 1),
        lambda b, h, q, k: q >= k or h > 1,
    ),
    "some see nothing": (
        lambda b, h, q, k: (q > 2) & (k < 5),
        lambda b, h, q, k: q > 2 and k < 5,
    ),
    "all": (noop_mask, None),
}


# --- values ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHANGES)
def test_scores_are_changed_as_written(name):
    ours, theirs = CHANGES[name]
    got = flex_attention(t(Q), t(K), t(V), ours)
    assert np.allclose(a(got), everywhere(Q, K, V, theirs)[0])


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("size", [2, (4, 3), 128])
def test_masks_hide_what_they_say(name, size):
    ours, theirs = MASKS[name]
    mask = create_block_mask(ours, B, H, L, S, device="cpu", BLOCK_SIZE=size)
    out, sums, _ = everywhere(Q, K, V, seen=theirs)
    got = flex_attention(t(Q), t(K), t(V), block_mask=mask)
    assert np.allclose(a(got), out)
    again, more = flex_attention(
        t(Q),
        t(K),
        t(V),
        lambda s, *_: s,
        block_mask=mask,
        return_aux=AuxRequest(lse=True, max_scores=True),
    )
    assert np.allclose(a(again), out)
    assert np.allclose(a(more.lse), sums)
    assert np.isneginf(a(more.max_scores)).tolist() == np.isneginf(sums).tolist()
    _, lse = flex_attention(t(Q), t(K), t(V), block_mask=mask, return_lse=True)
    assert np.allclose(a(lse), sums)
    dense = a(mask.to_dense())
    whole = a(create_mask(ours, B, H, L, S))
    high, wide = mask.BLOCK_SIZE
    for *at, i, j in np.ndindex(*dense.shape):
        rows, columns = slice(i * high, (i + 1) * high), slice(j * wide, (j + 1) * wide)
        assert dense[(*at, i, j)] == whole[(*at, rows, columns)].any()


def test_groups_of_heads_share_keys_and_values():
    k, v = K[:, :2], V[:, :2]
    ours, theirs = CHANGES["alibi"]
    mask = create_block_mask(causal, None, None, L, S, BLOCK_SIZE=2)
    for change in (None, "alibi"):
        ours, theirs = CHANGES[change] if change else (None, None)
        got = flex_attention(t(Q), t(k), t(v), ours, mask, scale=0.3, enable_gqa=True)
        assert np.allclose(a(got), everywhere(Q, k, v, theirs, causal, 0.3)[0])


@pytest.mark.parametrize("change", ["alibi", None])
def test_blocks_of_queries_give_what_all_queries_give(monkeypatch, change):
    mask = create_block_mask(MASKS["window"][0], None, None, L, S, BLOCK_SIZE=2)
    ours, theirs = CHANGES[change] if change else (None, None)

    def run():
        q, k, v = (t(x, grad=True) for x in (Q, K, V))
        slopes = t(SLOPES, grad=True)
        mod = (lambda s, b, h, i, j: s + slopes[h] * (j - i)) if ours else None
        out = flex_attention(q, k, v, mod, mask)
        out.backward(t(np.cos(np.arange(out.numel()).reshape(out.shape))))
        used = [q, k, v, *([slopes] if ours else [])]
        return [a(out), *(a(x.grad) for x in used)]

    whole = run()
    monkeypatch.setattr(_rows, "MOST_SCORES", 2 * B * H * S)
    parts = run()
    assert all(map(np.allclose, parts, whole))
    assert np.allclose(parts[0], everywhere(Q, K, V, theirs, MASKS["window"][1])[0])


def test_halves_are_computed_in_float32():
    q, k, v = (t(x).to(torch.bfloat16) for x in (Q, K, V))
    dtypes = []

    def mod(score, b, h, i, j):
        dtypes.append(score.dtype)
        return score

    got = flex_attention(q, k, v, mod)
    assert got.dtype == torch.bfloat16 and set(dtypes) == {torch.float32}
    assert np.allclose(a(got.float()), everywhere(Q, K, V)[0], atol=0.03)


# --- gradients ------------------------------------------------------------------------


def test_gradients_are_those_of_the_formula():
    """d scores = p (d p - sum of d p p), and what was added to the scores gets it."""
    q, k, v, bias = (t(x, grad=True) for x in (Q, K, V, BIAS))
    mask = create_block_mask(causal, None, None, L, S, BLOCK_SIZE=4)
    out = flex_attention(q, k, v, lambda s, b, h, i, j: s + bias[h, i - j + S], mask)
    seed = RNG.normal(size=out.shape)
    out.backward(t(seed))
    *_, p = everywhere(Q, K, V, lambda s, b, h, i, j: s + BIAS[h, i - j + S], causal)
    dp = seed @ np.swapaxes(V, -1, -2)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True))
    db = np.zeros_like(BIAS)
    for b, h, i, j in np.ndindex(*ds.shape):
        db[h, i - j + S] += ds[b, h, i, j]
    assert np.allclose(a(v.grad), np.swapaxes(p, -1, -2) @ seed)
    assert np.allclose(a(q.grad), ds @ K / math.sqrt(E))
    assert np.allclose(a(k.grad), np.swapaxes(ds, -1, -2) @ Q / math.sqrt(E))
    assert np.allclose(a(bias.grad), db)


def test_other_gradients_are_differences():
    q, k, v = (t(x[:1, :2, :4], grad=True) for x in (Q, K, V))
    slopes = t(SLOPES[:2], grad=True)
    hides = MASKS["some see nothing"][0]
    mask = create_block_mask(hides, None, None, 4, 4, BLOCK_SIZE=2)

    def capped(q, k, v, slopes):
        def mod(s, b, h, i, j):
            return 3 * torch.tanh(s / 3) * slopes[h]

        return flex_attention(q, k, v, mod, mask)

    assert torch.autograd.gradcheck(capped, (q, k, v, slopes))

    def sums(q, k):
        return flex_attention(q, k, k, None, return_aux=AuxRequest(lse=True))[1].lse

    assert torch.autograd.gradcheck(sums, (q, k))


def test_a_call_fits_into_a_checkpoint_and_into_dropout(monkeypatch):
    monkeypatch.setattr(_rows, "MOST_SCORES", 2 * B * H * S)
    q = t(Q, grad=True)

    def run(q):
        return flex_attention(q, t(K), t(V), CHANGES["capped"][0])

    run(q).sum().backward()
    plain, q.grad = a(q.grad), None
    torch.utils.checkpoint.checkpoint(run, q, use_reentrant=False).sum().backward()
    assert np.allclose(a(q.grad), plain)
    torch.manual_seed(0)
    dropped = flex_attention(q, t(K), t(V), lambda s, *_: F.dropout(s, 0.5))
    dropped.sum().backward()  # the second call drops the same
    assert np.isfinite(a(dropped)).all()


# --- masks by blocks ------------------------------------------------------------------


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


# --- errors ---------------------------------------------------------------------------


def wrong(shape=None, kind=ValueError, match="", **options):
    q, k, v = t(Q), t(K), t(V)
    if shape is not None:
        q = torch.zeros(shape, dtype=torch.float64)
    with pytest.raises(kind, match=match):
        flex_attention(q, k, v, **options)


def test_what_does_not_go_together_is_refused():
    wrong((2, 3, 4), NotImplementedError, "must be 4D tensors")
    wrong((B, 8, L, E), match="same number of heads .* enable_gqa=True")
    wrong((B, 6, L, E), match="a multiple of kv heads", enable_gqa=True)
    wrong((3, H, L, E), match="same batch size")
    wrong((B, H, L, 2), match="same embedding dimension but got E=2 and E=3")
    both = {"return_lse": True, "return_aux": AuxRequest(lse=True)}
    wrong(match="Cannot specify both", **both)
    short = create_block_mask(causal, None, None, 4, S, BLOCK_SIZE=2)
    wrong(match="smaller length", block_mask=short)
    long = create_block_mask(causal, None, None, 20, S, BLOCK_SIZE=2)
    wrong(match=r"_adjust\(q_len, kv_len\)", block_mask=long)
    more = create_block_mask(causal, 3, None, L, S, BLOCK_SIZE=2)
    wrong(match="B=None or H=None", block_mask=more)
    wrong(kind=TypeError, match="create_block_mask", block_mask=causal)
    wide = lambda s, b, h, q, k: s + torch.ones(3)  # noqa: E731
    wrong(kind=RuntimeError, match="without dims", score_mod=wide)
    wrong(kind=ValueError, match="must only return Tensors", score_mod=lambda *x: 1.0)
    with pytest.raises(ValueError, match="same dtype"):
        flex_attention(t(Q), t(K).float(), t(V))
    with pytest.raises(AssertionError, match="mask.dtype must be torch.bool"):
        create_block_mask(lambda b, h, q, k: q - k, None, None, 4, 4)
    with pytest.raises(AssertionError, match="Expected 4 or 5 positional args, got 2"):
        create_mask(lambda q, k: q > k, None, None, 4, 4)
    with pytest.raises(ValueError, match="must be positive"):
        create_block_mask(causal, None, None, 0, 4)


def test_too_many_single_calls_are_refused():
    table = t(RNG.normal(size=(300, 2)))
    with pytest.raises(RuntimeError, match="sum over named dims"):
        create_mask(
            lambda b, h, q, k: (table[q] * table[k]).sum() > 0, None, None, 300, 300
        )


# --- DTensors -------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["relative", "alibi", None])
def test_batches_and_heads_may_be_cut(ranks, dim, name):
    def body():
        mesh = line()
        q, k, v = (
            distribute_tensor(x, mesh, [Shard(dim)]).as_torch().requires_grad_()
            for x in (Q, K, V)
        )
        bias = distribute_tensor(BIAS, mesh, [Replicate()]).as_torch().requires_grad_()
        mods = {
            "relative": lambda s, b, h, i, j: s + bias[h, i - j + S],
            "alibi": CHANGES["alibi"][0],  # a Tensor beside DTensors
        }
        mask = create_block_mask(MASKS["heads"][0], None, H, L, S, BLOCK_SIZE=4)
        out = flex_attention(q, k, v, mods.get(name), mask)
        seen, theirs = MASKS["heads"][1], CHANGES[name][1] if name else None
        want, _, p = everywhere(Q, K, V, theirs, seen)
        assert out.placements == (Shard(dim),)
        assert np.allclose(a(out.full_tensor()), want)
        out.sum().backward()
        assert np.allclose(
            a(v.grad.full_tensor()), np.swapaxes(p, -1, -2) @ np.ones_like(want)
        )
        if name == "relative":
            dp = np.ones_like(want) @ np.swapaxes(V, -1, -2)
            ds = p * (dp - (dp * p).sum(-1, keepdims=True))
            db = np.zeros_like(BIAS)
            for b, h, i, j in np.ndindex(*ds.shape):
                db[h, i - j + S] += ds[b, h, i, j]
            assert np.allclose(a(bias.grad.full_tensor()), db)

    ranks(body)


def test_groups_of_heads_may_be_cut(ranks):
    def body():
        mesh = line()
        k, v = K[:, :2], V[:, :2]
        cut = [Shard(1) if mesh.size() <= 2 else Replicate()]
        given = [distribute_tensor(x, mesh, cut).as_torch() for x in (Q, k, v)]
        for name in ("alibi", None):
            ours, theirs = CHANGES[name] if name else (None, None)
            out = flex_attention(*given, ours, enable_gqa=True)
            want = everywhere(Q, k, v, theirs)[0]
            assert np.allclose(a(out.full_tensor()), want)

    ranks(body)


def test_other_cuts_are_refused(ranks):
    def body():
        mesh = line()
        for placement in (Shard(2), Shard(3), Partial()):
            if placement == Partial():
                q = DTensor.from_local(torch.tensor(Q), mesh, [placement])
            else:
                q = distribute_tensor(Q, mesh, [placement])
            k, v = (distribute_tensor(x, mesh, [Replicate()]) for x in (K, V))
            with pytest.raises(
                RuntimeError, match="may be cut along batches and heads"
            ):
                flex_attention(q, k, v)
        with pytest.raises(RuntimeError, match="mixed Tensor and DTensor"):
            flex_attention(k, torch.tensor(K), v)
        by_table = CHANGES["table by table"][0]
        whole = distribute_tensor(Q, mesh, [Replicate()]).as_torch()
        with pytest.raises(RuntimeError, match="index a table by all indices at once"):
            flex_attention(whole, k.as_torch(), v.as_torch(), by_table)

    ranks(body)
