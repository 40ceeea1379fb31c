"""L-BFGS goes PyTorch's way, wherever the parameters are."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch
from dtensor import Replicate, Shard, distribute_tensor, optim, tensor
from dtensor.nn import Linear
from dtensor.parallel import ColwiseParallel, parallelize_module

SEARCH = {"line_search_fn": "strong_wolfe"}
# What PyTorch 2.13 computes: the losses of the steps, the evaluations and iterations.
CASES = [
    ({"lr": 1e-3}, [27.7, 26.8579458496, 26.1625446554, 25.4784286036], 80, 80),
    (SEARCH, [27.7, 0.8648058845, 0.0941971302, 0.0941971302], 49, 40),
    (
        {**SEARCH, "history_size": 3, "max_iter": 7},
        [27.7, 5.6588012627, 3.4345271835, 0.5760400043],
        32,
        21,
    ),
    ({**SEARCH, "lr": 5.0}, [27.7, 0.7016981937, 0.0947106561, 0.0941971299], 61, 32),
]
START = np.array([-1.2, 1.0]), np.arange(3.0)


def valley(x, y):
    """Rosenbrock's function, and a bowl beside it."""
    bend = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    return bend + (y * y).sum() * 0.5 + (y[0] - x[1]) ** 4


def descend(settings, x, y, steps=4):
    optimizer = optim.LBFGS([x, y], **settings)

    def closure():
        optimizer.zero_grad()
        loss = valley(x, y)
        loss.backward()
        return loss

    losses = [float(optimizer.step(closure)) for _ in range(steps)]
    return losses, optimizer, closure


@pytest.mark.parametrize(("settings", "losses", "evaluations", "iterations"), CASES)
def test_steps_are_those_of_pytorch(settings, losses, evaluations, iterations):
    x, y = (tensor(x, requires_grad=True) for x in START)
    found, optimizer, _ = descend(settings, x, y)
    state = optimizer.state[x]
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    assert (state["func_evals"], state["n_iter"]) == (evaluations, iterations)


def test_parameters_may_be_in_parts(ranks):
    def body():
        mesh = line()
        for placement in (Shard(0), Replicate()):
            for settings, losses, *counts in CASES:
                leaves = [
                    distribute_tensor(x, mesh, [placement]).requires_grad_()
                    for x in START
                ]
                found, optimizer, _ = descend(settings, *leaves)
                state = optimizer.state[leaves[0]]
                np.testing.assert_allclose(found, losses, rtol=1e-7)
                assert [state["func_evals"], state["n_iter"]] == counts
                assert all(x.placements == leaves[0].placements for x in state["d"])

    ranks(body)


def test_complex_parameters_are_pairs():
    target = np.array([1 + 2j, -3j])
    x = tensor(np.zeros(2, "c16"), requires_grad=True)
    optimizer = optim.LBFGS([x], **SEARCH)

    def closure():
        optimizer.zero_grad()
        difference = x - target
        loss = (difference * difference.conj()).real.sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(np.asarray(x.detach()), target, atol=1e-7)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_state_goes_on_where_it_was(case):
    settings, losses, *counts = case
    leaves = [tensor(x, requires_grad=True) for x in START]
    found, optimizer, closure = descend(settings, *leaves, steps=2)
    follower = optim.LBFGS(leaves, **settings)
    follower.load_state_dict(optimizer.state_dict())
    found += [float(follower.step(closure)) for _ in range(2)]
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    state = follower.state[leaves[0]]
    assert [state["func_evals"], state["n_iter"]] == counts


def test_an_error_in_the_search_leaves_parameters_where_they_were():
    x = tensor(START[0], requires_grad=True)
    y = tensor(START[1], requires_grad=True)
    optimizer = optim.LBFGS([x, y], **SEARCH)
    calls = []

    def closure():
        calls.append(0)
        if len(calls) == 3:
            raise KeyError("batch")
        optimizer.zero_grad()
        loss = valley(x, y)
        loss.backward()
        return loss

    with pytest.raises(KeyError, match="batch"):
        optimizer.step(closure)
    np.testing.assert_array_equal(np.asarray(x.detach()), START[0])
    np.testing.assert_array_equal(np.asarray(y.detach()), START[1])


def test_a_tensor_parallel_layer_is_fitted(ranks):
    rng = np.random.default_rng(3)
    data, wanted = rng.standard_normal((20, 3)), rng.standard_normal((20, 4))

    def body():
        model = Linear(3, 4, dtype="float64")
        parallelize_module(model, line(), ColwiseParallel(output_layouts=Replicate()))
        # by default a loss that changes by 1e-9 ends it: 1e-6 away from some starts
        search = SEARCH | {"tolerance_change": 1e-15}
        optimizer = optim.LBFGS(model.parameters(), **search)

        def closure():
            optimizer.zero_grad()
            loss = ((model(tensor(data)) - wanted) ** 2).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        columns = np.column_stack([data, np.ones(20)])
        best = np.linalg.lstsq(columns, wanted, rcond=None)[0]
        np.testing.assert_allclose(
            model.weight.detach().full_tensor(), best[:3].T, atol=1e-6
        )
        np.testing.assert_allclose(
            model.bias.detach().full_tensor(), best[3], atol=1e-6
        )

    ranks(body)


def test_bad_use_is_refused():
    x = tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="parameter groups"):
        optim.LBFGS([{"params": [x]}, {"params": [tensor([1.0], requires_grad=True)]}])
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optim.LBFGS([x], line_search_fn="armijo")
    with pytest.raises(TypeError, match="closure"):
        optim.LBFGS([x]).step()


@pytest.mark.parametrize("dialect", [tensor, dtensor.torch.tensor])
def test_parameters_may_be_empty(dialect):
    x, y = (
        dialect(START[0]).requires_grad_(),
        dialect(np.zeros((0, 3))).requires_grad_(),
    )
    optimizer = optim.LBFGS([y, x], **SEARCH)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum() + (y * y).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    np.testing.assert_allclose(np.asarray(x.detach()), 0, atol=1e-6)
