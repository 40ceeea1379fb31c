"""Attention with scores and masks of functions is that of formulas written out."""

import math

import numpy as np
import pytest
from flex_tables import (
    BIAS,
    CHANGES,
    MASKS,
    RNG,
    SLOPES,
    B,
    E,
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
)
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from dtensor.torch.nn.attention import _rows
from dtensor.torch.nn.attention.flex_attention import (
    AuxRequest,
    create_block_mask,
    create_mask,
    flex_attention,
)

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
