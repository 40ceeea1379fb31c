"""What optimizers keep, give back and refuse; hooks; optimizers of one's own."""

import copy

import numpy as np
import pytest
from meshes import line

from dtensor import DTensor, Shard, distribute_tensor, tensor
from dtensor.optim import SGD, Adam, AdamW, Optimizer

S0, S1 = Shard(0), Shard(1)


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def leaf(array):
    return tensor(np.array(array), requires_grad=True)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# --- state ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [SGD, AdamW])
def test_what_state_dict_gives_goes_on_where_it_was(ranks, kind):
    values = numbers(6, 4)
    grads = [numbers(6, 4, seed=k) for k in range(1, 6)]
    options = {"lr": 0.1, **({"momentum": 0.9} if kind is SGD else {"amsgrad": True})}

    def steps(x, optimizer, chosen):
        for g in chosen:
            x.grad = distribute_tensor(g, x.device_mesh, x.placements)
            optimizer.step()

    def body():
        x = distribute_tensor(values, line(), [S0]).requires_grad_(True)
        optimizer = kind([x], **options)
        steps(x, optimizer, grads[:2])
        saved = copy.deepcopy(optimizer.state_dict())
        y = distribute_tensor(whole(x), line(), [S1]).requires_grad_(True)
        other = kind([y], lr=99.0)
        other.load_state_dict(saved)
        assert other.param_groups[0]["lr"] == 0.1
        assert all(v.layout == y.layout for v in other.state[y].values() if v.ndim)
        steps(x, optimizer, grads[2:])
        steps(y, other, grads[2:])
        np.testing.assert_allclose(whole(x), whole(y), 1e-14)

    ranks(body)


def test_state_dict_numbers_parameters_and_keeps_names():
    x, y = leaf([1.0]), leaf([2.0])
    optimizer = Adam([("a", x), ("b", y)], lr=0.5)
    x.grad = tensor(np.ones(1))
    optimizer.step()
    found = optimizer.state_dict()
    assert list(found) == ["state", "param_groups"] and list(found["state"]) == [0]
    assert list(found["state"][0]) == ["step", "exp_avg", "exp_avg_sq"]
    assert found["state"][0]["exp_avg"] is optimizer.state[x]["exp_avg"]
    (group,) = found["param_groups"]
    assert group["params"] == [0, 1] and group["param_names"] == ["a", "b"]
    assert group["betas"] == (0.9, 0.999) and not group["decoupled_weight_decay"]


def test_hooks_are_called_around_steps_and_state_dicts():
    x = leaf([1.0])
    x.grad = tensor(np.ones(1))
    optimizer, told = SGD([x]), []
    handles = [
        optimizer.register_step_pre_hook(lambda o, a, k: told.append("before")),
        optimizer.register_step_post_hook(lambda o, a, k: told.append("after")),
        optimizer.register_state_dict_pre_hook(lambda o: told.append("saving")),
        optimizer.register_state_dict_post_hook(lambda o, s: {**s, "more": 1}),
        optimizer.register_load_state_dict_pre_hook(
            lambda o, s: told.append(s["more"])
        ),
        optimizer.register_load_state_dict_post_hook(lambda o: told.append("loaded")),
    ]
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    assert told == ["before", "after", "saving", 1, "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(told) == 5


def test_an_optimizer_of_ones_own_has_what_it_needs():
    class Signs(Optimizer):
        def __init__(self, params, lr=0.5):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * np.sign(p.grad)

    x = leaf([1.0, -1.0])
    x.grad = tensor(np.array([3.0, -4.0]))
    Signs([x]).step()
    assert np.array_equal(whole(x), [0.5, -0.5])


def test_repr_shows_the_settings_of_groups():
    text = repr(SGD([{"params": leaf([1.0])}, {"params": leaf([1.0]), "lr": 2}]))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "\n\nParameter Group 1\n" in text and "    lr: 2\n" in text
    assert "params" not in text


# --- errors ---------------------------------------------------------------------------


X = leaf([1.0])
OTHER = SGD([{"params": [leaf([1.0])]}, {"params": [leaf([1.0])]}])
WRONG = [
    (lambda: SGD(X), TypeError, "iterable of Tensors or dicts"),
    (lambda: SGD([]), ValueError, "empty parameter list"),
    (lambda: SGD([3]), TypeError, "one of the params is int"),
    (lambda: SGD([{"params": {X}}]), TypeError, "ordered collections"),
    (lambda: SGD([{"params": [X]}, {"params": [X]}]), ValueError, "more than one"),
    (lambda: SGD([X * 2]), ValueError, "non-leaf"),
    (lambda: SGD([("w", X), leaf([1.0])]), ValueError, "with/without names"),
    (lambda: SGD([X], lr=-1), ValueError, "Invalid learning rate: -1"),
    (lambda: SGD([X], momentum=-1), ValueError, "Invalid momentum value: -1"),
    (lambda: SGD([X], nesterov=True), ValueError, "Nesterov momentum requires"),
    (lambda: Adam([X], betas=(1.0, 0.9)), ValueError, "index 0: 1.0"),
    (lambda: Adam([X], eps=-1), ValueError, "Invalid epsilon value: -1"),
    (lambda: AdamW([X], weight_decay=-1), ValueError, "Invalid weight_decay value"),
    (lambda: AdamW([X], foreach=True, fused=True), RuntimeError, "cannot be `True`"),
    (lambda: SGD([X], differentiable=True), NotImplementedError, "differentiable"),
    (lambda: OTHER.add_param_group([X]), TypeError, "must be a dict"),
    (lambda: OTHER.load_state_dict({}), KeyError, "param_groups"),
    (
        lambda: SGD([X]).load_state_dict(OTHER.state_dict()),
        ValueError,
        "different number of parameter groups",
    ),
    (
        lambda: SGD([X, leaf([1.0])]).load_state_dict(SGD([X]).state_dict()),
        ValueError,
        "doesn't match the size",
    ),
]


@pytest.mark.parametrize("act, error, words", WRONG)
def test_what_torch_refuses_is_refused(act, error, words):
    with pytest.raises(error, match=words):
        act()


def test_a_parameter_that_is_there_twice_is_told_of():
    with pytest.warns(UserWarning, match="duplicate parameters"):
        SGD([X, X])
