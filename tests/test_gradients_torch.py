"""Gradients are those of PyTorch on one process, for any layout of the operands."""

import itertools
import subprocess

import numpy as np
import pytest
import torch_gradients as table
from meshes import line

import dtensor
from dtensor import DTensor, Replicate, Shard, distribute_tensor, tensor
from dtensor.nn import functional
from dtensor.testing import run_ranks

ROWS = {row[0]: (k, row) for k, row in enumerate(table.ROWS)}


@pytest.fixture(scope="module")
def torchs(tmp_path_factory, torch_python):
    out = tmp_path_factory.mktemp("torch") / "gradients.npz"
    subprocess.run([torch_python, table.__file__, out], check=True, timeout=300)
    with np.load(out) as file:
        return dict(file)


def gradients(name, place):
    """Return value and gradients, with operands that `place` has made of arrays."""
    number, (_, torch_text, text, shapes) = ROWS[name]
    arrays = [
        place(x, k).requires_grad_() for k, x in enumerate(table.inputs(shapes, number))
    ]
    names = {"t": dtensor, "F": functional, "I": np.eye(4)}
    names["k"] = np.array([1, 0, 3, 2])
    if isinstance(arrays[0], DTensor):
        names["k"] = distribute_tensor(names["k"], line(), [Replicate()])
    else:
        names["k"] = tensor(names["k"])
    value = table.evaluate(text or torch_text, arrays, names)
    seed = table.seed_of(tuple(value.shape))
    if isinstance(value, DTensor):
        seed = distribute_tensor(seed, line(), [Replicate()])
    value.backward(seed)
    found = {"value": whole(value)}
    found |= {
        letter: whole(x.grad)
        for letter, x in zip("abc", arrays, strict=False)
        if x.grad is not None
    }
    return found


def whole(x):
    return np.asarray((x.full_tensor() if isinstance(x, DTensor) else x).detach())


def compare(name, found, torchs):
    expected = {
        k.split("/")[1]: v for k, v in torchs.items() if k.split("/")[0] == name
    }
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(
            found[key], value, rtol=1e-9, atol=1e-11, err_msg=key
        )


def spread(placements):
    return lambda x, k: distribute_tensor(x, line(), [placements[k]])


@pytest.mark.validate
@pytest.mark.parametrize("name", ROWS)
def test_gradients_are_those_of_pytorch(name, torchs):
    compare(name, gradients(name, lambda x, k: tensor(x)), torchs)
    shapes = ROWS[name][1][3]

    def body():
        choices = [
            [Replicate(), *(Shard(d) for d in range(len(shape)))] for shape in shapes
        ]
        for placements in itertools.product(*choices):
            compare(name, gradients(name, spread(placements)), torchs)

    run_ranks(3, body, timeout=300)
