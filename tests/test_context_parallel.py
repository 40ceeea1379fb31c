"""Attention over a sequence that is cut is attention over all of it."""

import threading

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import DTensor, Replicate, Shard, nn
from dtensor.debug import CommDebugMode
from dtensor.experimental import context_parallel
from dtensor.experimental.attention import (
    _cp_options,
    context_parallel_unshard,
    set_rotate_method,
)
from dtensor.nn import functional as F
from dtensor.ops.model.attention import scaled_dot_product_attention as imported_before
from dtensor.testing import run_ranks


@pytest.fixture(autouse=True)
def usual_options():
    """Those that a test sets do not stay."""
    yield
    set_rotate_method("allgather")
    _cp_options.enable_load_balance = True


def arrays(length, heads=(2, 2), dtype="float64", depth=3, keys=None):
    rng = np.random.default_rng(length)
    keys = length if keys is None else keys
    shapes = (
        (2, heads[0], length, 4),
        (2, heads[1], keys, 4),
        (2, heads[1], keys, depth),
    )
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def dense(given, seed, **options):
    """The result on one process, and the gradients."""
    q, k, v = (dtensor.tensor(x, requires_grad=True) for x in given)
    out = F.scaled_dot_product_attention(q, k, v, **options)
    out.backward(dtensor.tensor(seed))
    return [np.asarray(x.detach()) for x in (out, q.grad, k.grad, v.grad)]


def in_parallel(mesh, given, seed, **options):
    """The same, of tensors that are cut."""
    q, k, v, g = (dtensor.tensor(x) for x in (*given, seed))
    with context_parallel(mesh, buffers=[q, k, v, g], buffer_seq_dims=[2, 2, -2, 2]):
        for x in (q, k, v):
            x.requires_grad_(True)
        out = F.scaled_dot_product_attention(q, k, v, **options)
        assert out.shape[2] == q.shape[2]
        out.backward(g)
        found = [out.detach(), q.grad, k.grad, v.grad]
        whole = context_parallel_unshard(mesh, found, [2] * 4)
    return [np.asarray(x) for x in whole]


def compare(mesh, given, rtol=1e-12, **options):
    seed = np.cos(np.arange(given[0].size // 4 * given[2].shape[-1]))
    seed = seed.reshape(*given[0].shape[:-1], -1).astype(given[0].dtype)
    wanted = dense(given, seed, **options)
    found = in_parallel(mesh, given, seed, **options)
    for x, want in zip(found, wanted, strict=True):
        assert x.dtype == want.dtype
        np.testing.assert_allclose(x, want, rtol=rtol, atol=rtol)


# --- equal to dense attention ---------------------------------------------------------


@pytest.mark.parametrize("rotate", ["allgather", "alltoall"])
@pytest.mark.parametrize("balanced", [True, False], ids=["balanced", "plain"])
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "full"])
def test_it_equals_dense_attention_of_any_length(ranks, rotate, balanced, causal):
    def body():
        mesh = line()
        set_rotate_method(rotate)
        _cp_options.enable_load_balance = balanced
        n = mesh.size()
        for length in {4 * n, 2 * n, 4 * n + 1, 6 * n - 1, n, 2 * n - 1, 1}:
            compare(mesh, arrays(length), is_causal=causal)

    ranks(body)


@pytest.mark.parametrize("rotate", ["allgather", "alltoall"])
def test_groups_scales_and_dtypes_are_those_of_dense_attention(ranks, rotate):
    def body():
        mesh = line()
        set_rotate_method(rotate)
        length = 4 * mesh.size() + 2
        groups = arrays(length, (6, 2))
        compare(mesh, groups, enable_gqa=True, is_causal=True, scale=0.3)
        compare(mesh, arrays(length, dtype="float32"), 1e-5, is_causal=True)
        compare(mesh, arrays(length, dtype="float16"), 6e-3, is_causal=True)
        compare(mesh, [x[0, 0][None, None] for x in arrays(length)], is_causal=True)

    ranks(body)


@pytest.mark.parametrize("rotate", ["allgather", "alltoall"])
def test_queries_may_be_fewer_or_more_than_keys(ranks, rotate):
    def body():
        mesh = line()
        set_rotate_method(rotate)
        for queries, keys in ((9, 5), (3, 11)):
            compare(mesh, arrays(queries, keys=keys))

    ranks(body)


def test_large_scores_do_not_overflow(ranks):
    def body():
        q, k, v = arrays(8 * line().size())
        compare(line(), [40 * q, 40 * k, v], 1e-10, is_causal=True)

    ranks(body)


# --- what is sent ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "rotate, forward, backward",
    [
        ("allgather", {"all_gather": 1}, {"all_gather": 1, "reduce_scatter": 1}),
        ("alltoall", {"exchange": 3}, {"exchange": 3 + 4}),
    ],
)
def test_keys_and_values_are_gathered_once_or_go_round(rotate, forward, backward):
    def body():
        mesh = line()
        set_rotate_method(rotate)
        q, k, v = (dtensor.tensor(x) for x in arrays(16))
        with context_parallel(mesh, buffers=[q, k, v], buffer_seq_dims=[2] * 3):
            for x in (q, k, v):
                x.requires_grad_(True)
            with CommDebugMode() as comm:
                out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            assert comm.get_comm_counts() == forward
            assert comm.get_comm_bytes().total() == 3 * (k.nbytes + v.nbytes)
            with CommDebugMode() as comm:
                out.sum().backward()
            assert comm.get_comm_counts() == backward

    run_ranks(4, body)


# --- buffers --------------------------------------------------------------------------


def test_buffers_are_cut_and_come_back_even_after_an_exception(ranks):
    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        given = np.arange(4.0 * n).reshape(2, 2 * n), np.arange(3.0 * n)
        x, y = map(dtensor.tensor, given)
        inner = x.numpy()
        with pytest.raises(ZeroDivisionError):
            with context_parallel(
                mesh,
                buffers=[x, y],
                buffer_seq_dims=[1, 0],
                no_restore_buffers={y},
            ):
                places = [rank, 2 * n - 1 - rank]
                np.testing.assert_array_equal(x, given[0][:, places])
                part = np.asarray(y).copy()
                x += 1
                raise ZeroDivisionError
        np.testing.assert_array_equal(x, given[0])
        assert x.numpy().base is inner or np.shares_memory(x.numpy(), inner)
        np.testing.assert_array_equal(y, part)
        assert len(part) < 3 * n or n == 1

    ranks(body)


def test_what_was_cut_is_put_together_in_order(ranks):
    def body():
        mesh = line()
        for length in (1, 5, 8, 13):
            for balanced in (True, False):
                _cp_options.enable_load_balance = balanced
                given = np.arange(2.0 * length).reshape(length, 2)
                x = dtensor.tensor(given)
                with context_parallel(mesh, buffers=[x], buffer_seq_dims=[0]):
                    (whole,) = context_parallel_unshard(mesh, [x], [0])
                np.testing.assert_array_equal(whole, given)

    ranks(body)


# --- models ---------------------------------------------------------------------------


class Block(nn.Module):
    """Causal self-attention with embedded positions."""

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(0)
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        for p in self.parameters():
            p.data = dtensor.tensor(rng.standard_normal(p.shape).astype("f") / 3)

    def forward(self, x, positions):
        x = x + positions
        heads = self.qkv(x).reshape(x.shape[0], -1, 3, 2, 4).transpose(2, 0, 3, 1, 4)
        out = imported_before(heads[0], heads[1], heads[2], is_causal=True)
        return self.out(out.transpose(0, 2, 1, 3).reshape(*x.shape))


@pytest.mark.parametrize("rotate", ["allgather", "alltoall"])
def test_a_model_trains_as_on_one_process(ranks, rotate):
    def body():
        mesh = line()
        set_rotate_method(rotate)
        rng = np.random.default_rng(1)
        data = [rng.standard_normal(s).astype("f") for s in ((2, 10, 8), (10, 8))]
        whole, parallel = Block(), Block()
        (whole(*map(dtensor.tensor, data)) ** 2).sum().backward()
        x, positions = map(dtensor.tensor, data)
        with context_parallel(mesh, buffers=[x, positions], buffer_seq_dims=[1, 0]):
            (parallel(x, positions) ** 2).sum().backward()
        for p, want in zip(parallel.parameters(), whole.parameters(), strict=True):
            summed = dtensor.functional_collectives.all_reduce(p.grad, "sum", mesh)
            np.testing.assert_allclose(summed, want.grad, rtol=2e-4, atol=2e-4)

    ranks(body)


def test_heads_may_be_cut_over_another_mesh_dim():
    given = arrays(11, (4, 4))
    wanted = np.asarray(F.scaled_dot_product_attention(*given, is_causal=True))

    def body():
        mesh = square()
        heads, sequence = mesh["row"], mesh["column"]
        parts = [dtensor.tensor(x) for x in given]
        with context_parallel(sequence, buffers=parts, buffer_seq_dims=[2] * 3):
            q, k, v = (
                DTensor.from_local(x, heads, [Replicate()]).redistribute(
                    placements=[Shard(1)]
                )
                for x in parts
            )
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            assert out.placements == (Shard(1),)
            (whole,) = context_parallel_unshard(sequence, [out.full_tensor()], [2])
        np.testing.assert_allclose(whole, wanted, rtol=1e-12, atol=1e-12)

    run_ranks(4, body)


def test_dtensors_that_are_cut_along_the_sequence_are_taken_as_they_are(ranks):
    given = arrays(9)
    wanted = np.asarray(F.scaled_dot_product_attention(*given, is_causal=True))

    def body():
        mesh = line()
        _cp_options.enable_load_balance = False
        q, k, v = (dtensor.distribute_tensor(x, mesh, [Shard(2)]) for x in given)
        with context_parallel(mesh):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        np.testing.assert_allclose(out.full_tensor(), wanted, rtol=1e-12, atol=1e-12)

    ranks(body)


# --- where it holds -------------------------------------------------------------------


def test_attention_is_its_own_again_afterwards_and_in_other_threads():
    own = dtensor.ops.model.attention._attention

    def body():
        mesh = line()
        given = [dtensor.tensor(x) for x in arrays(4)]
        want = np.asarray(F.scaled_dot_product_attention(*given))
        with context_parallel(mesh):
            assert dtensor.ops.model.attention._attention is not own
            seen = []
            other = threading.Thread(
                target=lambda: seen.append(F.scaled_dot_product_attention(*given))
            )
            other.start()
            other.join()
            np.testing.assert_array_equal(seen[0], want)
        np.testing.assert_array_equal(F.scaled_dot_product_attention(*given), want)

    run_ranks(2, body)
    assert dtensor.ops.model.attention._attention is own


# --- what is refused ------------------------------------------------------------------


def test_buffers_that_cannot_be_cut_are_refused():
    mesh, x, y = line(), dtensor.tensor(np.ones(4)), dtensor.tensor(np.ones(4))
    wrong = [
        (ValueError, {"buffers": [x], "buffer_seq_dims": []}),
        (
            ValueError,
            {"buffers": [x], "buffer_seq_dims": [0], "no_restore_buffers": {y}},
        ),
        (ValueError, {"buffers": [x, x], "buffer_seq_dims": [0, 0]}),
        (ValueError, {"buffers": [nn.Parameter(x)], "buffer_seq_dims": [0]}),
        (TypeError, {"buffers": [np.ones(3)], "buffer_seq_dims": [0]}),
        (IndexError, {"buffers": [x], "buffer_seq_dims": [1]}),
    ]
    for error, options in wrong:
        with pytest.raises(error):
            with context_parallel(mesh, **options):
                pass
    with pytest.raises(ValueError, match="one dimension"):
        with context_parallel(square()):
            pass
    with pytest.raises(NotImplementedError, match="Unknown rotate method"):
        set_rotate_method("broadcast")
    with pytest.raises(ValueError, match="same number"):
        context_parallel_unshard(mesh, [x], [])


def test_attention_that_is_not_supported_is_refused_on_every_rank():
    def body():
        mesh = line()
        q, k, v = (dtensor.tensor(x) for x in arrays(4))
        with context_parallel(mesh):
            with pytest.raises(NotImplementedError, match="attn_mask"):
                F.scaled_dot_product_attention(q, k, v, np.ones((4, 4), bool))
            with pytest.raises(NotImplementedError, match="dropout"):
                F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
            with pytest.raises(NotImplementedError, match="same query"):
                F.scaled_dot_product_attention(q[..., :2, :], k, v, is_causal=True)
            with pytest.raises(RuntimeError, match="value"):
                F.scaled_dot_product_attention(q, k, v[..., :2, :])
            rank = mesh.get_local_rank()
            with pytest.raises(ValueError, match="rows of a sequence"):
                parts = (x[..., : 1 + 2 * rank, :] for x in (q, k, v))
                F.scaled_dot_product_attention(*parts, is_causal=True)
            with pytest.raises((RuntimeError, ValueError)):
                F.scaled_dot_product_attention(q, k[:, : 1 + rank], v, enable_gqa=True)
            for odd in ({"is_causal": True}, {"scale": 2.0}):
                with pytest.raises(RuntimeError, match="different calls.*scale"):
                    F.scaled_dot_product_attention(q, k, v, **(odd if rank else {}))
            for odd in ({"attn_mask": np.ones((4, 4), bool)}, {"dropout_p": 0.5}):
                with pytest.raises(NotImplementedError, match="not supported"):
                    F.scaled_dot_product_attention(q, k, v, **(odd if rank else {}))
            with pytest.raises(RuntimeError, match="Expected query"):
                F.scaled_dot_product_attention(q, k[..., : 2 + rank], v)
            out = F.scaled_dot_product_attention(q, k, v)  # all go on
            assert out.shape == (2, 2, 4, 3)

    run_ranks(2, body)


def test_backward_after_the_block_raises_where_it_needs_what_buffers_were():
    def body():
        x, w = dtensor.tensor(np.ones((4, 3))), dtensor.tensor(np.ones((3, 3)))
        w.requires_grad_()
        with context_parallel(line(), buffers=[x], buffer_seq_dims=[0]):
            loss = (x @ w).sum()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()

    run_ranks(2, body)
