"""Optimizers follow their formulas on each rank's parts, and send nothing."""

import numpy as np
import pytest
from meshes import line, square

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
from dtensor.optim import SGD, Adam, AdamW

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def leaf(array):
    return tensor(np.array(array), requires_grad=True)


def numbers(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def beside(p, array):
    """An array as a gradient of p."""
    if isinstance(p, DTensor):
        return distribute_tensor(array, p.device_mesh, p.placements)
    return tensor(array)


# --- the formulas, one number after the other -----------------------------------------


def sgd(x, grads, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, sign=1):
    velocity = None
    for g in grads:
        g = sign * g + weight_decay * x
        if momentum:
            velocity = (
                g if velocity is None else momentum * velocity + (1 - dampening) * g
            )
            g = g + momentum * velocity if nesterov else velocity
        x = x - lr * g
    return x


def adam(
    x, grads, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0, apart=0, top=False, sign=1
):
    mean = square = peak = np.zeros_like(x)
    for step, g in enumerate(grads, 1):
        x = x - lr * apart * x
        g = sign * g + decay * x
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g * g
        peak = np.maximum(peak, square) if top else square
        root = np.sqrt(peak / (1 - betas[1] ** step))
        x = x - lr / (1 - betas[0] ** step) * mean / (root + eps)
    return x


CASES = {
    "sgd": (SGD, {"lr": 0.1}, lambda x, g: sgd(x, g, 0.1)),
    "momentum": (
        SGD,
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1},
        lambda x, g: sgd(x, g, 0.1, 0.9, 0.2, 0.1),
    ),
    "nesterov": (
        SGD,
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True},
        lambda x, g: sgd(x, g, 0.1, 0.9, nesterov=True, sign=-1),
    ),
    "adam": (Adam, {}, adam),
    "adam with decay": (
        Adam,
        {"lr": 0.1, "weight_decay": 0.2, "betas": (0.5, 0.9), "eps": 1e-3},
        lambda x, g: adam(x, g, 0.1, (0.5, 0.9), 1e-3, 0.2),
    ),
    "amsgrad": (
        Adam,
        {"lr": 0.1, "amsgrad": True, "maximize": True},
        lambda x, g: adam(x, g, 0.1, top=True, sign=-1),
    ),
    "adamw": (AdamW, {"lr": 0.1}, lambda x, g: adam(x, g, 0.1, apart=0.01)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_steps_follow_the_formula(case, dtype):
    kind, options, formula = CASES[case]
    x = leaf(numbers(3, 5, dtype=dtype))
    optimizer = kind([x], **options)
    grads = [numbers(3, 5, seed=k, dtype=dtype) for k in range(1, 7)]
    if dtype == "float16" and kind is not SGD:
        pytest.skip("the eps of Adam is 0 in float16")
    expected = formula(whole(x).astype("d"), [g.astype("d") for g in grads])
    for g in grads:
        x.grad = tensor(g)
        optimizer.step()
    bound = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    assert x.dtype == dtype
    np.testing.assert_allclose(whole(x), expected, bound, bound)


@pytest.mark.parametrize("case", CASES)
def test_arrays_with_gaps_and_other_orders_get_the_same(case):
    kind, options, _ = CASES[case]
    values, g = numbers(4, 6), numbers(4, 6, seed=1)
    views = [
        dtensor.as_tensor(np.array(values)),
        dtensor.as_tensor(np.array(values.T).T),
        dtensor.as_tensor(np.repeat(values, 2, axis=1)[:, ::2]),
    ]
    for x in views:
        x.requires_grad_(True)
    optimizer = kind(views, **options)
    for _ in range(3):
        for x, grad in zip(views, (np.array(g.T).T, g, g), strict=True):
            x.grad = dtensor.as_tensor(grad)
        optimizer.step()
    for x in views[1:]:
        np.testing.assert_allclose(whole(x), whole(views[0]), 1e-14)


def test_the_parts_of_complex_numbers_have_their_own_squares():
    x = leaf(numbers(5) + 1j * numbers(5, seed=1))
    parts = [leaf(whole(x).real), leaf(whole(x).imag)]
    for optimizer, params in ((Adam([x], 0.1), [x]), (Adam(parts, 0.1), parts)):
        for k in range(3):
            for p, unit in zip(params, (1, -2), strict=False):
                g = numbers(5, seed=k + 2)
                p.grad = tensor(g - 2j * g if p is x else unit * g)
            optimizer.step()
    np.testing.assert_allclose(whole(x), whole(parts[0]) + 1j * whole(parts[1]))


# --- layouts --------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_parameters_on_several_meshes_are_stepped_without_a_message(ranks, case):
    kind, options, formula = CASES[case]
    values = numbers(6, 5)
    grads = [numbers(6, 5, seed=k) for k in range(1, 4)]

    def body():
        places = [(line(), [S0]), (square(), [R, S1]), (line(), [R])]
        params = [
            distribute_tensor(values, *where).requires_grad_(True) for where in places
        ]
        params.append(leaf(values))
        optimizer = kind(params, **options)
        layouts = [getattr(p, "layout", None) for p in params]
        for g in grads:
            for p in params:
                p.grad = beside(p, g)
            with strict(), CommDebugMode() as comm:
                optimizer.step()
            assert comm.get_total_counts() == 0
        assert [getattr(p, "layout", None) for p in params] == layouts
        for p in params:
            np.testing.assert_allclose(whole(p), formula(values, grads), 1e-12, 1e-12)
        state = optimizer.state[params[0]]
        kept = state.get("exp_avg", state.get("momentum_buffer"))
        assert kept is None or kept.layout == params[0].layout

    ranks(body)


def test_a_gradient_in_another_layout_is_moved_first(ranks):
    values, g = numbers(6, 4), numbers(6, 4, seed=1)

    def body():
        mesh = line()
        x = distribute_tensor(values, mesh, [S0]).requires_grad_(True)
        part = g if mesh.get_local_rank() == 0 else 0 * g
        x.grad = DTensor.from_local(part, mesh, [Partial()])
        y = distribute_tensor(values, mesh, [R]).requires_grad_(True)
        y.grad = distribute_tensor(g, mesh, [S1])
        SGD([x, y], lr=0.5).step()
        for p in (x, y):
            np.testing.assert_allclose(whole(p), values - 0.5 * g, 1e-12)

    ranks(body)


def test_training_on_parts_is_training_on_one_process(ranks):
    w, x = numbers(5, 6), numbers(8, 6, seed=1)

    def losses(params, batch, optimizer):
        found = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = ((batch @ params[0].T) ** 2).mean()
            loss.backward()
            optimizer.step()
            found.append(float(loss))
        return found

    alone = [leaf(w)]
    expected = losses(alone, tensor(x), AdamW(alone, lr=0.05, amsgrad=True))

    def body():
        params = [distribute_tensor(w, line(), [S0]).requires_grad_(True)]
        batch = distribute_tensor(x, line(), [R])
        found = losses(params, batch, AdamW(params, lr=0.05, amsgrad=True))
        np.testing.assert_allclose(found, expected, 1e-10)

    ranks(body)


# --- the face -------------------------------------------------------------------------


def test_settings_of_groups_go_before_the_defaults():
    x, y, z = leaf([1.0]), leaf([1.0]), leaf([1.0])
    optimizer = SGD([{"params": [x]}, {"params": y, "lr": 0.5}], lr=0.25)
    optimizer.add_param_group({"params": [z], "lr": 1.0})
    for p in (x, y, z):
        p.grad = tensor(np.ones(1))
    optimizer.step()
    assert [float(p) for p in (x, y, z)] == [0.75, 0.5, 0.0]
    assert [group["momentum"] for group in optimizer.param_groups] == [0, 0, 0]
    assert optimizer.defaults["lr"] == 0.25


def test_parameters_without_a_gradient_stay_as_they_are():
    x, y = leaf([1.0]), leaf([1.0])
    optimizer = AdamW([x, y])
    x.grad = tensor(np.ones(1))
    optimizer.step()
    assert float(y) == 1.0 and y not in optimizer.state
    assert float(optimizer.state[x]["step"]) == 1.0


def test_zero_grad_forgets_or_clears():
    x = leaf([1.0, 2.0])
    optimizer = SGD([x])
    x.grad = tensor(np.ones(2))
    optimizer.zero_grad(set_to_none=False)
    assert np.array_equal(np.asarray(x.grad), [0, 0])
    optimizer.zero_grad()
    assert x.grad is None


def test_a_closure_computes_the_loss_again_and_records():
    x = leaf([3.0])

    def closure():
        x.grad = None
        loss = (x * x).sum()
        loss.backward()
        return loss

    for kind in (SGD, Adam, AdamW):
        before = float(x)
        loss = kind([x], lr=0.1).step(closure)
        assert float(loss) == before**2 and float(x) < before


def test_a_step_is_not_recorded_and_counts_as_a_write():
    x = leaf([3.0])
    y = x * x
    x.grad = tensor(np.ones(1))
    SGD([x], lr=0.5).step()
    assert x.is_leaf and x.grad_fn is None and float(x) == 2.5
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("kind", [SGD, AdamW])
def test_parameters_without_data_are_stepped_as_well(kind):
    p = dtensor.nn.Linear(10**5, 10**5, bias=False, device="meta").weight
    optimizer = kind([p], lr=0.1, **({"momentum": 0.9} if kind is SGD else {}))
    p.grad = p.detach()
    optimizer.step()
    optimizer.step()
    kept = [x for name, x in optimizer.state[p].items() if name != "step"]
    assert kept and all(x.device == "meta" and x.shape == p.shape for x in kept)
