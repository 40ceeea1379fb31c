"""Optimizers that adapt each element, ASGD and Rprop do PyTorch's steps."""

import json
import subprocess

import numpy as np
import optimizers
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor, optim, tensor
from dtensor.debug import CommDebugMode

# What PyTorch 2.13 computes: the sum of the parameter's elements after all steps.
SUMS = [
    *(
        1.9302858142,
        9.0427131078,
        0.3923091901,
        0.1077073801,
    ),
    *(
        0.2991613343,
        0.2704701629,
        0.2803823138,
        0.1721923354,
    ),
    *(
        0.268360033,
        2.4192190107,
        2.6251707777,
        2.7483184999,
    ),
    *(
        0.2480097142,
        2.3054248831,
        -1.6674146743,
        0.6407003406,
    ),
    *(-0.7492762994,),
]


def alone(case, dtype="float64"):
    p = optimizers.run(
        optim,
        *case,
        lambda x: tensor(x.astype(dtype), requires_grad=True),
        lambda _, g: tensor(g.astype(dtype)),
    )
    return np.asarray(p.detach())


@pytest.mark.parametrize("k", range(len(optimizers.CASES)))
def test_steps_are_those_of_pytorch(k):
    assert abs(alone(optimizers.CASES[k]).sum() - SUMS[k]) < 1e-7


@pytest.mark.validate
def test_all_elements_are_those_of_pytorch(torch_python):
    command = [torch_python, optimizers.__file__]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True)
    for case, expected in zip(optimizers.CASES, json.loads(done.stdout), strict=True):
        np.testing.assert_allclose(alone(case), expected, rtol=1e-7)


@pytest.mark.parametrize("case", optimizers.CASES, ids=str)
def test_parts_are_updated_alone_and_nothing_is_sent(case, ranks):
    def body():
        mesh = line()
        for placement in (Shard(0), Shard(1), Replicate()):
            place = [placement]
            start, grads = optimizers.arrays()
            p = distribute_tensor(start, mesh, place).requires_grad_()
            parts = [distribute_tensor(g, mesh, place) for g in grads]
            optimizer = getattr(optim, case[0])([p], **case[1])
            with CommDebugMode() as comm:
                for part in parts:
                    p.grad = part
                    optimizer.step()
            assert comm.get_total_counts() == 0
            np.testing.assert_array_equal(p.detach().full_tensor(), alone(case))

    ranks(body)


@pytest.mark.parametrize("case", optimizers.CASES[::2], ids=str)
def test_state_goes_on_where_it_was(case):
    name, settings = case
    start, grads = optimizers.arrays()
    p = tensor(start, requires_grad=True)
    optimizer = getattr(optim, name)([p], **settings)
    for k, g in enumerate(grads):
        if k == 4:
            state = optimizer.state_dict()
            optimizer = getattr(optim, name)([p], **settings)
            optimizer.load_state_dict(state)
        p.grad = tensor(g)
        optimizer.step()
    np.testing.assert_array_equal(np.asarray(p.detach()), alone(case))


def test_floats_of_16_bits_are_rounded_and_complex_numbers_are_pairs():
    for case in optimizers.CASES:
        wide, half = alone(case), alone(case, "float16")
        assert half.dtype == np.float16
        np.testing.assert_allclose(half, wide, atol=0.2)
    start, grads = optimizers.arrays()
    for name, settings in optimizers.CASES[::2]:
        p = tensor(start + 1j * start, requires_grad=True)
        optimizer = getattr(optim, name)([p], **settings)
        for g in grads:
            p.grad = tensor(g + 1j * g)
            optimizer.step()
        want = alone((name, settings))
        np.testing.assert_allclose(np.asarray(p.detach()), want + 1j * want)


def test_bad_settings_are_refused():
    p = tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.RMSprop([p], lr=-1)
    with pytest.raises(ValueError, match="Invalid beta parameter at index 1: 1.0"):
        optim.NAdam([p], betas=(0.5, 1.0))
    with pytest.raises(ValueError, match="Invalid rho value: 2"):
        optim.Adadelta([p], rho=2)
    with pytest.raises(ValueError, match="Invalid eta values: 1.5, 1.2"):
        optim.Rprop([p], etas=(1.5, 1.2))
    with pytest.raises(NotImplementedError, match="differentiable"):
        optim.RAdam([p], differentiable=True)
