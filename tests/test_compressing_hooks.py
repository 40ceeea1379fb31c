"""Hooks that send less of gradients, and parameters that are averaged now and then."""

import pickle

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.distributed as dist
from dtensor.debug import CommDebugMode
from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    post_localSGD_hook as local,
    powerSGD_hook as power,
    quantization_hooks as quantization,
    register_ddp_comm_hook,
)
from dtensor.torch.distributed.algorithms.model_averaging import averagers, utils
from dtensor.torch.distributed.optim import PostLocalSGDOptimizer
from dtensor.torch.nn.parallel import DistributedDataParallel

X = np.random.default_rng(3).standard_normal((12, 20)).astype("f")


def net():
    torch.manual_seed(0)
    last = torch.nn.Linear(16, 2)
    return torch.nn.Sequential(torch.nn.Linear(20, 16), torch.nn.Tanh(), last)


def mine():
    return torch.from_numpy(X).chunk(line().size())[line().get_rank()]


def gradients(model, rows):
    model.zero_grad()
    model(rows).square().mean().backward()
    return [p.grad.numpy().copy() for p in model.parameters()]


WHOLE = gradients(net(), torch.from_numpy(X))
HOOKS = [power.powerSGD_hook, power.batched_powerSGD_hook]


def compressed(hook, state, steps):
    """The gradients of some steps, and how many all_reduces the last one takes."""
    model = DistributedDataParallel(net())
    model.register_comm_hook(state, hook)
    found = [gradients(model, mine()) for _ in range(steps - 1)]
    with CommDebugMode() as mode:
        found.append(gradients(model, mine()))
    return found, mode.get_comm_counts().get("all_reduce", 0)


@pytest.mark.parametrize("hook", HOOKS)
def test_nothing_is_lost_with_as_many_columns_as_there_are(ranks, hook):
    def body():
        state = power.PowerSGDState(
            None,
            matrix_approximation_rank=20,
            start_powerSGD_iter=2,
            min_compression_rate=0,
        )
        for found in compressed(hook, state, 4)[0]:
            for x, y in zip(found, WHOLE, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5)

    ranks(body)


@pytest.mark.parametrize("epsilon", [0, 1e-9])
@pytest.mark.parametrize("unit", [0, 1j])
def test_columns_are_orthonormal_and_span_the_same(epsilon, unit):
    real, imag = np.random.default_rng(1).standard_normal((2, 9, 4))
    matrix = real + unit * imag if unit else real
    found = power._orthogonal(matrix, epsilon)
    across = found.conj().T
    np.testing.assert_allclose(across @ found, np.eye(4), atol=1e-7)
    np.testing.assert_allclose(found @ (across @ matrix), matrix, atol=1e-7)


def complex_bucket():
    grad = torch.from_numpy((X[:, :8] + 1j * X[:, 8:16]).astype("F"))
    grad = grad * (line().get_rank() + 1)
    return GradBucket(0, 1, [grad], [grad])


def test_complex_gradients(ranks):
    def body():
        state = power.PowerSGDState(None, 8, 2, 0)
        for _ in range(3):
            found = power.powerSGD_hook(state, complex_bucket()).wait()
        n, own = line().size(), complex_bucket().buffer() / (line().get_rank() + 1)
        np.testing.assert_allclose(found, own * ((n + 1) / 2), rtol=1e-3, atol=1e-4)
        with pytest.raises(TypeError, match="complex gradients"):
            quantization.quantization_pertensor_hook(None, complex_bucket())

    ranks(body)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("warm", [True, False])
def test_what_is_lost_comes_later(ranks, hook, warm):
    steps = 60

    def body():
        state = power.PowerSGDState(line(), start_powerSGD_iter=2, warm_start=warm)
        found, count = compressed(hook, state, steps)
        assert count == ({"powerSGD_hook": 3}.get(hook.__name__, 2)) * (
            line().size() > 1
        )
        first = [np.abs(x - y).max() for x, y in zip(found[2], WHOLE, strict=True)]
        assert max(first) > 1e-3  # one column is not all
        means = [np.mean(xs, axis=0) for xs in zip(*found, strict=True)]
        for x, y in zip(means, WHOLE, strict=True):
            np.testing.assert_allclose(x, y, atol=0.2 * np.abs(y).max())
        rate, before, after = state.compression_stats()
        assert rate == before / after > 2 and state.iter == steps
        again = pickle.loads(pickle.dumps(state))
        assert again.process_group is None and again.iter == steps

    ranks(body)


def test_small_gradients_are_sent_as_they_are(ranks):
    def body():
        state = power.PowerSGDState(None, 5, start_powerSGD_iter=2)
        found, count = compressed(power.powerSGD_hook, state, 3)
        assert count == (line().size() > 1)
        for x, y in zip(found[-1], WHOLE, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)

    ranks(body)


def test_what_is_kept_needs_two_steps_before():
    with pytest.raises(ValueError, match="Expect `start_powerSGD_iter` > 1"):
        power.PowerSGDState(None, start_powerSGD_iter=1)
    power.PowerSGDState(None, 1, 0, use_error_feedback=False, warm_start=False)


QUANTIZATION = [
    quantization.quantization_pertensor_hook,
    quantization.quantization_perchannel_hook,
]


@pytest.mark.parametrize("hook", QUANTIZATION)
def test_bytes_are_as_near_as_their_steps(ranks, hook):
    def body():
        (found,), _ = compressed(hook, None, 1)
        own = np.concatenate([x.ravel() for x in gradients(net(), mine())])
        step = (max(own.max(), 0) - min(own.min(), 0)) / 255
        step = max(dist_all(float(step)))
        for x, y in zip(found, WHOLE, strict=True):
            np.testing.assert_allclose(x, y, atol=step)

    ranks(body)


def dist_all(number):
    found = [np.zeros(1) for _ in range(line().size())]
    dist.all_gather(found, torch.tensor([number], dtype=torch.float64))
    return [float(x[0]) for x in found]


def test_hooks_by_name(ranks):
    def body():
        for kind in DDPCommHookType:
            model = DistributedDataParallel(net())
            register_ddp_comm_hook(kind, model)
            assert len(gradients(model, mine())) == 4

    ranks(body)


@pytest.mark.mpi(2)
def test_gradients_are_averaged_by_subgroups_later():
    for still in (True, False):
        alone = dist.new_subgroups(1)[0]
        state = local.PostLocalSGDState(None, alone, 2, still)
        found, count = compressed(local.post_localSGD_hook, state, 3)
        own = gradients(net(), mine())
        for first, last, y, one in zip(found[1], found[2], WHOLE, own, strict=True):
            np.testing.assert_allclose(first, y, rtol=1e-4, atol=1e-6)
            np.testing.assert_array_equal(last, one)
        assert count == 0


@pytest.mark.mpi(2)
def test_parameters_are_averaged_after_some_steps():
    model = net()
    averager = averagers.PeriodicModelAverager(period=2, warmup_steps=1)
    optimizer = PostLocalSGDOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.1), averager
    )
    spread = []
    for _ in range(4):
        optimizer.zero_grad()
        model(mine()).square().mean().backward()
        optimizer.step()
        spread.append(
            max(dist_all(float(model[0].weight.sum())))
            - min(dist_all(float(model[0].weight.sum())))
        )
    alone = line().size() == 1
    assert [x < 1e-6 for x in spread] == [alone, True, alone, True]
    saved = optimizer.state_dict()
    assert saved["step"] == averager.step == 4
    again = PostLocalSGDOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.3),
        averagers.PeriodicModelAverager(2),
    )
    again.load_state_dict(saved)
    assert again.averager.step == 4 and again.param_groups[0]["lr"] == 0.1
    with pytest.warns(UserWarning, match="does not contain a step counter"):
        again.load_state_dict(optimizer.optim.state_dict())
    calls = []
    again.register_step_post_hook(lambda *given: calls.append(given))
    schedule = torch.optim.lr_scheduler.StepLR(again, 1, 0.5)
    again.step()
    schedule.step()
    assert len(calls) == 1 and optimizer.param_groups[0]["lr"] == 0.1
    assert again.optim.param_groups[0]["lr"] == 0.05


def test_which_parameters_are_averaged():
    model = net()
    assert utils.get_params_to_average(model.parameters()) == []
    gradients(model, torch.from_numpy(X))
    groups = torch.optim.SGD(model.parameters(), lr=1.0).param_groups
    assert len(utils.get_params_to_average(groups)) == 4
    for wrong in ({"period": 0}, {"period": 1, "warmup_steps": -1}):
        with pytest.raises(ValueError, match="Arg"):
            averagers.PeriodicModelAverager(**wrong)
    with pytest.warns(UserWarning, match="When period is 1"):
        averagers.PeriodicModelAverager(1)
