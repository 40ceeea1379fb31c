"""The example that generates text: the same tokens on any number of ranks."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import dtensor
from dtensor import init_device_mesh
from dtensor.checkpoint import read
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks

EXAMPLE = Path(__file__).parents[1] / "examples" / "generate.py"
PROMPT = np.frombuffer(b"Once upon", np.uint8).astype(np.int64)[None]
WAYS = {  # temperature, top_k, top_p
    "greedy": (0, 0, 1.0),
    "all": (1.0, 0, 1.0),
    "top-k": (1.5, 5, 1.0),
    "nucleus": (0.7, 0, 0.6),
    "both": (2.0, 40, 0.9),
}


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("generate", EXAMPLE)
    module = sys.modules["generate"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(example, tmp_path_factory):
    made = tmp_path_factory.mktemp("model")
    example.random_folder(made)
    return made


def tokens(example, folder, ranks, count, how):
    """What each rank has generated."""

    def go():
        mesh = init_device_mesh("cpu", (ranks,))
        model = example.loaded(folder, mesh)
        dtensor.random.manual_seed(7)
        return example.generate(model, mesh, PROMPT, count, *how)

    return run_ranks(ranks, go)


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_the_text_is_the_same_on_any_number_of_ranks(how, example, folder):
    (alone,) = tokens(example, folder, 1, 12, how)
    assert alone.shape == (1, PROMPT.shape[1] + 12)
    for ranks in (2, 4):
        for found in tokens(example, folder, ranks, 12, how):
            assert np.array_equal(found, alone)


def logits_of(weights, c, ids):
    """The logits that follow some tokens, by NumPy in float64, without a cache."""

    def norm(x, name):
        size = np.sqrt(np.mean(x**2, -1, keepdims=True) + c["rms_norm_eps"])
        return x / size * weights[name]

    def heads(x, name, count):
        return (x @ weights[name].T).reshape(len(x), count, -1).transpose(1, 0, 2)

    def turned(x):
        n, size = x.shape[1:]
        rates = c["rope_theta"] ** (-2.0 * np.arange(size // 2) / size)
        z = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * np.exp(
            1j * np.outer(np.arange(n), rates)
        )
        return np.concatenate([z.real, z.imag], -1)

    x = weights["model.embed_tokens.weight"][ids]
    few, many = c["num_key_value_heads"], c["num_attention_heads"]
    for k in range(c["num_hidden_layers"]):
        at = f"model.layers.{k}."
        y = norm(x, at + "input_layernorm.weight")
        q = turned(heads(y, at + "self_attn.q_proj.weight", many))
        key = turned(heads(y, at + "self_attn.k_proj.weight", few))
        v = heads(y, at + "self_attn.v_proj.weight", few)
        key, v = (np.repeat(part, many // few, axis=0) for part in (key, v))
        scores = q @ key.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(len(ids), dtype=bool), scores, -np.inf)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        y = chances / chances.sum(-1, keepdims=True) @ v
        y = y.transpose(1, 0, 2).reshape(len(ids), -1)
        x = x + y @ weights[at + "self_attn.o_proj.weight"].T
        y = norm(x, at + "post_attention_layernorm.weight")
        gate = y @ weights[at + "mlp.gate_proj.weight"].T
        up = y @ weights[at + "mlp.up_proj.weight"].T
        y = gate / (1 + np.exp(-gate)) * up
        x = x + y @ weights[at + "mlp.down_proj.weight"].T
    return norm(x, "model.norm.weight")[-1] @ weights["lm_head.weight"].T


def test_the_likeliest_are_those_of_numpy(example, folder):
    weights = {name: np.float64(x) for name, x in read(folder).items()}
    for name, how in WAYS.items():
        found = tokens(example, folder, 2, 8, how)[0][0]
        for k in range(PROMPT.shape[1], len(found)):
            logits = logits_of(weights, example.CONFIG, found[:k])
            above = logits > logits[found[k]] + 1e-4
            chances = np.exp(logits / (how[0] or 1))
            assert np.sum(above) < {"greedy": 1, "top-k": 5, "both": 40}.get(name, 256)
            if how[2] < 1:
                assert chances[above].sum() / chances.sum() < how[2] + 1e-3


def test_a_step_sends_no_cache_and_no_whole_logits(example, folder):
    def go():
        mesh = init_device_mesh("cpu", (4,))
        model = example.loaded(folder, mesh)
        caches = example.new_caches(model.config, mesh, 1)
        with dtensor.no_grad(), CommDebugMode() as comm:
            logits = model(dtensor.as_tensor(PROMPT), caches, 0)
        assert logits.placements == (dtensor.Shard(1),)
        assert all(x.placements == (dtensor.Shard(1),) for pair in caches for x in pair)
        counts = dict(comm.get_comm_counts())
        assert counts == {"all_reduce": 1 + 2 * model.config.num_hidden_layers}

    run_ranks(4, go)
