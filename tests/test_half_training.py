"""Models of five kinds train in bfloat16 and within autocast, alone and on ranks.

How far a loss may be away: rounding to 8 bits moves a run of 20 steps away from the
same run in float32 by some amount, the largest of its steps. Two runs that round at
other places, as PyTorch and the library do, differ by at most twice as much, and by the
place that the loss itself is rounded to.
"""

import functools
import json
import subprocess

import half_models
import numpy as np
import pytest

import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor.experimental import implicit_replication
from dtensor.fsdp import MixedPrecisionPolicy, fully_shard
from dtensor.nn._distribute import distribute_module
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks

NAMES = ("Decoder", "Vision", "Residual", "UNet", "Mixer")
STEPS = 6


@functools.cache
def alone(name, way, steps=STEPS):
    return half_models.train(torch, name, way, steps=steps)


def assert_near(losses, expected, exact, way):
    """Losses are as near to others of 16 bits as both are to those of float32."""
    rounding = np.abs(np.subtract(expected, exact)).max()
    place = np.abs(expected).max() * (2**-8 if way == "bfloat16" else 2**-12)
    assert np.abs(np.subtract(losses, expected)).max() <= 2 * rounding + place


@pytest.mark.parametrize("way", ["bfloat16", "autocast"])
@pytest.mark.parametrize("name", NAMES)
def test_a_model_of_16_bits_is_near_to_that_of_float32(name, way):
    exact, losses = np.array(alone(name, "float32")), np.array(alone(name, way))
    assert (losses != exact).any()
    bound = 0.03 if way == "bfloat16" else 0.01
    assert np.abs(losses / exact - 1).max() < bound


# --- on two ranks ---------------------------------------------------------------------

UP, DOWN = ("q", "k", "v", "up"), ("out", "down")


def tensor_parallel(mesh, model):
    """Attention and the layers after it are divided, all else is replicated."""
    plan = {}
    for path, module in model.named_modules():
        last = path.rpartition(".")[2]
        if isinstance(module, torch.nn.Linear) and last in UP:
            plan[path] = ColwiseParallel(use_local_output=False)
        elif isinstance(module, torch.nn.Linear) and last in DOWN:
            plan[path] = RowwiseParallel(use_local_output=False)
    model = parallelize_module(model, mesh, plan) if plan else model
    for module in model.modules():
        own = [p for p in module.parameters(recurse=False)]
        if own and not any(hasattr(p, "placements") for p in own):
            distribute_module(module, mesh)
    return model


@pytest.mark.parametrize("way", ["bfloat16", "autocast"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_near_with_tensors_divided_over_ranks(name, way):
    placement = Replicate() if name in ("Decoder", "Vision", "Mixer") else Shard(0)

    def body():
        mesh = init_device_mesh("cpu", (2,))
        with implicit_replication():  # of what the models make by themselves
            return half_models.train(
                torch,
                name,
                way,
                lambda model: tensor_parallel(mesh, model),
                lambda x: distribute_tensor(x, mesh, [placement]),
                STEPS,
            )

    for losses in run_ranks(2, body):
        assert_near(losses, alone(name, way), alone(name, "float32"), way)


@pytest.mark.parametrize("way", ["bfloat16", "autocast", "policy"])
@pytest.mark.parametrize("name", ["Decoder", "Vision", "UNet", "Mixer"])
def test_it_is_near_with_sharded_parameters(name, way):
    kind = torch.bfloat16
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)
    policy = policy if way == "policy" else MixedPrecisionPolicy()

    def body():
        mesh = init_device_mesh("cpu", (2,))
        rank = mesh.get_local_rank()
        return half_models.train(
            torch,
            name,
            "float32" if way == "policy" else way,
            lambda model: fully_shard(model, mesh=mesh, mp_policy=policy),
            lambda x: x[rank * 4 : rank * 4 + 4],
            STEPS,
        )

    losses = np.mean(run_ranks(2, body), axis=0)
    expected = alone(name, "bfloat16" if way == "policy" else way)
    assert_near(losses, expected, alone(name, "float32"), "bfloat16")


# --- beside PyTorch -------------------------------------------------------------------


@pytest.mark.validate
def test_twenty_steps_are_as_near_to_those_of_pytorch(torch_python):
    command = [torch_python, half_models.__file__, "torch"]
    done = subprocess.run(command, check=True, timeout=600, capture_output=True)
    for name, theirs in json.loads(done.stdout).items():
        exact = theirs["float32"]
        ours = alone(name, "float32", half_models.STEPS)
        np.testing.assert_allclose(ours, exact, rtol=1e-4)
        for way in ("bfloat16", "autocast"):
            losses = alone(name, way, half_models.STEPS)
            assert_near(losses, theirs[way], exact, way)
