"""Attention is the formula, for any masks, layouts and instruction sets; and linear."""

import gradcheck
import numpy as np
import pytest
from meshes import line
from samples_training import attended
from slow import slow

import dtensor
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    strict,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.ops.model.attention import scaled_dot_product_attention as attention
from dtensor.ops.model.linear import linear
from dtensor.testing import run_ranks

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def arrays(*shapes, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


# --- what it computes -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "queries, keys, width", [(1, 1, 1), (50, 97, 32), (97, 50, 17), (20, 500, 8)]
)
def test_attention_is_the_formula_at_every_level(level, dtype, queries, keys, width):
    shapes = (2, 3, queries, width), (2, 3, keys, width), (2, 3, keys, 5)
    q, k, v = arrays(*shapes, dtype=dtype)
    bound = 1e-5 if dtype == "float32" else 1e-13
    for causal in (False, True):
        out = np.asarray(attention(q, k, v, is_causal=causal))
        expected = attended(*(x.astype("d") for x in (q, k, v)), is_causal=causal)
        assert out.dtype == dtype
        np.testing.assert_allclose(out, expected, bound, bound)


MASKS = {
    "flags": lambda rng: rng.random((4, 6)) < 0.6,
    "flags of heads": lambda rng: rng.random((3, 1, 6)) < 0.6,
    "added": lambda rng: rng.standard_normal((2, 1, 4, 6)),
    "of one row": lambda rng: rng.standard_normal(6),
}


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("causal", [False, True])
def test_a_mask_hides_keys_or_is_added(kind, causal):
    q, k, v = arrays((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5))
    mask = MASKS[kind](np.random.default_rng(1))
    out = attention(q, k, v, mask, is_causal=causal, scale=0.3)
    expected = attended(q, k, v, mask, causal, 0.3)
    np.testing.assert_allclose(np.asarray(out), expected, 1e-12, 1e-12)


def test_a_query_that_sees_no_key_is_zero_and_has_no_gradient():
    q, k, v = (tensor(x, requires_grad=True) for x in arrays((3, 4), (5, 4), (5, 2)))
    hidden = np.array([[True], [False], [True]])
    for mask in (hidden, np.where(hidden, 0.0, -np.inf)):
        q.grad = k.grad = None
        out = attention(q, k, v, mask)
        assert not np.asarray(out.detach())[1].any()
        out.sum().backward()
        assert not np.asarray(q.grad)[1].any() and np.asarray(q.grad)[0].any()
        assert np.isfinite(np.asarray(k.grad)).all()
    assert not np.asarray(attention(np.ones((2, 3)), *2 * [np.ones((0, 3))])).any()


def test_key_and_value_heads_serve_groups_of_queries():
    q, k, v = arrays((2, 6, 4, 5), (2, 2, 7, 5), (2, 3, 7, 5))
    out = attention(q, k, v, enable_gqa=True)
    expected = attended(q, np.repeat(k, 3, 1), np.repeat(v, 2, 1))
    np.testing.assert_allclose(np.asarray(out), expected, 1e-12, 1e-12)


def test_numbers_of_16_bits_are_computed_in_32():
    q, k, v = arrays((2, 9, 8), (2, 9, 8), (2, 9, 8), dtype="float16")
    q, k, v = (tensor(x, requires_grad=True) for x in (q, k, v))
    out = attention(q, k, v, is_causal=True)
    assert out.dtype == np.float16
    given = [np.asarray(x.detach()).astype("f") for x in (q, k, v)]
    wide = attended(*given, is_causal=True)
    assert np.array_equal(np.asarray(out.detach()), wide.astype(np.float16))
    out.sum().backward()
    assert q.grad.dtype == np.float16 and np.isfinite(np.asarray(q.grad)).all()


def test_results_lie_in_memory_as_the_queries_do():
    (x,) = arrays((2, 7, 3, 4))  # batch, queries, heads, columns
    x = tensor(x, requires_grad=True)
    q = x.transpose(0, 2, 1, 3)
    out = attention(q, q, q)
    assert np.asarray(out.detach()).transpose(0, 2, 1, 3).flags.c_contiguous
    (grad,) = dtensor.autograd.grad(out.sum(), [q])
    assert np.asarray(grad).shape == (2, 3, 7, 4)


# --- gradients ------------------------------------------------------------------------

CASES = {
    "plain": (lambda q, k, v: attention(q, k, v), "d2,4,3,3 d2,4,5,3 d2,4,5,2"),
    "causal": (
        lambda q, k, v: attention(q, k, v, is_causal=True, scale=0.7),
        "d2,2,5,3 d2,2,4,3 d2,2,4,3",
    ),
    "mask": (
        lambda q, k, v, m: attention(q, k, v, m),
        "d2,2,3,2 d2,2,4,2 d2,2,4,2 d3,4",
    ),
    "mask of keys": (
        lambda q, k, v, m: attention(q, k, v, m),
        "d2,2,3,2 d2,2,4,2 d2,2,4,2 d2,1,1,4",
    ),
    "flags": (
        lambda q, k, v, m: attention(q, k, v, m > 0),
        "d2,2,3,2 d2,2,4,2 d2,2,4,2 l2,1,3,4:0..2",
    ),
    "groups": (
        lambda q, k, v: attention(q, k, v, enable_gqa=True),
        "d2,4,3,2 d2,2,4,2 d2,2,4,2",
    ),
    "broadcast": (lambda q, k, v: attention(q, k, v), "d1,4,3,2 d2,4,3,2 d2,1,3,2"),
}


SLOW = ["mask", "flags"]


@pytest.mark.parametrize("case", [slow(c) if c in SLOW else c for c in CASES])
def test_the_gradient_of_attention_is_that_of_differences(case):
    fn, words = CASES[case]
    gradcheck.check(fn, words, meshes=((2,), (3,), (2, 2)), second=True)


def test_the_sums_of_queries_have_their_gradient_too():
    both = dtensor.ops.model.attention._attention
    gradcheck.check(both, "d2,3,2 d2,4,2 d2,4,2", second=True)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_second_gradients_keep_the_dtype_and_are_0_where_no_key_is_seen(dtype):
    shapes = (3, 4), (5, 4), (5, 2)
    given = [tensor(x, requires_grad=True) for x in arrays(*shapes, dtype=dtype)]
    out = attention(*given, np.array([[True], [False], [True]]))
    firsts = dtensor.autograd.grad(out.sum(), given, create_graph=True)
    sum(g.sum() for g in firsts).backward()
    of_query = np.asarray(given[0].grad)
    assert not of_query[1].any() and of_query[0].any()
    for x in given:
        assert x.grad.dtype == dtype and np.isfinite(np.asarray(x.grad)).all()


# --- layouts --------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1])
def test_batches_and_heads_that_are_cut_send_nothing_either_way(ranks, dim):
    given = arrays((4, 6, 5, 3), (4, 6, 5, 3), (4, 6, 5, 3))
    seen = np.tri(5, dtype=bool)

    def body():
        place = [Shard(dim)]
        q, k, v = (distribute_tensor(x, line(), place) for x in given)
        for x in (q, k, v):
            x.requires_grad_(True)
        with strict(), CommDebugMode() as comm:
            out = attention(q, k, v, seen)
            out.backward(out.detach())
        assert comm.get_total_counts() == 0
        assert list(out.placements) == place == list(q.grad.placements)
        np.testing.assert_allclose(whole(out), attended(*given, seen), 1e-12, 1e-12)

    ranks(body)


def test_cut_groups_send_nothing_and_shared_keys_have_a_sum_for_gradient(ranks):
    q, k, v = arrays((2, 12, 5, 3), (2, 12, 5, 3), (2, 12, 5, 3))

    def body():
        x = distribute_tensor(q, line(), [S1])
        shared = distribute_tensor(k[:, :1], line(), [R], src_data_rank=None)
        shared.requires_grad_(True)
        with strict(), CommDebugMode() as comm:
            out = attention(x, shared, shared, enable_gqa=True)
        assert comm.get_total_counts() == 0 and list(out.placements) == [S1]
        expected = attended(q, k[:, :1], k[:, :1], enable_gqa=True)
        np.testing.assert_allclose(whole(out), expected, 1e-12, 1e-12)
        with CommDebugMode() as comm:
            out.backward(out.detach())
        assert set(comm.get_comm_counts()) <= {"all_reduce"}
        assert shared.grad.layout == shared.layout

    ranks(body)


def test_queries_that_are_cut_send_nothing_unless_they_are_causal(ranks):
    q, k, v, m = arrays((2, 9, 3), (2, 5, 3), (2, 5, 3), (9, 5))

    def body():
        x = distribute_tensor(q, line(), [S1]).requires_grad_(True)
        y, z = (
            distribute_tensor(w, line(), [R], src_data_rank=None).requires_grad_(True)
            for w in (k, v)
        )
        with strict(), CommDebugMode() as comm:
            out = attention(x, y, z, m)
        assert comm.get_total_counts() == 0 and list(out.placements) == [S1]
        np.testing.assert_allclose(whole(out), attended(q, k, v, m), 1e-12, 1e-12)
        with CommDebugMode() as comm:
            out.backward(out.detach())
        assert set(comm.get_comm_counts()) <= {"all_reduce"}
        assert x.grad.layout == x.layout and y.grad.layout == y.layout
        causal = attention(x, y, z, is_causal=True)
        expected = attended(q, k, v, is_causal=True)
        np.testing.assert_allclose(whole(causal), expected, 1e-12, 1e-12)

    ranks(body)


def test_keys_that_are_cut_are_gathered_and_their_gradients_send_nothing(ranks):
    q, k, v = arrays((1, 3), (9, 3), (9, 3))
    plain = [tensor(x, requires_grad=True) for x in (k, v)]
    attention(tensor(q), *plain).sum().backward()

    def body():
        cut = [distribute_tensor(z, line(), [S0]).requires_grad_(True) for z in (k, v)]
        out = attention(q, *cut)
        np.testing.assert_allclose(whole(out), attended(q, k, v), 1e-12, 1e-12)
        with CommDebugMode() as comm:
            out.sum().backward()
        assert comm.get_total_counts() == 0
        for x, expected in zip(cut, plain, strict=True):
            assert x.grad.layout == x.layout
            np.testing.assert_allclose(whole(x.grad), expected.grad, 1e-12, 1e-12)

    ranks(body)


# --- dropout --------------------------------------------------------------------------


def test_what_dropout_drops_does_not_depend_on_the_layout():
    q, k, v = arrays((4, 3, 5, 2), (4, 3, 5, 2), (4, 3, 5, 2))
    mask = np.array([[True] * 5] * 4 + [[False] * 5])

    def dropped(size, place):
        def body():
            dtensor.random.manual_seed(3)
            x = distribute_tensor(q, line(), place)
            return whole(attention(x, k, v, mask, dropout_p=0.5, is_causal=True))

        return run_ranks(size, body)[0]

    first = dropped(1, [R])
    assert np.isfinite(first).all() and not first[:, :, 4].any()
    assert not np.allclose(first, attended(q, k, v, mask, True))
    for size, place in ((2, [S0]), (3, [S1]), (2, [R]), (4, [S0])):
        np.testing.assert_allclose(dropped(size, place), first, 1e-12, 1e-12)


def test_dropout_of_all_is_zero_and_of_none_is_attention():
    q, k, v = arrays((2, 3, 2), (2, 3, 2), (2, 3, 2))
    assert not np.asarray(attention(q, k, v, dropout_p=1.0)).any()
    plain = np.asarray(attention(q, k, v))
    assert np.array_equal(np.asarray(attention(q, k, v, dropout_p=0.0)), plain)


# --- errors ---------------------------------------------------------------------------

WRONG = {
    "dims": (RuntimeError, "at least 2 dimensional", [(4,), (4,), (4,)], {}),
    "columns": (RuntimeError, "Expected query", [(3, 4), (3, 5), (3, 4)], {}),
    "keys": (RuntimeError, "Expected query", [(3, 4), (3, 4), (2, 4)], {}),
    "heads": (RuntimeError, "batch dims", [(4, 3, 4), (2, 3, 4), (2, 3, 4)], {}),
    "mask": (RuntimeError, "attn_mask", [(3, 4), (5, 4), (5, 4), (5, 3)], {}),
    "groups": (
        RuntimeError,
        "must divide",
        [(4, 3, 4), (3, 3, 4), (3, 3, 4)],
        {"enable_gqa": True},
    ),
    "no heads": (IndexError, "out of range", [(3, 4)] * 3, {"enable_gqa": True}),
    "dropout": (RuntimeError, "between 0 and 1", [(3, 4)] * 3, {"dropout_p": 1.5}),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_go_together_is_refused_on_every_rank(ranks, case):
    error, words, shapes, options = WRONG[case]

    def body():
        xs = [
            distribute_tensor(np.ones(shape), line(), [R], src_data_rank=None)
            for shape in shapes
        ]
        with pytest.raises(error, match=words):
            attention(*xs, **options)

    ranks(body)


@pytest.mark.parametrize("dtypes", ["ddf", "fdd", "lll", "DDD", "dddl"])
def test_other_dtypes_are_refused(dtypes):
    with pytest.raises(RuntimeError, match="dtype"):
        attention(*(np.ones((2, 2), dtype) for dtype in dtypes))


# --- linear ---------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["d3,4,5 d6,5 d6", "d2,5 d3,5", "d5 d6,5 d6"])
def test_the_gradients_of_linear_are_those_of_differences(words):
    gradcheck.check(linear, words, meshes=((2,), (2, 2)), second=True)


def test_columns_then_rows_cost_one_all_reduce_and_add_the_bias_once(ranks):
    x, w1, w2, b1, b2 = arrays((4, 3, 6), (12, 6), (5, 12), (12,), (5,))

    def body():
        mesh = line()
        weights = [distribute_tensor(w, mesh, [s]) for w, s in ((w1, S0), (w2, S1))]
        b = distribute_tensor(b1, mesh, [S0])
        c = distribute_tensor(b2, mesh, [R], src_data_rank=None)
        given = distribute_tensor(x, mesh, [R], src_data_rank=None)
        with strict(), CommDebugMode() as comm:
            out = linear(linear(given, weights[0], b), weights[1], c)
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(out.placements) == [Partial()]
        expected = (x @ w1.T + b1) @ w2.T + b2
        np.testing.assert_allclose(whole(out), expected, 1e-12, 1e-12)

    ranks(body)


def test_batch_and_sequence_may_both_be_cut():
    x, w, b = arrays((4, 6, 5), (7, 5), (7,))

    def body():
        mesh = dtensor.init_device_mesh("cpu", (2, 2))
        given = distribute_tensor(x, mesh, [S0, S1]).requires_grad_(True)
        weight, bias = (
            distribute_tensor(y, mesh, [R, R], src_data_rank=None).requires_grad_(True)
            for y in (w, b)
        )
        with strict(), CommDebugMode() as comm:
            out = linear(given, weight, bias)
        assert comm.get_total_counts() == 0 and list(out.placements) == [S0, S1]
        with CommDebugMode() as comm:
            out.backward(out.detach())
        assert set(comm.get_comm_counts()) == {"all_reduce"}
        y = x @ w.T + b
        np.testing.assert_allclose(whole(weight.grad), np.einsum("abn,abk->nk", y, x))
        np.testing.assert_allclose(whole(bias.grad), y.sum((0, 1)))
        np.testing.assert_allclose(whole(given.grad), y @ w)

    run_ranks(4, body)


def test_inputs_in_any_order_and_of_no_rows_are_right():
    x, w = arrays((3, 4, 5), (6, 5))
    out = linear(x.transpose(1, 0, 2), w)
    np.testing.assert_allclose(np.asarray(out), x.transpose(1, 0, 2) @ w.T)
    assert linear(x[:0], w).shape == (0, 4, 6)
    assert not np.asarray(linear(np.ones((3, 0)), np.ones((2, 0)))).any()


@pytest.mark.parametrize(
    "shapes, words",
    [
        ([(3, 4), (5, 6)], "cannot be multiplied"),
        ([(3, 4), (5, 4), (4,)], "must match"),
        ([(3, 4), (2, 5, 4)], "<= 2 dimensions"),
        ([(), (5, 4)], "at least 1D"),
        ([(3, 4), (4,), (1,)], "must be a matrix"),
    ],
)
def test_linear_refuses_what_torch_refuses(shapes, words):
    with pytest.raises(RuntimeError, match=words):
        linear(*map(np.ones, shapes))
    with pytest.raises(RuntimeError, match="same dtype"):
        linear(np.ones((2, 3)), np.ones((4, 3), "f"))
