"""Twelve models in PyTorch's idiom train as PyTorch trains them, alone and on ranks.

Seven are in idiom_models.py, five in half_models.py. Losses of 20 steps are equal to
1e-4 in float32, and in bfloat16 as near as `assert_near` says.
"""

import functools
import json
import subprocess

import half_models
import idiom_models
import numpy as np
import pytest
from test_half_training import NAMES as HALF, assert_near, tensor_parallel

import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor.experimental import implicit_replication
from dtensor.fsdp import fully_shard
from dtensor.testing import run_ranks

NAMES = "Encoder GAN LSTM Attending VAE Experts Graph".split()
WAYS = ("float32", "bfloat16")


@functools.cache
def alone(name, way, steps=idiom_models.STEPS):
    return idiom_models.train(torch, name, way, steps=steps)


def sharded(name, way, count, steps):
    """Losses on ranks: parameters are cut, and the batch if there is one."""

    def body():
        mesh = init_device_mesh("cpu", (count,))
        rank = mesh.get_local_rank()

        def place(x):
            if name in idiom_models.WHOLE:
                return x
            return x.tensor_split(count)[rank]

        def prepare(model):
            return fully_shard(model, mesh=mesh)

        return idiom_models.train(torch, name, way, prepare, place, steps)

    return np.mean(run_ranks(count, body), axis=0)


def divided(name, way, count):
    """Losses on ranks: layers are divided, or the batch where there are none."""
    placement = Shard(0) if name in ("Residual", "UNet") else Replicate()

    def body():
        mesh = init_device_mesh("cpu", (count,))
        with implicit_replication():  # of what the models make by themselves
            return half_models.train(
                torch,
                name,
                way,
                lambda model: tensor_parallel(mesh, model),
                lambda x: distribute_tensor(x, mesh, [placement]),
                half_models.STEPS,
            )

    return run_ranks(count, body)[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_trains_on_ranks_as_alone(name):
    losses = sharded(name, "float32", 2, 3)
    np.testing.assert_allclose(losses, alone(name, "float32", 3), rtol=1e-5)


# --- beside PyTorch -------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs(torch_python):
    """PyTorch's losses of all models."""
    found = {}
    for module in (idiom_models, half_models):
        command = [torch_python, module.__file__, "torch"]
        done = subprocess.run(command, check=True, timeout=900, capture_output=True)
        found |= json.loads(done.stdout)
    return found


@pytest.mark.validate
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("name", NAMES)
def test_twenty_steps_are_those_of_pytorch(theirs, name, count, tell):
    exact = np.array(theirs[name]["float32"])
    for way in WAYS:
        steps = idiom_models.STEPS
        ours = alone(name, way) if count == 1 else sharded(name, way, count, steps)
        off = np.abs(np.subtract(ours, theirs[name][way])).max()
        tell(f"{name} on {count} ranks in {way}: {off:.1e} off")
        if way == "float32":
            np.testing.assert_allclose(ours, exact, rtol=1e-4)
        else:
            assert_near(ours, theirs[name][way], exact, way)


@pytest.mark.validate
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", HALF)
def test_twenty_steps_of_divided_layers_are_those_of_pytorch(theirs, name, count, way):
    exact, ours = np.array(theirs[name]["float32"]), divided(name, way, count)
    if way == "float32":
        np.testing.assert_allclose(ours, exact, rtol=1e-4)
    else:
        assert_near(ours, theirs[name][way], exact, way)
