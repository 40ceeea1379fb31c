"""Learning rates follow their closed forms, one after the other and after a restart."""

import copy
import math

import numpy as np
import pytest

from dtensor import tensor
from dtensor.optim import SGD, Adam, lr_scheduler as lrs


def optimizer(lr=1.0, kind=SGD, **options):
    params = [tensor(np.ones(1), requires_grad=True) for _ in range(2)]
    groups = [{"params": params[0]}, {"params": params[1], "lr": lr / 2}]
    return kind(groups, lr, **options)


def rates(make, steps=20, given=None, **options):
    """The first group's learning rates; the second one's are always half as large."""
    target = optimizer(**options)
    scheduler = make(target)
    found = [scheduler.get_last_lr()[0]]
    for k in range(steps):
        target.step()
        scheduler.step(*(() if given is None else (given[k % len(given)],)))
        first, second = scheduler.get_last_lr()
        assert [first, second] == [group["lr"] for group in target.param_groups]
        assert second == pytest.approx(first / 2)
        found.append(first)
    return found


def cosine(k, half, low=0.0):
    return low + (1 - low) * (1 + math.cos(math.pi * k / half)) / 2


CLOSED = {
    "lambda": (lambda o: lrs.LambdaLR(o, lambda k: 1 / (1 + k)), lambda k: 1 / (1 + k)),
    "step": (lambda o: lrs.StepLR(o, 3, 0.5), lambda k: 0.5 ** (k // 3)),
    "multi": (
        lambda o: lrs.MultiStepLR(o, [3, 3, 8], 0.5),
        lambda k: 0.5 ** (2 * (k >= 3) + (k >= 8)),
    ),
    "constant": (lambda o: lrs.ConstantLR(o, 0.25, 6), lambda k: 0.25 if k < 6 else 1),
    "linear": (
        lambda o: lrs.LinearLR(o, 0.25, 0.75, 8),
        lambda k: 0.25 + 0.5 * min(k, 8) / 8,
    ),
    "polynomial": (
        lambda o: lrs.PolynomialLR(o, 10, 0.7),
        lambda k: (1 - min(k, 10) / 10) ** 0.7,
    ),
    "exponential": (lambda o: lrs.ExponentialLR(o, 0.9), lambda k: 0.9**k),
    "cosine": (lambda o: lrs.CosineAnnealingLR(o, 7), lambda k: cosine(k, 7)),
    "restarts": (
        lambda o: lrs.CosineAnnealingWarmRestarts(o, 5),
        lambda k: cosine(k % 5, 5),
    ),
}


STEPWISE = {  # these ignore the names of steps, or know the factor of each only
    "multiplicative": (
        lambda o: lrs.MultiplicativeLR(o, lambda k: 0.9),
        lambda k: 0.9**k,
    ),
    "chained": (
        lambda o: lrs.ChainedScheduler(
            [lrs.ConstantLR(o, 0.1, 5), lrs.ExponentialLR(o, 0.9)]
        ),
        lambda k: 0.9**k * (0.1 if k < 5 else 1),
    ),
}


@pytest.mark.parametrize("case", CLOSED | STEPWISE)
def test_rates_follow_the_closed_form(case):
    make, form = (CLOSED | STEPWISE)[case]
    assert rates(make) == pytest.approx([form(k) for k in range(21)], abs=1e-12)


@pytest.mark.parametrize("case", sorted(CLOSED))
def test_a_step_can_be_named(case):
    make, form = CLOSED[case]
    found = rates(make, 4, [5, 2, 9, 0])
    assert found == pytest.approx([form(k) for k in (0, 5, 2, 9, 0)], abs=1e-12)


@pytest.mark.parametrize("case", sorted(CLOSED | STEPWISE))
def test_state_dict_goes_on_where_it_was(case):
    make, form = (CLOSED | STEPWISE)[case]
    target = optimizer()
    scheduler = make(target)
    for _ in range(4):
        target.step()
        scheduler.step()
    other = optimizer()
    follower = make(other)
    follower.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    other.load_state_dict(copy.deepcopy(target.state_dict()))
    assert "optimizer" not in scheduler.state_dict()
    for k in range(5, 12):
        other.step()
        follower.step()
        assert follower.get_last_lr()[0] == pytest.approx(form(k), abs=1e-12)


def test_restarts_may_grow_longer_and_parts_of_steps_be_named():
    def make(o):
        return lrs.CosineAnnealingWarmRestarts(o, 2, 2, 0.1)

    expected = [cosine(k, 2, 0.1) for k in range(2)]
    expected += [cosine(k, 4, 0.1) for k in range(4)] + [
        cosine(k, 8, 0.1) for k in range(8)
    ]
    found = []
    target = optimizer()
    scheduler = make(target)
    for _ in expected:
        found.append(target.param_groups[0]["lr"])
        target.step()
        scheduler.step()
    assert found == pytest.approx(expected)
    scheduler.step(2.5)
    assert scheduler.get_last_lr()[0] == pytest.approx(cosine(0.5, 4, 0.1))


def test_one_comes_after_the_other():
    def make(o):
        parts = [lrs.LinearLR(o, 0.25, 1, 4), lrs.ExponentialLR(o, 0.5)]
        return lrs.SequentialLR(o, parts, [6])

    expected = [0.25 + 0.75 * min(k, 4) / 4 for k in range(6)]
    expected += [0.5**k for k in range(6)]
    assert rates(make, 11) == pytest.approx(expected)


def test_schedulers_multiply_each_other():
    target = optimizer()
    both = lrs.StepLR(target, 2, 0.5), lrs.ExponentialLR(target, 0.9)
    for k in range(1, 8):
        target.step()
        for scheduler in both:
            scheduler.step()
        assert target.param_groups[0]["lr"] == pytest.approx(0.5 ** (k // 2) * 0.9**k)


@pytest.mark.parametrize("kind, name", [(SGD, "momentum"), (Adam, "betas")])
def test_one_cycle_goes_up_and_down_and_momentum_the_other_way(kind, name):
    target = optimizer(kind=kind, **({"momentum": 0.5} if kind is SGD else {}))
    scheduler = lrs.OneCycleLR(target, [2.0, 1.0], total_steps=11, pct_start=0.5)
    found, momenta = [], []
    for _ in range(10):
        group = target.param_groups[0]
        found.append(group["lr"])
        momenta.append(group[name] if kind is SGD else group[name][0])
        target.step()
        scheduler.step()
    top = int(np.argmax(found))
    assert found[0] == pytest.approx(2 / 25) and found[top] > 1.9
    assert np.all(np.diff(found[: top + 1]) > 0) and np.all(np.diff(found[top:]) < 0)
    assert momenta[0] == pytest.approx(0.95) and min(momenta) < 0.86
    assert int(np.argmin(momenta)) == top
    assert target.param_groups[0]["lr"] == pytest.approx(2 / 25 / 1e4)
    with pytest.raises(ValueError, match="Tried to step 12 times"):
        scheduler.step(), scheduler.step()


def test_three_phases_come_down_to_where_they_began():
    target = optimizer()
    scheduler = lrs.OneCycleLR(
        target,
        [1.0, 0.5],
        epochs=2,
        steps_per_epoch=10,
        three_phase=True,
        anneal_strategy="linear",
        cycle_momentum=False,
    )
    found = []
    for _ in range(19):
        found.append(target.param_groups[0]["lr"])
        target.step()
        scheduler.step()
    assert found[5] == pytest.approx(1.0) and found[10] == pytest.approx(0.04)


def test_a_plateau_makes_the_rate_smaller_after_some_patience():
    def make(o):
        return lrs.ReduceLROnPlateau(
            o, factor=0.5, patience=2, threshold=0.1, cooldown=1, min_lr=[0.2, 0.1]
        )

    measures = [5, 4, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9, 3.9]
    expected = [1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.2]
    assert rates(make, 13, measures) == pytest.approx(expected)
    better = [(k + 1) * 2.0 for k in range(10)]
    assert set(rates(lambda o: lrs.ReduceLROnPlateau(o, "max"), 10, better)) == {1.0}


def test_a_measure_may_be_a_tensor():
    target = optimizer()
    scheduler = lrs.ReduceLROnPlateau(target, patience=0)
    for value in (1.0, 2.0):
        scheduler.step(tensor(np.array(value)))
    assert scheduler.get_last_lr() == pytest.approx([0.1, 0.05])


def test_a_scheduler_before_the_first_step_is_told_of():
    scheduler = lrs.StepLR(optimizer(), 2)
    with pytest.warns(UserWarning, match=r"before `optimizer\.step\(\)`"):
        scheduler.step()


WRONG = [
    (lambda o: lrs.StepLR(3, 1), TypeError, "int is not an Optimizer"),
    (lambda o: lrs.StepLR(o, 1, last_epoch=4), KeyError, "initial_lr"),
    (lambda o: lrs.LambdaLR(o, [abs]), ValueError, "Expected 2 lr_lambdas"),
    (lambda o: lrs.SequentialLR(o, [], []), ValueError, "at least one scheduler"),
    (
        lambda o: lrs.SequentialLR(o, [lrs.StepLR(o, 1)], [1, 2]),
        ValueError,
        "one more than",
    ),
    (
        lambda o: lrs.SequentialLR(o, [lrs.StepLR(optimizer(), 1)], []),
        ValueError,
        "same optimizer",
    ),
    (
        lambda o: lrs.SequentialLR(o, [lrs.ReduceLROnPlateau(o)], []),
        ValueError,
        "does not support",
    ),
    (lambda o: lrs.CosineAnnealingWarmRestarts(o, 0), ValueError, "T_0"),
    (lambda o: lrs.CosineAnnealingWarmRestarts(o, 1, 0), ValueError, "T_mult"),
    (lambda o: lrs.CosineAnnealingWarmRestarts(o, 1).step(-1), ValueError, "epoch"),
    (lambda o: lrs.OneCycleLR(o, 1), ValueError, "You must define"),
    (lambda o: lrs.OneCycleLR(o, 1, -1), ValueError, "integer total_steps"),
    (lambda o: lrs.OneCycleLR(o, [1.0], 9), ValueError, "same length"),
    (lambda o: lrs.OneCycleLR(o, 1, 9, pct_start=2), ValueError, "pct_start"),
    (lambda o: lrs.OneCycleLR(o, 1, 9, anneal_strategy="x"), ValueError, "anneal"),
    (lambda o: lrs.ReduceLROnPlateau(o, "x"), ValueError, "mode x is unknown"),
    (lambda o: lrs.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor"),
    (lambda o: lrs.ReduceLROnPlateau(o, min_lr=[1.0]), ValueError, "min_lrs"),
    (lambda o: lrs.LinearLR(o, 0.0), ValueError, "Starting"),
    (lambda o: lrs.LinearLR(o, 0.5, 2.0), ValueError, "Ending"),
    (lambda o: lrs.ConstantLR(o, 2.0), ValueError, "Constant"),
]


@pytest.mark.parametrize("make, error, words", WRONG)
def test_what_torch_refuses_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make(optimizer())


CYCLES = {  # what PyTorch 2.13 sets: learning rates and momenta of the first steps
    "triangular": [(0.1, 0.9), (0.325, 0.875), (0.55, 0.85), (0.775, 0.825)],
    "triangular2": [(0.1, 0.9), (0.325, 0.875), (0.55, 0.85), (0.775, 0.825)],
    "exp_range": [(0.1, 0.9), (0.3025, 0.8775), (0.4645, 0.8595), (0.592075, 0.845325)],
}


@pytest.mark.parametrize("mode", CYCLES)
def test_cycles_go_up_and_down(mode):
    target = optimizer(momentum=0.5)
    scheduler = lrs.CyclicLR(target, 0.1, [1.0, 2.0], 4, 3, mode, 0.9)
    found = []
    for _ in range(12):
        group = target.param_groups[0]
        found.append((group["lr"], group["momentum"]))
        target.step()
        scheduler.step()
    np.testing.assert_allclose(found[:4], CYCLES[mode])
    top = {"triangular": 1.0, "triangular2": 0.55, "exp_range": 0.1 + 0.9 * 0.9**11}
    assert found[11][0] == pytest.approx(top[mode])  # in the second cycle
    assert target.param_groups[1]["lr"] > target.param_groups[0]["lr"]


def test_a_cycle_may_be_scaled_by_a_function_and_move_a_beta():
    target = optimizer(kind=Adam)
    scheduler = lrs.CyclicLR(
        target, 0.1, 1.0, 2, scale_fn=lambda k: 0.5**k, scale_mode="iterations"
    )
    target.step()
    scheduler.step()
    assert target.param_groups[0]["lr"] == pytest.approx(0.1 + 0.45 * 0.5)
    assert target.param_groups[0]["betas"][0] == pytest.approx(0.9 - 0.05 * 0.5)
    assert scheduler.state_dict()["_scale_fn_custom"] is None
    with pytest.raises(ValueError, match="mode is invalid"):
        lrs.CyclicLR(target, 0.1, 1.0, mode="square")
    with pytest.raises(ValueError, match="max_lr must have the same length"):
        lrs.CyclicLR(target, 0.1, [1.0])


def test_a_chain_takes_schedulers_of_one_optimizer():
    first, second = lrs.ExponentialLR(optimizer(), 0.9), lrs.StepLR(optimizer(), 2)
    with pytest.raises(ValueError, match="at least one scheduler"):
        lrs.ChainedScheduler([])
    with pytest.raises(ValueError, match="same optimizer"):
        lrs.ChainedScheduler([first, second])
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau`"):
        lrs.ChainedScheduler([first, lrs.ReduceLROnPlateau(first.optimizer)])
    with pytest.raises(TypeError, match="index 0 should have `optimizer`"):
        lrs.ChainedScheduler([0.1])
    with pytest.raises(TypeError, match="should be a function, but got float"):
        lrs.MultiplicativeLR(optimizer(), 0.9)
