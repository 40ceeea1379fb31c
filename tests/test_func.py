"""torch.func: what PyTorch 2.13 gives for the same calls."""

import numpy as np
import pytest
from meshes import line, square

import dtensor.torch as torch
from dtensor import DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.torch import func

W = torch.tensor([0.5, 1.25, 2.0])
A = torch.linspace(-1, 1, 12).reshape(4, 3)


def close(got, want):
    if isinstance(want, dict):
        assert set(got) == set(want)
        return all(close(got[key], want[key]) for key in want)
    if isinstance(want, tuple):
        return len(got) == len(want) and all(map(close, got, want))
    return np.shape(got) == np.shape(want) and np.allclose(
        got.detach(), want, 1e-5, 1e-6
    )


def test_gradients_are_functions():
    cube = func.grad(lambda x: (x**3).sum())
    assert close(cube(W), [0.75, 4.6875, 12.0]) and not cube(W).requires_grad
    assert close(func.grad(func.grad(lambda x: x**4))(W[2]), 48.0)
    both = func.grad(lambda x, y: (x * y["a"]).sum(), argnums=(0, 1))
    assert close(both(W, {"a": W * 2}), ([1.0, 2.5, 4.0], {"a": [0.5, 1.25, 2.0]}))
    with_aux = func.grad_and_value(lambda x: ((x**2).sum(), {"k": x * 2}), has_aux=True)
    want = ([1.0, 2.5, 4.0], (5.8125, {"k": [1.0, 2.5, 4.0]}))
    assert close(with_aux(W), want) and not with_aux(W)[1][1]["k"].requires_grad
    assert close(func.grad(lambda x, y: y.sum())(W, W), [0.0, 0.0, 0.0])


def test_a_gradient_is_recorded_if_it_depends_on_what_is():
    outer = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    func.grad(lambda x: (x**3).sum())(outer).sum().backward()
    assert outer.grad.tolist() == [6.0, 12.0, 18.0]
    outer.grad = None
    func.grad(lambda x: (x**2 * outer).sum())(W).sum().backward()  # captured
    assert outer.grad.tolist() == [1.0, 2.5, 4.0]
    with torch.no_grad():
        assert not func.grad(lambda x: (x**3).sum())(outer).requires_grad


@pytest.mark.parametrize(
    "function, options, says",
    [
        (lambda x: x * 2, {}, "scalar Tensor, got tensor with 1 dims"),
        (lambda x: 3.0, {}, "return a Tensor, got <class 'float'>"),
        (lambda x: x.sum(), {"has_aux": True}, "should be a tuple"),
        (lambda x: x.sum(), {"argnums": 2}, "only 1 positional inputs"),
    ],
)
def test_what_has_no_gradient_is_refused(function, options, says):
    with pytest.raises(RuntimeError, match=says):
        func.grad(function, **options)(W)
    with pytest.raises(RuntimeError, match="floating point"):
        func.grad(lambda x: x.sum())(torch.arange(3))


def test_products_with_jacobians_and_jacobians():
    out, products = func.vjp(lambda x, y: {"p": x @ y, "q": x.sum()}, A, W)
    dx, dy = products({"p": torch.ones(4), "q": torch.tensor(2.0)})
    assert close(dx, np.asarray(W) + np.full((4, 3), 2.0)) and close(dy, A.sum(0))
    assert out["q"].shape == () and not out["q"].requires_grad
    value, tangent = func.jvp(lambda x, y: (x * y, x.sum()), (W, W + 1), (W, W * 2))
    assert close(tangent, (W * (W + 1) + W * W * 2, 3.75)) and close(value[1], 3.75)
    for jacobian in (func.jacrev, func.jacfwd):
        assert close(jacobian(lambda x: A @ x**2)(W), A * 2 * W)
    second = func.hessian(lambda x: (x**3).sum())(W)
    assert close(second, np.diag(6 * np.asarray(W)))
    with pytest.raises(RuntimeError, match="expected 2 cotangents, got 1"):
        products({"p": torch.ones(4)})


def test_a_module_is_a_function_of_its_state():
    linear, norm = torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(3)
    weight, bias = torch.ones(2, 3), linear.bias
    given = {"weight": weight}
    assert close(func.functional_call(linear, given, A), A @ weight.T + bias.detach())
    assert linear.weight is not weight
    state = {name: x.clone() for name, x in norm.named_buffers()}
    func.functional_call(norm, state, (A,))
    assert close(state["running_mean"], A.mean(0) / 10)
    assert state["num_batches_tracked"] == 1 and norm.num_batches_tracked == 0
    with pytest.raises(RuntimeError, match="Missing key.*bias"):
        func.functional_call(linear, given, A, strict=True)
    with pytest.raises(ValueError, match="multiple dictionaries"):
        func.functional_call(linear, [given, given], A)


def test_tied_weights_are_replaced_together():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3, False), torch.nn.Linear(3, 3))
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(3))
        model[1].bias.zero_()
    model[1].weight = model[0].weight
    twice = {"0.weight": torch.eye(3) * 2}
    assert close(func.functional_call(model, twice, W), W * 4)
    assert close(func.functional_call(model, twice, W, tie_weights=False), W * 2)
    with pytest.raises(ValueError, match="tied"):
        func.functional_call(model, {**twice, "1.weight": torch.eye(3)}, W)
    assert model[0].weight is model[1].weight and close(model(W), W)


# --- vmap -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, options, args, want",
    [
        (torch.dot, {"in_dims": (0, None)}, (A, W), A @ W),
        (torch.dot, {"in_dims": (1, None)}, (A, torch.ones(4)), A.sum(0)),
        (lambda x: (x, x.sum()), {"out_dims": (1, 0)}, (A,), (A.T, A.sum(1))),
        (lambda x: x * 2, {"in_dims": -1, "out_dims": -1}, (A,), A * 2),
        (
            torch.vmap(torch.mul, (None, 0)),
            {"in_dims": (0, None)},
            (W, W),
            W * W[:, None],
        ),
        (func.grad(lambda x: (x**3).sum()), {}, (A,), 3 * A**2),
        (lambda d, y: d["a"] + y, {"in_dims": ({"a": 0}, None)}, ({"a": A}, 1), A + 1),
        (lambda x: x.softmax(0), {}, (A,), A.softmax(1)),
        (lambda x: x.sum(0), {}, (torch.ones(0, 3),), torch.ones(0)),
        (lambda x: x * 2 if x > 1 else x, {}, (W,), [0.5, 2.5, 4.0]),
    ],
)
def test_a_function_is_applied_to_each_slice(function, options, args, want):
    assert close(torch.vmap(function, **options)(*args), want)


def test_gradients_go_through_and_keywords_are_not_mapped():
    total = func.grad(lambda x: torch.vmap(lambda r: (r**2).sum())(x).sum())
    assert close(total(A), 2 * A)
    assert torch.vmap(lambda x, s=None: x * s)(torch.ones(3), s=W).shape == (3, 3)
    models = [torch.nn.Linear(2, 1) for _ in range(3)]
    parameters, _ = func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 1, 2) and parameters["bias"].requires_grad
    together = torch.vmap(
        lambda p, x: func.functional_call(models[0], p, x), in_dims=(0, None)
    )(parameters, torch.ones(2))
    assert close(together, torch.stack([m(torch.ones(2)) for m in models]).detach())


@pytest.mark.parametrize(
    "options, args, says",
    [
        ({}, (3.0,), "non-Tensor arguments"),
        ({}, (torch.ones(2), torch.ones(3)), r"sizes \[2, 3\]"),
        ({"in_dims": None}, (W,), "expected `in_dims` to be int"),
        ({"in_dims": (0, 0)}, (W,), "structure of `inputs`"),
        ({"in_dims": 3}, (W,), "-1 <= in_dim < 1"),
        ({"in_dims": (None,)}, (W,), "at least one Tensor"),
        ({"out_dims": (0, 0)}, (W,), "structure of `outputs`"),
    ],
)
def test_what_cannot_be_mapped_is_refused(options, args, says):
    with pytest.raises(ValueError, match=says):
        torch.vmap(lambda x, *_: x, **options)(*args)
    with pytest.raises(ValueError, match="must only return Tensors"):
        torch.vmap(lambda x: 3.0)(W)


def test_random_numbers_are_drawn_only_as_it_is_said():
    with pytest.raises(RuntimeError, match="randomness error mode"):
        torch.vmap(lambda x: x + torch.rand(2))(W)
    with pytest.raises(RuntimeError, match="Only allowed values"):
        torch.vmap(torch.sin, randomness="none")
    same = torch.vmap(lambda x: torch.rand(2), randomness="same")(W)
    other = torch.vmap(lambda x: torch.rand(2), randomness="different")(W)
    assert (same == same[0]).all() and not (other == other[0]).all()


ROWS = np.arange(15.0).reshape(5, 3)


def test_a_batch_that_is_cut_stays_cut_and_sends_nothing(ranks):
    def body():
        mesh = line()
        x = distribute_tensor(torch.tensor(ROWS), mesh, [Shard(0)])
        w = distribute_tensor(torch.tensor(ROWS[1]), mesh, [Replicate()])
        with CommDebugMode() as mode:
            dots = torch.vmap(torch.dot, in_dims=(0, None))(x, w)
        assert isinstance(dots, DTensor) and dots.placements == (Shard(0),)
        assert mode.get_total_counts() == 0
        np.testing.assert_allclose(dots.full_tensor(), ROWS @ ROWS[1])
        turned = torch.vmap(lambda row: row * 2, out_dims=1)(x)
        assert turned.placements == (Shard(1),) and turned.shape == (3, 5)
        np.testing.assert_allclose(turned.full_tensor(), 2 * ROWS.T)
        x.requires_grad_(), w.requires_grad_()
        torch.vmap(torch.dot, in_dims=(0, None))(x, w).sum().backward()
        np.testing.assert_allclose(w.grad.full_tensor(), ROWS.sum(0))
        np.testing.assert_allclose(x.grad.full_tensor(), np.tile(ROWS[1], (5, 1)))

    ranks(body)


def test_other_layouts_are_sliced_whole(ranks):
    def body():
        mesh = square()
        for placements in ([Shard(1), Replicate()], [Shard(1), Shard(0)]):
            x = distribute_tensor(torch.tensor(ROWS), mesh, placements)
            got = torch.vmap(lambda row: (row**2).sum())(x)
            np.testing.assert_allclose(got.full_tensor(), (ROWS**2).sum(1))

    ranks(body)


def test_a_slice_that_fails_on_one_rank_fails_on_all(ranks):
    def body():
        x = distribute_tensor(torch.tensor(ROWS), line(), [Shard(0)])

        def picky(row):
            if row[0] > 11:  # the last one
                raise KeyError("a row")
            return row

        with pytest.raises(KeyError, match="a row"):
            torch.vmap(picky)(x)

    ranks(body)
