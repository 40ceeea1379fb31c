"""local_map applies what is written for one rank's parts to DTensors."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from dtensor.autograd import grad
from dtensor.debug import CommDebugMode
from dtensor.experimental import func_map, local_map
from dtensor.functional_collectives import all_reduce
from dtensor.testing import run_ranks

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def mm_allreduce_forward(device_mesh, W, X):
    return all_reduce(W @ X, "sum", device_mesh)


# --- the example of the documentation -------------------------------------------------


@pytest.mark.parametrize("form", ["arrays", "arguments"])
def test_the_documented_example_is_one_all_reduce(ranks, form):
    def body():
        mesh = line()
        W, X = numbers(12, 8), numbers(8, 16, seed=1)
        row_wise, col_wise = [Shard(0)], [Shard(1)]
        given = [col_wise, row_wise] if form == "arrays" else (None, col_wise, row_wise)
        local_mm = local_map(
            mm_allreduce_forward,
            out_placements=[Replicate()],
            in_placements=given,
            device_mesh=mesh,
        )
        W_dt = distribute_tensor(W, mesh, col_wise)
        X_dt = distribute_tensor(X, mesh, row_wise)
        with CommDebugMode() as comm:
            Y = local_mm(mesh, W_dt, X_dt)
        assert comm.get_comm_counts() == ({"all_reduce": 1} if mesh.size() > 1 else {})
        assert Y.placements == (R,)
        np.testing.assert_allclose(Y.to_local(), W @ X, rtol=1e-12)

    ranks(body)


# --- gradients ------------------------------------------------------------------------


def test_gradients_are_those_of_the_product(ranks):
    def body():
        mesh = line()
        a, b, seed = numbers(5, 7), numbers(7, 3, seed=1), numbers(5, 3, seed=2)
        x = distribute_tensor(a, mesh, [S1]).requires_grad_(True)
        y = distribute_tensor(b, mesh, [S0]).requires_grad_(True)
        product = local_map(lambda u, v: u @ v, [Partial()], ([S1], [S0]))
        out = product(x, y)
        out.redistribute(placements=[R]).backward(
            distribute_tensor(seed, mesh, [R], src_data_rank=None)
        )
        assert out.placements == (Partial(),) and x.grad.placements == (S1,)
        np.testing.assert_allclose(x.grad.full_tensor(), seed @ b.T, rtol=1e-12)
        np.testing.assert_allclose(y.grad.full_tensor(), a.T @ seed, rtol=1e-12)

    ranks(body)


@pytest.mark.filterwarnings("ignore:to_local of a replicated leaf")
def test_a_gradient_whose_addends_ranks_have_has_a_gradient(ranks):
    @local_map(out_placements=[Partial()], in_grad_placements=([Partial()],))
    def doubled(x):
        return 2 * x**2

    def body():
        mesh, a = line(), numbers(2, 3)
        x = distribute_tensor(a, mesh, [R]).requires_grad_()
        (once,) = grad([doubled(x).sum()], [x], create_graph=True)
        (twice,) = grad([(once * a).sum()], [x])
        for found in (once.detach(), twice):
            np.testing.assert_allclose(found.full_tensor(), 4 * a * mesh.size())

    ranks(body)


def test_in_grad_placements_say_that_gradients_are_to_be_summed(ranks):
    """A replicated weight is used with other data on each rank."""

    def body():
        mesh = line()
        x, w = numbers(6, 4), numbers(4, 3, seed=1)
        grads = {}
        for name, given in (("told", ([S0], [Partial()])), ("not", None)):
            xs = distribute_tensor(x, mesh, [S0])
            weight = distribute_tensor(w, mesh, [R]).requires_grad_(True)
            apply = local_map(lambda u, v: u @ v, [S0], None, given)
            with CommDebugMode() as comm:
                apply(xs, weight).backward(distribute_tensor(x @ w, mesh, [S0]))
            grads[name] = np.asarray(weight.grad.to_local())
            assert comm.get_comm_counts()["all_reduce"] == (
                name == "told" and mesh.size() > 1
            )
        np.testing.assert_allclose(grads["told"], x.T @ (x @ w), rtol=1e-12)
        rank, length = mesh.get_local_rank(), -(-6 // mesh.size())
        part = x[rank * length : (rank + 1) * length]
        np.testing.assert_allclose(grads["not"], part.T @ part @ w, rtol=1e-12)

    ranks(body)


# --- forms ----------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


def test_arguments_and_outputs_may_be_nested(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(numbers(6, 2), mesh, [S0])
        y = distribute_tensor(numbers(6, 2, seed=1), mesh, [S0])

        @local_map(out_placements=([S0], None, [S0]), in_placements=([S0], [S0], None))
        def both(pair, options):
            assert type(pair.second["y"]) is dtensor.Tensor
            total = pair.first + pair.second["y"]
            return {"sum": total, "more": [options, pair.first]}

        out = both(Pair(x, {"y": y}), 7)
        assert out["more"][0] == 7
        np.testing.assert_array_equal(out["sum"].full_tensor(), (x + y).full_tensor())
        np.testing.assert_array_equal(out["more"][1].full_tensor(), x.full_tensor())
        assert both.__name__ == "both"
        table = defaultdict(list, x=x)
        made = local_map(lambda d: d, ([S0],), ([S0],))(table)
        assert type(made) is defaultdict and made["other"] == []

    ranks(body)


def test_without_a_dtensor_the_function_is_called_as_it_is():
    calls = local_map(lambda x, k: x * k, [S0], ([S0], None))
    assert np.array_equal(calls(np.ones(2), 3), [3, 3])
    assert type(calls(dtensor.tensor([1.0]), 2)) is dtensor.Tensor


def test_tensors_beside_dtensors_are_passed_as_they_are(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(numbers(5, 2), mesh, [S0])
        w = dtensor.tensor([2.0, 3.0], dtype="float64")
        out = local_map(lambda u, v: u * v, [S0], ([S0], [R]))(x, w)
        np.testing.assert_array_equal(out.full_tensor(), numbers(5, 2) * [2, 3])
        out = local_map(lambda u, v: u * v, [S0])(x, np.array([2.0, 3.0]))
        np.testing.assert_array_equal(out.full_tensor(), numbers(5, 2) * [2, 3])

    ranks(body)


def test_outputs_of_uneven_lengths_have_the_right_shape(ranks):
    """Parts of a sharded dim and parts that each rank makes longer or shorter."""

    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        x = numbers(2 * n + 1, 3)
        xs = distribute_tensor(x, mesh, [S0])
        out = local_map(lambda u: 2 * u, [S0])(xs)
        assert out.shape == x.shape
        np.testing.assert_array_equal(out.full_tensor(), 2 * x)
        made = local_map(lambda u: u[:1].repeat(rank + 1, axis=0), [S0])(
            distribute_tensor(x[:n], mesh, [S0])
        )
        want = np.repeat(x[:n], np.arange(1, n + 1), axis=0)
        assert made.shape == want.shape
        np.testing.assert_array_equal(made.full_tensor(), want)

    ranks(body)


def test_several_mesh_dims_are_mapped_together():
    def body():
        mesh = square()
        x = distribute_tensor(numbers(6, 4), mesh, [S0, S1])
        out = local_map(lambda u: u.sum(axis=1), [S0, Partial()], [[S0, S1]])(x)
        np.testing.assert_allclose(out.full_tensor(), numbers(6, 4).sum(1))
        out = local_map(np.abs, (S0, S1), [(S0, Shard(-1))])(x)
        np.testing.assert_array_equal(out.full_tensor(), np.abs(numbers(6, 4)))

    run_ranks(4, body)


def test_inputs_are_moved_only_if_that_is_wanted(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(numbers(6, 2), mesh, [S0])
        strict = local_map(np.abs, [S1], ([S1],))
        with pytest.raises(ValueError, match="set redistribute_inputs=True"):
            strict(x)
        moving = local_map(np.abs, [S1], ([S1],), redistribute_inputs=True)
        with CommDebugMode() as comm:
            out = moving(x)
        assert comm.get_total_counts() == (mesh.size() > 1)
        np.testing.assert_array_equal(out.full_tensor(), np.abs(numbers(6, 2)))

    ranks(body)


# --- what is refused ------------------------------------------------------------------

WRONG = {
    "placements": (lambda x: local_map(np.abs, [S0], ([S0], [S0]))(x), "length 2"),
    "gradients": (lambda x: local_map(np.abs, [S0], None, ())(x), "in_grad_placements"),
    "none": (lambda x: local_map(np.abs, [S0], (None,))(x), "expects placements"),
    "no grad": (lambda x: local_map(np.abs, [S0], None, (None,))(x), "in grad"),
    "number": (
        lambda x: local_map(np.multiply, [S0], ([S0], [S0]))(x, 2),
        "Non-Tensor input 2",
    ),
    "outputs": (lambda x: local_map(np.abs, ([S0], None))(x), "one PlacementType"),
    "no tensor": (lambda x: local_map(lambda u: 1, [S0])(x), "Non-tensor output"),
    "tensor": (lambda x: local_map(np.abs, None)(x), "expects placements"),
    "dtensor": (lambda x: local_map(lambda u: x, [S0])(x), "output expected"),
    "mesh": (
        lambda x: local_map(np.abs, [S0], device_mesh=other_mesh())(x),
        "device mesh",
    ),
    "meshes": (
        lambda x: local_map(np.add, [S0])(x, elsewhere(x)),
        "mismatched device mesh",
    ),
}


def other_mesh():
    return dtensor.DeviceMesh("cpu", [[0], [1]])


def elsewhere(x):
    return distribute_tensor(np.ones(x.shape), other_mesh(), [S0, R])


@pytest.mark.parametrize("case", WRONG)
def test_wrong_counts_and_kinds_are_assertion_errors_on_every_rank(case):
    call, words = WRONG[case]

    def body():
        x = distribute_tensor(np.ones((4, 2)), line(), [S0])
        with pytest.raises(AssertionError, match=words):
            call(x)
        assert float(x.sum()) == 8

    run_ranks(2, body)


def test_what_one_rank_raises_the_others_raise_too():
    def body():
        mesh = line()
        x = distribute_tensor(np.ones((4, 2)), mesh, [S0])

        def failing(u):
            if mesh.get_local_rank() == 1:
                raise ZeroDivisionError("on rank 1")
            return u

        with pytest.raises(ZeroDivisionError, match="on rank 1"):
            local_map(failing, [S0])(x)
        with pytest.raises(ValueError):
            local_map(lambda u: u[:, mesh.get_local_rank() :], [S0])(x)
        assert float(x.sum()) == 8

    run_ranks(3, body)


def test_the_module_has_the_name_that_torch_gives_it():
    assert func_map.local_map is local_map
    assert DTensor.from_local is not None
