"""Attention whose heads are spread over the ranks, and what it stands in for."""

import numpy as np
import pytest
from meshes import line
from parallel_models import (
    F64,
    assert_same_gradients,
    filled,
    many,
    numbers,
    part_of,
    run,
    whole,
)

import dtensor
from dtensor import Shard, nn
from dtensor.debug import CommDebugMode
from dtensor.parallel import (
    PairwiseParallel,
    PairwiseSequenceParallel,
    TensorParallelMultiheadAttention,
    parallelize_module,
)
from dtensor.parallel.multihead_attention_tp import (
    TensorParallelMultiheadAttention as OfItsModule,
)


def attention(heads, embed=12, **options):
    return filled(TensorParallelMultiheadAttention(embed, heads, dtype=F64, **options))


class Wrap(nn.Module):
    """An attention in a model, which returns its output."""

    def __init__(self, embed=12, heads=4, **options) -> None:
        super().__init__()
        self.attn = nn.MultiheadAttention(embed, heads, dtype=F64, **options)

    def forward(self, q, k=None, v=None, **options):
        k = q if k is None else k
        out, self.weights = self.attn(q, k, k if v is None else v, **options)
        return out


@pytest.mark.parametrize("heads", [4, 3, 2, 1])
@pytest.mark.parametrize("fused", [True, False])
def test_sharded_attention_is_the_attention_on_one_rank(ranks, heads, fused):
    def body():
        mesh = line()
        options = {"self_attention": fused, "add_bias_kv": True}
        plain = attention(heads, **options)
        module = attention(heads, **options)
        assert parallelize_module(module, mesh, PairwiseParallel()) is module
        a = dtensor.tensor(numbers(2, 5, 12), requires_grad=True)
        b = dtensor.tensor(numbers(2, 5, 12), requires_grad=True)
        want, _ = run(plain, a, a, a)
        out, (forward, backward) = run(module, b, b, b)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(module, plain)
        if heads > 1:  # one head is whole wherever it is computed
            assert forward == many(mesh, all_reduce=1)
            assert backward == many(mesh, all_reduce=1 if fused else 3)

    ranks(body)


def test_the_parameters_are_cut_between_heads(ranks):
    def body():
        mesh = line()
        module = parallelize_module(attention(3), mesh, PairwiseParallel())
        heads = -(-3 // mesh.size())
        mine = max(0, min(3, (mesh.get_local_rank() + 1) * heads)) - min(
            3, mesh.get_local_rank() * heads
        )
        assert module.qkv.weight.placements == (Shard(0),)
        assert module.proj.weight.placements == (Shard(1),)
        assert module.qkv.weight.to_local().shape == (mine * 12, 12)
        assert module.proj.weight.to_local().shape == (12, mine * 4)

    ranks(body)


REPLACED = [
    {},
    {"batch_first": True},
    {"bias": False},
    {"kdim": 5, "vdim": 7},
    {"batch_first": True, "kdim": 5},
    {"add_bias_kv": True, "add_zero_attn": True},
]


@pytest.mark.parametrize("options", REPLACED, ids=str)
@pytest.mark.parametrize("heads", [4, 3])
@pytest.mark.parametrize("need_weights", [True, False])
def test_what_stands_for_an_attention_computes_the_same(
    ranks, options, heads, need_weights
):
    def body():
        mesh = line()
        plain = filled(Wrap(heads=heads, **options))
        model = filled(Wrap(heads=heads, **options))
        parallelize_module(model, mesh, PairwiseParallel())
        assert isinstance(model.attn, TensorParallelMultiheadAttention)
        shapes = (3, 2, 12), (4, 2, options.get("kdim", 12))
        shapes = *shapes, (4, 2, options.get("vdim", 12))
        if options.get("batch_first"):
            shapes = [(b, s, e) for s, b, e in shapes]
        xs = [dtensor.tensor(numbers(*shape, seed=5)) for shape in shapes]
        want = plain(*xs, need_weights=need_weights)
        with CommDebugMode() as comm:
            out = model(*xs, need_weights=need_weights)
        assert comm.get_comm_counts() == many(mesh, all_reduce=1)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        if need_weights:
            got = whole(model.weights)
            np.testing.assert_allclose(got, whole(plain.weights), atol=1e-12)
        else:
            assert model.weights is None

    ranks(body)


def test_what_stands_for_an_attention_trains_the_same(ranks):
    def body():
        mesh = line()
        plain, model = filled(Wrap(heads=3)), filled(Wrap(heads=3))
        parallelize_module(model, mesh, {"attn": PairwiseParallel()})
        a = dtensor.tensor(numbers(3, 2, 12), requires_grad=True)
        b = dtensor.tensor(numbers(3, 2, 12), requires_grad=True)
        run(plain, a)
        _, (_, backward) = run(model, b)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert backward == many(mesh, all_reduce=1)
        # rows of the fused projection: query, key and value of the first head, ...
        want = whole(plain.attn.in_proj_weight.grad).reshape(3, 3, 4, 12)
        want = want.swapaxes(0, 1).reshape(36, 12)
        np.testing.assert_allclose(whole(model.attn.qkv.weight.grad), want, atol=1e-12)
        np.testing.assert_allclose(
            whole(model.attn.proj.weight.grad),
            whole(plain.attn.out_proj.weight.grad),
            atol=1e-12,
        )

    ranks(body)


MASKS = [
    {"attn_mask": np.triu(np.ones((5, 5), bool), 1)},
    {"attn_mask": numbers(5, 5)},
    {"attn_mask": numbers(8, 5, 5)},
    {"key_padding_mask": np.arange(5) >= np.array([[5], [3]])},
    {
        "attn_mask": numbers(5, 5),
        "key_padding_mask": np.arange(5) >= np.array([[5], [3]]),
    },
]


@pytest.mark.parametrize("masks", MASKS, ids=lambda m: " ".join(m))
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("more", [False, True])
def test_masks_mean_the_same(ranks, masks, need_weights, more):
    def body():
        options = {"batch_first": True, "add_bias_kv": more, "add_zero_attn": more}
        plain, model = filled(Wrap(**options)), filled(Wrap(**options))
        parallelize_module(model, line(), PairwiseParallel())
        x = dtensor.tensor(numbers(2, 5, 12))
        given = {name: dtensor.tensor(mask) for name, mask in masks.items()}
        want = plain(x, need_weights=need_weights, **given)
        out = model(x, need_weights=need_weights, **given)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)

    ranks(body)


def test_a_sequence_without_a_batch_works_too(ranks):
    def body():
        plain, model = filled(Wrap()), filled(Wrap())
        parallelize_module(model, line(), PairwiseParallel())
        x = dtensor.tensor(numbers(5, 12))
        np.testing.assert_allclose(whole(model(x)), whole(plain(x)), atol=1e-12)

    ranks(body)


@pytest.mark.parametrize("length", [8, 5])
def test_attention_between_parts_of_the_sequence(ranks, length):
    def body():
        mesh = line()
        plain, model = filled(Wrap()), filled(Wrap())
        parallelize_module(model, mesh, PairwiseSequenceParallel())
        x = numbers(length, 2, 12)
        want = part_of(whole(plain(dtensor.tensor(x))), mesh, 0)
        with CommDebugMode() as comm:
            out = model(dtensor.tensor(part_of(x, mesh, 0)), need_weights=False)
        np.testing.assert_allclose(whole(out), want, atol=1e-12)
        assert comm.get_comm_counts() == many(mesh, all_gather=1, reduce_scatter=1)

    ranks(body)


@pytest.mark.parametrize("heads", [4, 3])
def test_an_attention_on_the_meta_device_is_replaced_without_data(ranks, heads):
    def body():
        mesh, model = line(), Wrap(heads=heads).to("meta")
        with CommDebugMode() as comm:
            parallelize_module(model, mesh, PairwiseParallel())
            out = model(dtensor.tensor(numbers(5, 1, 12)))
        assert comm.get_total_counts() == 0
        assert {p.device for p in model.parameters()} == {"meta"}
        assert out.shape == (5, 1, 12) and out.device == "meta"

    ranks(body)


def test_an_attention_that_is_the_root_is_returned(ranks):
    def body():
        root = nn.MultiheadAttention(12, 4, dtype=F64)
        new = parallelize_module(root, line(), PairwiseParallel())
        assert isinstance(new, TensorParallelMultiheadAttention) and new is not root

    ranks(body)


def test_masks_are_heeded_without_parallelism_too():
    module = attention(4)
    x = dtensor.tensor(numbers(1, 5, 12))
    causal = np.triu(np.ones((5, 5), bool), 1)
    out = whole(module(x, x, x, attn_mask=causal))
    first = dtensor.tensor(numbers(1, 5, 12)[:, :3])
    want = whole(module(first, first, first, attn_mask=causal[:3, :3]))
    np.testing.assert_allclose(out[:, :3], want)


def test_self_attention_refuses_inputs_that_differ(ranks):
    def body():
        module = parallelize_module(attention(4), line(), PairwiseParallel())
        x, y = dtensor.tensor(numbers(1, 5, 12)), dtensor.tensor(numbers(1, 5, 12))
        module(x, y, x)
        y += 1
        with pytest.raises(AssertionError, match="different for self-attention."):
            module(x, y, x)

    ranks(body)


def test_copy_wants_the_same_sizes():
    module = attention(4)
    assert OfItsModule is TensorParallelMultiheadAttention
    for other in (nn.MultiheadAttention(8, 4), nn.MultiheadAttention(12, 3)):
        with pytest.raises(AssertionError, match="embed_dim must be equal in Tensor"):
            module.copy(other)
    with pytest.raises(ValueError, match="embed_dim must be divisible by num_heads"):
        TensorParallelMultiheadAttention(12, 5)
