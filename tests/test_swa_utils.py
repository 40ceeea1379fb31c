"""Averages of weights are PyTorch's, of parts where they are."""

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor, tensor
from dtensor.debug import CommDebugMode
from dtensor.nn import BatchNorm1d, Linear, Parameter, Sequential
from dtensor.optim import SGD, swa_utils

AVERAGES = {
    "equal": ({}, lambda xs: np.mean(xs, axis=0)),
    "one by one": (
        {"avg_fn": swa_utils.get_ema_avg_fn(0.7)},
        lambda xs: 0.7 * (0.7 * xs[0] + 0.3 * xs[1]) + 0.3 * xs[2],
    ),
    "lists": (
        {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.7)},
        lambda xs: 0.7 * (0.7 * xs[0] + 0.3 * xs[1]) + 0.3 * xs[2],
    ),
    "equal lists": (
        {"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()},
        lambda xs: np.mean(xs, axis=0),
    ),
}


@pytest.mark.parametrize("case", AVERAGES)
def test_parts_are_averaged_where_they_are(case, ranks):
    options, expected = AVERAGES[case]
    rng = np.random.default_rng(2)
    values = rng.standard_normal((3, 5, 2))

    def body():
        for placement in (Shard(0), Replicate()):
            parts = [distribute_tensor(x, line(), [placement]) for x in values]
            model = Linear(2, 5, bias=False)
            model.weight = Parameter(parts[0])
            averaged = swa_utils.AveragedModel(model, **options)
            with CommDebugMode() as comm:
                for part in parts:
                    model.weight = Parameter(part)
                    averaged.update_parameters(model)
            assert comm.get_total_counts() == 0
            found = averaged.module.weight.detach().full_tensor()
            np.testing.assert_allclose(found, expected(values), rtol=1e-12)
            assert int(averaged.n_averaged) == 3

    ranks(body)


def test_buffers_are_copied_or_averaged():
    model = Sequential(Linear(2, 3), BatchNorm1d(3))
    copied = swa_utils.AveragedModel(model)
    averaged = swa_utils.AveragedModel(model, use_buffers=True)
    for mean in (1.0, 3.0):
        model[1].running_mean[...] = mean
        copied.update_parameters(model)
        averaged.update_parameters(model)
    np.testing.assert_array_equal(copied.module[1].running_mean, [3.0] * 3)
    np.testing.assert_array_equal(averaged.module[1].running_mean, [2.0] * 3)
    assert list(copied.state_dict()) == [
        "n_averaged",
        *(f"module.{name}" for name in model.state_dict()),
    ]
    with pytest.raises(AssertionError, match="Only one of"):
        swa_utils.AveragedModel(
            model,
            avg_fn=swa_utils.get_swa_avg_fn(),
            multi_avg_fn=swa_utils.get_swa_multi_avg_fn(),
        )


def test_running_averages_are_computed_anew():
    rng = np.random.default_rng(4)
    batches = rng.standard_normal((4, 6, 3)).astype("float32")
    model = Sequential(BatchNorm1d(3, momentum=0.2)).eval()
    swa_utils.update_bn(((tensor(x), 0) for x in batches), model)
    np.testing.assert_allclose(
        model[0].running_mean, batches.mean((0, 1)), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        model[0].running_var, batches.var(1, ddof=1).mean(0), rtol=1e-5
    )
    assert model[0].momentum == 0.2
    assert not model.training
    swa_utils.update_bn([], Linear(1, 1))


@pytest.mark.parametrize(
    ("strategy", "rates"),
    [  # of PyTorch 2.13
        ("cos", [1.0, 0.976751845, 0.909283072, 0.804197995, 0.671783072, 0.525]),
        ("linear", [1.0, 0.905, 0.81, 0.715, 0.62, 0.525]),
    ],
)
def test_rates_come_to_a_constant(strategy, rates):
    target = SGD([tensor([1.0], requires_grad=True)], lr=1.0)
    scheduler = swa_utils.SWALR(target, 0.05, anneal_strategy=strategy)
    found = []
    for _ in range(15):
        found.append(target.param_groups[0]["lr"])
        target.step()
        scheduler.step()
    np.testing.assert_allclose(found[:6], rates)
    np.testing.assert_allclose(found[10:], [0.05] * 5)


def test_bad_settings_are_refused():
    target = SGD([tensor([1.0], requires_grad=True)], lr=1.0)
    with pytest.raises(ValueError, match="anneal_strategy must be one of"):
        swa_utils.SWALR(target, 0.05, anneal_strategy="square")
    with pytest.raises(ValueError, match="anneal_epochs must be equal or greater"):
        swa_utils.SWALR(target, 0.05, -1)
    with pytest.raises(ValueError, match="Invalid decay value 2"):
        swa_utils.get_ema_avg_fn(2)
