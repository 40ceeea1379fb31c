"""A transformer that is trained on a mesh has the loss curve of one process."""

import json
import subprocess
import sys
from pathlib import Path

import curves
import numpy as np
import pytest
from jobs import run

import dtensor
from dtensor import DTensor, init_device_mesh
from dtensor.testing import run_ranks

MESHES = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (4, 1), (3, 1), (1, 3)]


@pytest.fixture(autouse=True)
def default_dtype():
    before = dtensor.get_default_dtype()
    yield
    dtensor.set_default_dtype(before)


def curve(shape, dtype, **changes):
    """Return the losses on a mesh, and the parameters in the end."""
    gpt, given = curves.example(), curves.options(**changes)
    dtensor.set_default_dtype(dtype)

    def body():
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
        dtensor.random.manual_seed(0)
        model = gpt.GPT(given.layers, given.width, given.heads, given.length)
        gpt.parallelize(model, mesh)
        assert all(isinstance(p, DTensor) for p in model.parameters())
        return gpt.train(model, mesh, given)

    results = run_ranks(int(np.prod(shape)), body, timeout=1000)
    assert all(result == results[0] for result in results)
    return results[0]


def plain_curve(dtype, **changes):
    """Return the losses on one process, without any mesh in the model."""
    gpt, given = curves.example(), curves.options(**changes)
    dtensor.set_default_dtype(dtype)

    def body():
        mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        dtensor.random.manual_seed(0)
        model = gpt.GPT(given.layers, given.width, given.heads, given.length)
        return gpt.train(model, _Named(mesh), given)

    return run_ranks(1, body, timeout=1000)[0]


class _Named(dict):
    def __init__(self, mesh):
        super().__init__(dp=mesh)


@pytest.mark.parametrize("shape", MESHES)
def test_the_loss_curve_is_that_of_one_process(shape):
    expected = plain_curve(np.float64)
    np.testing.assert_allclose(curve(shape, np.float64), expected, rtol=1e-11)


@pytest.mark.parametrize("shape", [(2, 2), (3, 1), (1, 3)])
def test_batches_and_pieces_need_not_be_divisible(shape):
    odd = {"batch": 7, "length": 23, "steps": 4}
    expected = plain_curve(np.float64, **odd)
    np.testing.assert_allclose(curve(shape, np.float64, **odd), expected, rtol=1e-11)


def test_the_example_trains_draws_and_speaks(tmp_path):
    script = str(curves.EXAMPLE)
    options = ["--steps", "3", "--sample", "5", "--plot", str(tmp_path / "loss.png")]
    command = ["mpiexec", "-n", "4", sys.executable, script, *options]
    code, output, _ = run(command)
    assert code == 0 and "the model says, after 3 steps:\nThe " in output, output
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")
    command = [sys.executable, script, "--mesh", "2x2"]
    code, output, _ = run(command)
    assert code != 0 and "does not fit 1 ranks" in output


@pytest.mark.validate
@pytest.mark.parametrize("odd", [{}, {"batch": 7, "length": 23}])
@pytest.mark.parametrize("dtype, bound", [(np.float64, 1e-10), (np.float32, 1e-4)])
@pytest.mark.parametrize("shape", MESHES)
def test_fifty_steps_agree(shape, dtype, bound, odd):
    expected = plain_curve(dtype, steps=50, **odd)
    np.testing.assert_allclose(
        curve(shape, dtype, steps=50, **odd), expected, rtol=bound
    )


@pytest.mark.validate
def test_fifty_steps_agree_with_pytorch(tmp_path, torch_python):
    gpt, given = curves.example(), curves.options(steps=50)
    dtensor.set_default_dtype(np.float32)

    def body():
        mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        dtensor.random.manual_seed(0)
        model = gpt.GPT(given.layers, given.width, given.heads, given.length)
        arrays = {k: np.array(v) for k, v in model.state_dict().items()}
        batches = gpt.Batches(gpt.manual(), given.batch, given.length, given.seed)
        pairs = [batches.next(mesh) for _ in range(given.steps)]
        arrays["ids"] = np.array([np.asarray(ids) for ids, _ in pairs])
        arrays["targets"] = np.array([np.asarray(targets) for _, targets in pairs])
        np.savez(tmp_path / "weights.npz", options=json.dumps(vars(given)), **arrays)
        return gpt.train(model, _Named(mesh), given)

    ours = run_ranks(1, body, timeout=1000)[0]
    script, out = Path(curves.__file__), tmp_path / "losses.json"
    subprocess.run(
        [torch_python, script, tmp_path / "weights.npz", out], check=True, timeout=600
    )
    np.testing.assert_allclose(ours, json.loads(out.read_text()), rtol=1e-4)
