"""Text from a Llama-like model in a Hugging Face folder, tensor parallel.

    ./run ranks 4 python examples/generate.py
    ./run ranks 2 python examples/generate.py --model FOLDER --top-k 20 --top-p 0.9
    ./run exec python examples/generate.py --temperature 0     always the likeliest

The folder has `config.json` and safetensors files; without `--model` one with random
weights is made. Each rank reads its own parts. Heads, the cache of keys and values, and
the vocabulary stay cut: of the logits nothing is gathered but what is picked. The text
is the same on any number of ranks. Without a tokenizer, a token is a byte.
"""

import argparse
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from mpi4py import MPI

import dtensor
from dtensor import DeviceMesh, Replicate, Shard, init_device_mesh, nn, no_grad
from dtensor.checkpoint import load_hf, save
from dtensor.nn import functional as F
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

COMM = MPI.COMM_WORLD
CONFIG = {
    "vocab_size": 256,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 128,
}


# --- the model, by the names of Hugging Face ------------------------------------------


class Attention(nn.Module):
    """Each head of keys and values serves a group of heads of queries."""

    def __init__(self, c: Any) -> None:
        super().__init__()
        self.size = c.hidden_size // c.num_attention_heads
        self.heads = c.num_key_value_heads
        shared = self.heads * self.size
        self.q_proj = nn.Linear(c.hidden_size, c.hidden_size, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, shared, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, shared, bias=False)
        self.o_proj = nn.Linear(c.hidden_size, c.hidden_size, bias=False)

    def forward(self, x: Any, turn: Any, cache: Any, start: int) -> Any:
        batch, length, _ = x.shape

        def heads(y: Any) -> Any:  # (batch, head, member of its group, place, size)
            split = y.reshape(batch, length, self.heads, -1, self.size)
            return split.transpose(0, 2, 3, 1, 4)

        q, k, v = (heads(f(x)) for f in (self.q_proj, self.k_proj, self.v_proj))
        end = start + length
        cache[0][..., start:end, :], cache[1][..., start:end, :] = rotated(k, turn), v
        y = F.scaled_dot_product_attention(
            rotated(q, turn),
            cache[0][..., :end, :],
            cache[1][..., :end, :],
            is_causal=length > 1,
        )
        return self.o_proj(y.transpose(0, 3, 1, 2, 4).reshape(batch, length, -1))


def rotated(x: Any, turn: Any) -> Any:
    """Turn pairs of elements by angles that grow with the place."""
    first, second = np.split(x, 2, axis=-1)
    return x * turn[0] + np.concatenate([-second, first], axis=-1) * turn[1]


class MLP(nn.Module):
    def __init__(self, c: Any) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c: Any) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)
        self.mlp = MLP(c)

    def forward(self, x: Any, *place: Any) -> Any:
        x = x + self.self_attn(self.input_layernorm(x), *place)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, c: Any) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = nn.RMSNorm(c.hidden_size, c.rms_norm_eps)


class Llama(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.model = Body(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, ids: Any, caches: Any, start: int) -> Any:
        """Return the logits that follow the last of some tokens at `start`."""
        c = self.config
        size = c.hidden_size // c.num_attention_heads
        rates = c.rope_theta ** (-np.arange(0, size, 2) / size)
        angles = np.arange(start, start + ids.shape[1])[:, None] * np.tile(rates, 2)
        turn = np.cos(angles).astype("f4"), np.sin(angles).astype("f4")
        x = self.model.embed_tokens(ids)
        for layer, cache in zip(self.model.layers, caches, strict=True):
            x = layer(x, turn, cache, start)
        return self.lm_head(self.model.norm(x)[:, -1])


def new_caches(c: Any, mesh: DeviceMesh, batch: int) -> list[Any]:
    """Return room for the keys and values of each layer, cut as the heads are."""
    size = c.hidden_size // c.num_attention_heads
    shape = batch, c.num_key_value_heads, 1, c.max_position_embeddings, size

    def zeros() -> Any:
        return dtensor.zeros(shape, device_mesh=mesh, placements=[Shard(1)])

    return [(zeros(), zeros()) for _ in range(c.num_hidden_layers)]


def loaded(folder: Path, mesh: DeviceMesh) -> Llama:
    """Make a model without data, cut it, and read each rank's parts."""
    config = SimpleNamespace(
        **(CONFIG | json.loads((folder / "config.json").read_text()))
    )
    if getattr(config, "tie_word_embeddings", False):
        raise SystemExit("a model whose output is its embedding is not supported")
    with dtensor.device("meta"):
        model = Llama(config)
    column = ColwiseParallel(use_local_output=False)
    row = RowwiseParallel(use_local_output=False)
    plan = {
        "model.embed_tokens": RowwiseParallel(
            input_layouts=Replicate(), use_local_output=False
        ),
        "model.layers.*.self_attn.[qkv]_proj": column,
        "model.layers.*.self_attn.o_proj": row,
        "model.layers.*.mlp.gate_proj": column,
        "model.layers.*.mlp.up_proj": column,
        "model.layers.*.mlp.down_proj": row,
        "lm_head": column,
    }
    parallelize_module(model, mesh, plan)
    dtensor.distribute_module(model, mesh)  # what is left, the norms, is replicated
    load_hf(model.to_empty(device="cpu"), folder)
    return model


# --- generation -----------------------------------------------------------------------


def picked(logits: Any, temperature: float, top_k: int, top_p: float) -> Any:
    """Return the next token of each row; collective.

    The likeliest is chosen after noise was added to all: that draws from their
    probabilities, and the noise of an element does not depend on the layout.
    """
    if temperature == 0:
        return np.argmax(logits, axis=-1)
    logits = logits / temperature
    if top_k:
        best = -np.sort(-logits, axis=-1)
        logits = np.where(logits < best[:, top_k - 1 : top_k], -np.inf, logits)
    if top_p < 1:
        best = -np.sort(-logits, axis=-1)
        chances = F.softmax(best, -1)
        before = np.cumsum(chances, axis=-1) - chances
        least = np.min(np.where(before < top_p, best, np.inf), axis=-1, keepdims=True)
        logits = np.where(logits < least, -np.inf, logits)
    drawn = np.maximum(dtensor.rand_like(logits), 1e-30)
    return np.argmax(logits - np.log(-np.log(drawn)), axis=-1)


@no_grad()
def generate(
    model: Llama, mesh: DeviceMesh, ids: np.ndarray, count: int, *how: Any
) -> np.ndarray:
    """Return tokens (batch, length) with `count` more behind them; collective."""
    caches, start = new_caches(model.config, mesh, len(ids)), 0
    for _ in range(count):
        logits = model(dtensor.as_tensor(ids[:, start:]), caches, start)
        start = ids.shape[1]
        new = np.asarray(picked(logits, *how).full_tensor())
        ids = np.concatenate([ids, new[:, None]], axis=1)
    return ids


def random_folder(folder: Path) -> None:
    """Write a folder as Hugging Face has it, with random weights; collective."""
    random = np.random.default_rng(1)
    model = Llama(SimpleNamespace(**CONFIG))
    weights = {
        name: random.normal(0, 1 / np.sqrt(value.shape[-1]), value.shape).astype("f4")
        if value.ndim > 1
        else np.ones(value.shape, "f4")
        for name, value in model.state_dict().items()
    }
    save(weights, checkpoint_id=folder / "model.safetensors")
    if COMM.rank == 0:
        (folder / "config.json").write_text(json.dumps(CONFIG))
    COMM.barrier()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a folder; default: a random model")
    parser.add_argument("--prompt", default="Once upon a time")
    parser.add_argument("--count", type=int, default=24, help="of new tokens")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-k", type=int, default=0)
    parser.add_argument("--top-p", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = options.model
    if folder is None:
        folder = Path(COMM.bcast(tempfile.mkdtemp() if COMM.rank == 0 else None))
        random_folder(folder)
    mesh = init_device_mesh("cpu", (COMM.size,))
    model = loaded(folder, mesh)
    dtensor.random.manual_seed(options.seed)
    prompt = np.frombuffer(options.prompt.encode(), np.uint8).astype(np.int64)
    how = options.temperature, options.top_k, options.top_p
    ids = generate(model, mesh, prompt[None], options.count, *how)
    if COMM.rank == 0:
        if model.config.vocab_size == 256:
            print(ids[0].astype(np.uint8).tobytes())
        else:
            print(*ids[0])


if __name__ == "__main__":
    main()
