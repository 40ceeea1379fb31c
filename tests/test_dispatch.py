"""How operators are called: what is kept, what is compared, what comes out."""

import inspect
import warnings

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    Tensor,
    abstract,
    distribute_tensor,
    strict,
    tensor,
)
from dtensor.debug import cache_info
from dtensor.experimental import implicit_replication, register_sharding
from dtensor.ops._make.operator import Operand, Part, Rule, call, letters, operator
from dtensor.testing import run_ranks

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
A = np.arange(35.0).reshape(5, 7)


def placed(array, *placements):
    return distribute_tensor(array, line(), placements)


def whole(x):
    return np.asarray(x.full_tensor())


# --- what is kept ---------------------------------------------------------------------


def test_a_call_with_known_layouts_is_a_hit_whatever_the_numbers_are(ranks):
    def body():
        x = placed(A, S0)
        results = [whole(x * number) for number in (2.0, -5.0, 0.0)]
        for result, number in zip(results, (2.0, -5.0, 0.0), strict=True):
            assert np.array_equal(result, A * number)

    ranks(body)
    x = run_ranks(1, lambda: placed(A, S0) * 1.5)[0]
    assert isinstance(x, DTensor)


def test_constants_that_only_compare_equal_are_told_apart(ranks):
    def body():
        x = placed(np.arange(5), S0)
        dtypes = [np.dtype((x * one).dtype) for one in (1, True, 1.0, 1j)]
        assert dtypes == [np.dtype(t) for t in ("int64", "int64", "float64", complex)]
        y = placed(A, S1)
        assert np.sum(y, keepdims=True).shape == (1, 1)
        assert np.sum(y, keepdims=False).shape == ()
        assert np.sum(y, axis=1).shape == (5,) != np.sum(y, axis=(0, 1)).shape
        zeros = [np.full_like(y, zero) for zero in (0.0, -0.0)]
        assert [bool(np.signbit(whole(z)).any()) for z in zeros] == [False, True]

    ranks(body)


def test_a_list_that_has_changed_is_another_constant(ranks):
    def body():
        x, index = placed(A, R), [0, 1]
        assert np.array_equal(whole(x[index]), A[[0, 1]])
        index[1] = 4
        assert np.array_equal(whole(x[index]), A[[0, 4]])

    ranks(body)


def test_the_cache_is_bounded_and_tells_what_it_knew():
    def body():
        x, before = placed(np.zeros(4), S0), cache_info()
        for k in range(before.operator_capacity + 50):
            np.sum(x, initial=float(k))
        missed = cache_info()
        np.sum(x, initial=float(before.operator_capacity))
        return before, missed, cache_info()

    before, missed, after = run_ranks(1, body)[0]
    assert after.operator_entries <= after.operator_capacity
    assert missed.operator_misses - before.operator_misses > before.operator_capacity
    assert after.operator_misses == missed.operator_misses
    assert after.operator_hits == missed.operator_hits + 1


def test_many_operands_are_one_call(ranks):
    def body():
        parts = [placed(A + k, S1) for k in range(60)]
        assert np.array_equal(
            whole(np.concatenate(parts)), np.concatenate([A + k for k in range(60)])
        )

    ranks(body)


# --- what operands are ----------------------------------------------------------------


def test_plain_arrays_numbers_and_lists_count_as_replicated(ranks):
    def body():
        x = placed(A, S0)
        row = np.arange(7.0)
        for other in (row, list(row), row[None], np.float64(2), np.array(3.0), 2, 2.5):
            assert np.array_equal(whole(x + other), A + np.asarray(other))
            assert np.array_equal(whole(other - x), np.asarray(other) - A)
            assert (x + other).placements == (S0,)

    ranks(body)


def test_tensors_beside_dtensors_are_refused_unless_they_may_count_as_replicated(ranks):
    def body():
        x, t = placed(A, S0), tensor(np.arange(7.0))
        calls = lambda: x + t, lambda: t + x, lambda: np.add(x, t)
        for call_it in (*calls, lambda: np.vstack([x[1:], t[None]])):
            with pytest.raises(RuntimeError, match="got mixed Tensor and DTensor"):
                call_it()
            with implicit_replication():
                assert whole(call_it()).shape == (5, 7)
            with pytest.raises(RuntimeError, match="got mixed"):
                call_it()
        assert np.array_equal(whole(x + tensor([1.0])), A + 1)  # one number, as torch

    ranks(body)


def test_gradients_of_tensors_that_count_as_replicated_are_whole(ranks):
    def body():
        x, w = placed(A, S0), tensor(np.arange(7.0), requires_grad=True)
        with implicit_replication():
            (x * w).sum().backward()
        assert type(w.grad) is Tensor
        np.testing.assert_allclose(w.grad, A.sum(0))

    ranks(body)


def test_tensors_alone_give_tensors():
    t = tensor(A)
    for y in (t + 1, t @ t.T, t.sum(0), np.sin(t), t[1:, ::-2], t.reshape(7, 5)):
        assert type(y) is Tensor
    assert np.array_equal(np.asarray(t.sum(0)), A.sum(0).astype(t.dtype))
    t[1:3] = 0
    assert not np.asarray(t)[1:3].any()


def test_operands_on_two_meshes_are_refused_with_both_meshes(ranks):
    def body():
        x, y = placed(A, S0), distribute_tensor(A, square(), [S0, R])
        with pytest.raises(ValueError, match="different meshes.*redistribute"):
            x + y

    ranks(body)


# --- what comes out -------------------------------------------------------------------


def test_a_truth_value_is_the_same_on_all_ranks(ranks):
    def body():
        x = placed(A, S0)
        assert bool((x > 33).any()) and not bool((x > 33).all())
        assert 34.0 in x and 35.0 not in x
        assert len(list(iter(x))) == 5

    ranks(body)


# --- errors ---------------------------------------------------------------------------

MISTAKES = [
    lambda x: x + np.ones(6),
    lambda x: x @ x,
    lambda x: np.sum(x, axis=2),
    lambda x: np.sum(x, axis=(0, 0)),
    lambda x: x[5],
    lambda x: x[0, 0, 0],
    lambda x: x[np.ones(4, bool)],
    lambda x: x[[7]],
    lambda x: x["a"],
    lambda x: x.reshape(4, 9),
    lambda x: x.reshape(-1, -1),
    lambda x: np.transpose(x, (0, 0)),
    lambda x: np.bitwise_and(x, x),
    lambda x: np.concatenate([x, np.ones((2, 6))]),
    lambda x: np.max(x[:0]),
    lambda x: np.einsum("ij,jk", x, x),
    lambda x: np.linalg.inv(x),
    lambda x: np.add(x, x, dtype="U3"),
    lambda x: x << 1,
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[str(k) for k in range(19)])
def test_a_mistake_is_numpys_exception_on_every_rank_and_nothing_is_lost(
    ranks, mistake
):
    def body():
        x = placed(A, S0)
        with pytest.raises(Exception) as expected:
            mistake(A)
        with pytest.raises(Exception) as error:
            mistake(x)
        assert type(error.value) is type(expected.value)
        assert str(error.value) == str(expected.value)
        assert np.array_equal(whole(x + x), A + A)

    ranks(body)


def test_implicit_moves_are_errors_inside_strict(ranks):
    def body():
        x, y = placed(A, S0), placed(A, S1)
        several = x.device_mesh.size() > 1
        with strict():
            assert np.array_equal(whole(np.sin(x) * 2 + 1), np.sin(A) * 2 + 1)
            if several:
                with pytest.raises(dtensor.ImplicitRedistributeError) as error:
                    x + y
                assert "add at" in str(error.value) and "bytes" in str(error.value)
                with pytest.raises(dtensor.ImplicitRedistributeError):
                    np.median(x)
        assert np.array_equal(whole(x + y), A + A)

    ranks(body)


def test_what_has_no_rule_warns_once_for_each_line():
    def body():
        x = placed(A, S0)
        for _ in range(3):
            found = np.poly(x[:, 0])
        assert np.allclose(whole(found), np.poly(A[:, 0]))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_ranks(2, body)
    told = [w for w in caught if w.category is dtensor.FallbackWarning]
    assert len(told) == 1 and told[0].filename == __file__
    assert "poly" in str(told[0].message)


# --- operators of one's own -----------------------------------------------------------


def test_torchs_names_of_arguments_work_beside_numpys(ranks):
    def body():
        x = placed(A, S0)
        assert np.array_equal(whole(x.sum(dim=0)), A.sum(0))
        assert x.sum(dim=0, keepdim=True).shape == (1, 7)
        assert x.mean(dim=1, keepdim=True).shape == (5, 1)

    ranks(body)


def test_an_operator_knows_its_signature_and_docstring():
    assert list(inspect.signature(dtensor.sum).parameters)[:2] == ["a", "axis"]
    assert dtensor.sum.__name__ == "sum" and "sum" in dtensor.sum.__doc__


def test_a_rule_of_ones_own_decides_what_moves(ranks):
    @operator
    def halve(x: Operand, axis: int = 0):
        names = letters(x.ndim, whole=[axis])
        scale = Part(lambda operands, results: 0.5)
        return (
            Rule(f"{''.join(names)}->{''.join(names)}"),
            call(np.multiply, x, scale),
            x.dtype,
        )

    def body():
        x = placed(A, S0)
        assert halve(x, 1).placements == (S0,)
        assert halve(x, 0).placements != (S0,) or x.device_mesh.size() == 1
        assert np.array_equal(whole(halve(x, 0)), A / 2)

    ranks(body)


def test_a_registered_sharding_takes_the_place_of_the_rule(ranks):
    @operator(name="rows")
    def rows(x: Operand):
        return Rule("AB->AB"), call(np.positive, x)

    @register_sharding(rows)
    def acceptable(x):
        assert x.ndim == 2 and x.shape == (5, 7)
        return [([Replicate()], [Replicate()]), ([Shard(0)], [Shard(0)])]

    def body():
        for placement in (S0, S1, R):
            y = rows(placed(A, placement))
            assert np.array_equal(whole(y), A)
            if placement == S0:
                assert y.placements == (S0,)

    ranks(body)
    with pytest.raises(TypeError, match="not an operator"):
        register_sharding(len)


@pytest.mark.parametrize(
    ("shardings", "error", "message"),
    [
        ([S0], TypeError, "must return pairs"),
        ([(["S"], [S0])], TypeError, "must return pairs"),
        ([([Shard(9)], [Shard(9)])], IndexError, "out of range for 2 dims"),
        ([([S0], [R])], ValueError, "a result is sharded but no argument"),
    ],
    ids=str,
)
def test_shardings_that_are_none_are_refused(shardings, error, message):
    @operator(name="rows")
    def rows(x: Operand):
        return Rule("AB->AB"), call(np.positive, x)

    register_sharding(rows)(lambda x: shardings)

    def body():
        with pytest.raises(error, match=message):
            rows(placed(A, S0))

    run_ranks(2, body)


def test_layouts_answer_what_an_operator_would_give():
    mesh = DeviceMesh.abstract((64, 32), mesh_dim_names=("dp", "tp"))
    x = Layout(mesh, [S0, R], (4096, 512), "float32")
    w = Layout(mesh, [R, S1], (512, 1000), "float32")
    y = abstract(lambda x, w: np.tanh(x @ w + 1).sum(axis=1), x, w)
    assert y.placements == (S0, P) and y.shape == (4096,) and y.mesh is mesh
    assert abstract(np.divmod, x, 2)[1].dtype == np.float32
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        abstract(np.matmul, x, x)
    assert x.cuts is None and abstract(lambda x: x[1:], x).shape == (4095, 512)


def test_ranks_outside_the_mesh_compute_nothing_and_know_the_result():
    def body():
        mesh = DeviceMesh("cpu", [0, 1])
        x = distribute_tensor(A, mesh, [S0])
        y = np.tanh(x @ np.ones((7, 3)))
        assert y.shape == (5, 3) and y.placements == (S0,)
        if mesh.get_coordinate() is None:
            assert y.to_local().shape == (0,)
        return whole(y)

    results = run_ranks(3, body)
    assert np.array_equal(results[0], np.tanh(A @ np.ones((7, 3))))


def test_a_singular_matrix_is_an_error_on_all_ranks(ranks):
    def body():
        stack = np.stack([np.eye(2)] * 3 + [np.zeros((2, 2))])
        for placement in (S0, R):
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                np.linalg.inv(placed(stack, placement))
        assert np.allclose(whole(np.linalg.inv(placed(stack[:3], S0))), stack[:3])

    ranks(body)


def test_meshes_that_differ_by_names_alone_go_together(ranks):
    def body():
        x, n = placed(A, S0), line().size()
        y = distribute_tensor(A, dtensor.init_device_mesh("cpu", (n,)), [S1])
        z = x + y
        assert np.array_equal(whole(z), A + A) and z.device_mesh == x.device_mesh
        assert np.array_equal(whole(y + x), A + A)

    ranks(body)


def test_constants_that_differ_between_ranks_are_found_where_something_is_sent():
    def body():
        x = placed(A, S0)
        np.sort(x, axis=0, kind="stable" if x.device_mesh.get_rank() else None)

    # Ranks 1 and 2 are in one call; both are in the line above.
    message = r"different calls: .* at .*test_dispatch.py:\d+, .* at .*:\d+"
    with pytest.raises(RuntimeError, match=message):
        run_ranks(3, body)
