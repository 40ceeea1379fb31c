"""Weights that are computed from others are PyTorch's, also where they are cut."""

import json
import subprocess
import warnings
from pathlib import Path

import numpy as np
import parametrizations
import pytest
from meshes import line

import dtensor.torch
from dtensor import Replicate, Shard, distribute_module, distribute_tensor, nn, tensor
from dtensor.debug import CommDebugMode
from dtensor.nn.utils import parametrizations as norms, parametrize

EXPECTED = Path(__file__).parent / "data" / "torch_parametrizations.json"


def close(found, expected):
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    return found == expected


def test_answers_are_those_of_pytorch():
    assert close(
        parametrizations.answers(dtensor.torch), json.loads(EXPECTED.read_text())
    )


@pytest.mark.validate
def test_kept_answers_are_those_of_pytorch(torch_python):
    command = [torch_python, parametrizations.__file__]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True)
    assert close(json.loads(done.stdout), json.loads(EXPECTED.read_text()))


LAYERS = {
    "weight norm": lambda: norms.weight_norm(nn.Linear(5, 7)),
    "other dim": lambda: norms.weight_norm(nn.Linear(5, 7), dim=1),
    "one norm": lambda: norms.weight_norm(nn.Linear(5, 7), dim=None),
    "spectral norm": lambda: norms.spectral_norm(nn.Linear(5, 7)),
    "old weight norm": lambda: nn.utils.weight_norm(nn.Linear(5, 7)),
    "old spectral norm": lambda: nn.utils.spectral_norm(nn.Linear(5, 7)),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("case", LAYERS)
def test_cut_weights_have_the_same_values_and_gradients(case, ranks):
    x = np.random.default_rng(6).standard_normal((3, 5)).astype("float32")

    def outcome(layer, x):
        y = layer(x)
        (y * y).sum().backward()
        grads = [p.grad for p in layer.parameters()]
        return [
            getattr(z, "full_tensor", lambda z=z: z)() for z in [y.detach(), *grads]
        ]

    def body():
        dtensor.random.manual_seed(3)
        whole = parametrizations.fill(dtensor, LAYERS[case]())
        expected = outcome(whole, tensor(x))
        for dim in (0, 1):

            def cut(_, module, mesh, dim=dim):
                for name, p in list(module.named_parameters(recurse=False)):
                    to = (
                        Shard(dim) if p.ndim > dim and p.shape[dim] > 1 else Replicate()
                    )
                    p = nn.Parameter(distribute_tensor(p.detach(), mesh, [to]))
                    module.register_parameter(name, p)

            layer = parametrizations.fill(dtensor, LAYERS[case]())
            distribute_module(layer, line(), cut)
            given = distribute_tensor(x, line(), [Replicate()])
            for found, want in zip(outcome(layer, given), expected, strict=True):
                np.testing.assert_allclose(found, want, rtol=2e-5, atol=1e-5)

    ranks(body)


def test_states_of_the_old_weight_norm_are_loaded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = nn.utils.weight_norm(nn.Linear(5, 3))
    new = norms.weight_norm(nn.Linear(5, 3))
    assert not any(new.load_state_dict(old.state_dict()))
    np.testing.assert_allclose(new.weight.detach(), old.weight.detach(), rtol=1e-6)


def test_a_block_computes_a_weight_once():
    layer = norms.weight_norm(nn.Linear(5, 3))
    with parametrize.cached(), parametrize.cached():
        first = layer.weight
        assert layer.weight is first
    assert layer.weight is not first


def test_the_power_method_sends_vectors(ranks):
    def body():
        mesh = line()
        layer = nn.Linear(40, 60)
        weight = distribute_tensor(layer.weight.detach(), mesh, [Shard(0)])
        layer.weight = nn.Parameter(weight)
        norms.spectral_norm(layer)
        with CommDebugMode() as comm:
            found = layer.weight
        assert found.placements == (Shard(0),)
        assert sum(comm.get_comm_bytes().values()) <= 1.5 * 4 * (2 * 40 + 2 * 60)

    ranks(body)


@pytest.mark.parametrize("kind", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights_of_float32(kind, trivial):
    nn_ = dtensor.torch.nn
    layer = nn_.utils.parametrizations.orthogonal(
        nn_.Linear(3, 4), "weight", kind, use_trivialization=trivial
    )
    w = layer.weight.detach().numpy()
    assert w.dtype == np.float32
    assert np.allclose(w.T @ w, np.eye(3), atol=1e-5)
