"""Adafactor and Muon do PyTorch's steps, in any layout."""

import math

import ml_dtypes
import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor, optim, tensor
from dtensor.debug import CommDebugMode

RNG = np.random.default_rng(4)
START = RNG.normal(size=(5, 3))
GRADS = RNG.normal(size=(4, 5, 3))


def stepped(make, place=lambda x: tensor(x), turn=lambda x: x):
    p = place(turn(START)).requires_grad_()
    optimizer = make([p])
    for grad in GRADS:
        p.grad = place(turn(grad))
        optimizer.step()
    return p.detach(), optimizer


def adafactor(lr=1e-2, decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0):
    """The steps of PyTorch 2.13, in NumPy."""
    x, row, column = START.copy(), np.zeros((5, 1)), np.zeros((1, 3))
    least = np.finfo(float).eps if eps[0] is None else eps[0]
    for t, g in enumerate(GRADS, 1):
        alpha = max(eps[1], np.linalg.norm(x) / math.sqrt(15)) * min(lr, t**-0.5)
        x *= 1 - lr * weight_decay
        row += t**decay * ((g * g).mean(1, keepdims=True) - row)
        column += t**decay * ((g * g).mean(0, keepdims=True) - column)
        update = g / np.sqrt(np.maximum(row @ column / row.mean(), least**2))
        clip = max(1.0, np.linalg.norm(update) / (math.sqrt(15) * d))
        x -= alpha / clip * update
    return x


OPTIONS = {"lr": 0.5, "eps": (1e-3, 0.1), "d": 1.2, "weight_decay": 0.1}


def test_adafactor_keeps_a_row_and_a_column_in_any_layout(ranks):
    plain, optimizer = stepped(optim.Adafactor)
    np.testing.assert_allclose(plain, adafactor(), 1e-12)
    (state,) = optimizer.state_dict()["state"].values()
    assert {k: v.shape for k, v in state.items()} == {
        "step": (),
        "row_var": (5, 1),
        "col_var": (1, 3),
    }

    def body():
        for placement in (Shard(0), Shard(1), Replicate()):
            found, _ = stepped(
                lambda p: optim.Adafactor(p, **OPTIONS),
                lambda x, to=placement: distribute_tensor(x, line(), [to]),
            )
            np.testing.assert_allclose(found.full_tensor(), adafactor(**OPTIONS), 1e-10)

    ranks(body)


def test_adafactor_steps_in_bfloat16():
    p = tensor(np.full((2, 2), 0.5, ml_dtypes.bfloat16), requires_grad=True)
    p.grad = tensor(np.array([[1, 1], [2, 2]], ml_dtypes.bfloat16))
    optim.Adafactor([p], lr=0.25).step()
    assert np.array_equal(np.asarray(p.detach(), float), np.full((2, 2), 0.375))


def muon(turn):
    x, kept = turn(START).copy(), 0.0
    for g in map(turn, GRADS):
        kept = kept + 0.05 * (g - kept)
        o = (g + 0.95 * (kept - g)).astype(np.float32)
        o = o.T if (tall := o.shape[0] > o.shape[1]) else o
        o = o / np.linalg.norm(o)
        for _ in range(5):
            gram = o @ o.T
            o = 3.4445 * o + (-4.775 * gram + 2.0315 * gram @ gram) @ o
        o = o.T if tall else o
        x *= 1 - 0.1 * 0.1
        x -= 0.1 * math.sqrt(max(1, x.shape[0] / x.shape[1])) * o
    return x


# The sums of the elements that PyTorch 2.13 computes, with updates in bfloat16.
MUON = {False: -0.284392, True: -0.403554}


@pytest.mark.parametrize("turned", MUON)
def test_muon_orthogonalizes_momentum_in_any_layout(ranks, turned):
    def turn(x):
        return np.ascontiguousarray(x.T) if turned else x

    found, _ = stepped(lambda p: optim.Muon(p, lr=0.1), turn=turn)
    np.testing.assert_allclose(found, muon(turn), 1e-4, 1e-5)
    assert abs(float(np.sum(np.asarray(found))) - MUON[turned]) < 0.02

    def body():
        mesh = line()
        for placement in (Shard(0), Shard(1), Replicate()):
            with CommDebugMode() as mode:
                found, _ = stepped(
                    lambda p: optim.Muon(p, lr=0.1),
                    lambda x, to=placement: distribute_tensor(x, mesh, [to]),
                    turn,
                )
            gathers = mode.get_comm_counts().get("all_gather", 0)
            cut = mesh.size() > 1 and placement.is_shard()
            assert gathers == len(GRADS) * cut
            np.testing.assert_allclose(found.full_tensor(), muon(turn), 1e-4, 1e-5)

    ranks(body)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda p: optim.Muon([tensor(np.ones(3))]), "2D parameters"),
        (lambda p: optim.Muon(p, adjust_lr_fn="none"), "none is not supported"),
        (lambda p: optim.Muon(p, ns_steps=100), "less than 100"),
        (lambda p: optim.Adafactor(p, d=0.5), "Clipping threshold"),
        (lambda p: optim.Adafactor(p, beta2_decay=0.1), "beta2_decay"),
        (lambda p: optim.Adafactor(p, eps=(-1, 0)), "epsilon1"),
    ],
)
def test_settings_out_of_range_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make([tensor(START)])
