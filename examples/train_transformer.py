"""Train a small GPT on Python's manual, on a mesh of data and tensor parallel ranks.

    ./run demo                                              on 4 ranks, mesh 2x2
    ./run ranks 4 python examples/train_transformer.py --mesh 1x4
    ./run exec python examples/train_transformer.py --mesh 1x1    on one process

The text is that of `pydoc_data.topics`, byte by byte. The model is ordinary code;
`parallelize` distributes it: tensor and sequence parallel over the second mesh dim,
`fully_shard` over the first. The loss is computed on logits that stay sharded. The loss
curve is the same on every mesh, and in one process.

Rank 0 prints, draws the curve into `--plot` (with matplotlib), and at the end prints
text that the model generates. The exit status is 0 if the loss has fallen as expected.
"""

import argparse
import sys
import time
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from mpi4py import MPI

import dtensor
from dtensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    init_device_mesh,
    nn,
    no_grad,
)
from dtensor.fsdp import fully_shard
from dtensor.nn import functional as F
from dtensor.optim import AdamW
from dtensor.optim.lr_scheduler import LambdaLR
from dtensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

RANK = MPI.COMM_WORLD.rank
VOCABULARY = 256  # bytes


# --- the model: it knows nothing about ranks ------------------------------------------


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head_size = width // heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wk = nn.Linear(width, width, bias=False)
        self.wv = nn.Linear(width, width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x: Any) -> Any:
        batch, length, _ = x.shape

        def heads(y: Any) -> Any:  # the heads of this rank
            return y.reshape(batch, length, -1, self.head_size).swapaxes(1, 2)

        y = F.scaled_dot_product_attention(
            heads(self.wq(x)), heads(self.wk(x)), heads(self.wv(x)), is_causal=True
        )
        return self.wo(y.swapaxes(1, 2).reshape(batch, length, -1))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Any) -> Any:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, layers: int, width: int, heads: int, length: int) -> None:
        super().__init__()
        self.length = length
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, VOCABULARY, bias=False)
        for table in (self.tokens, self.places):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, ids: Any) -> Any:
        places = dtensor.as_tensor(np.arange(ids.shape[1]))
        x = self.tokens(ids) + self.places(places)
        for block in self.blocks:
            x = block(x)
        return self.output(self.norm(x))


# --- the same model on a mesh ---------------------------------------------------------


def parallelize(model: GPT, mesh: DeviceMesh) -> GPT:
    """Parallelize a model: "tp" shards the matrices, "dp" shards the parts again."""
    tp = mesh["tp"]
    gathered = {"desired_input_layouts": (Replicate(),)}
    block: dict[str, Any] = {
        "norm1": SequenceParallel(),
        "attention": PrepareModuleInput(input_layouts=(Shard(1),), **gathered),
        "attention.w[qkv]": ColwiseParallel(),
        "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
        "norm2": SequenceParallel(),
        "mlp": PrepareModuleInput(input_layouts=(Shard(1),), **gathered),
        "mlp.0": ColwiseParallel(),
        "mlp.2": RowwiseParallel(output_layouts=Shard(1)),
    }
    plan: dict[str, Any] = {
        "tokens": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "places": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)),
        **{f"blocks.*.{name}": style for name, style in block.items()},
        "norm": SequenceParallel(),
        "output": ColwiseParallel(
            input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
        ),
    }
    parallelize_module(model, tp, plan)
    for layer in model.blocks:
        fully_shard(layer, mesh=mesh["dp"])
    return fully_shard(model, mesh=mesh["dp"])


# --- data -----------------------------------------------------------------------------


def manual() -> np.ndarray:
    """Return the text of Python's manual as bytes."""
    text = "\n".join(topics[name] for name in sorted(topics))
    return np.frombuffer(text.encode("ascii", "replace"), np.uint8)


class Batches:
    """Random pieces of a text: each data-parallel rank gets its rows of a batch.

    The batches are the same for every mesh.
    """

    def __init__(self, text: np.ndarray, batch: int, length: int, seed: int) -> None:
        self.text, self.batch, self.length = text, batch, length
        self.random = np.random.default_rng(seed)

    def next(self, dp: DeviceMesh) -> tuple[Any, Any]:
        starts = self.random.integers(0, len(self.text) - self.length - 1, self.batch)
        mine = np.array_split(starts, dp.size())[dp.get_local_rank()]
        pieces = self.text[mine[:, None] + np.arange(self.length + 1)].astype(np.int64)
        return dtensor.as_tensor(pieces[:, :-1]), dtensor.as_tensor(pieces[:, 1:])


# --- training -------------------------------------------------------------------------


def train_step(model: GPT, ids: Any, targets: Any, optimizer: Any, share: float) -> Any:
    """Do one step; return this rank's share of the loss."""
    optimizer.zero_grad()
    with loss_parallel():
        logits = model(ids)
        loss = F.cross_entropy(
            logits.reshape(-1, VOCABULARY), targets.reshape(-1), reduction="sum"
        )
        loss = loss * share
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def train(model: GPT, mesh: DeviceMesh, options: argparse.Namespace) -> list[float]:
    """Train; return the loss of each step, which is the same on all ranks."""
    dp = mesh["dp"]
    batches = Batches(manual(), options.batch, options.length, options.seed)
    optimizer = AdamW(model.parameters(), lr=options.rate, weight_decay=0.1)
    warm = max(1, options.steps // 10)
    schedule = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm))
    losses = []
    # Gradients are averaged over the dp ranks. This factor gives all tokens the same
    # weight, however many rows each rank has.
    share = dp.size() / (options.batch * options.length)
    for _ in progress(options.steps):
        ids, targets = batches.next(dp)
        loss = train_step(model, ids, targets, optimizer, share)
        schedule.step()
        local = loss.full_tensor() if isinstance(loss, DTensor) else loss
        mean = DTensor.from_local(local.reshape(1), dp, [Partial("avg")])
        losses.append(float(mean.full_tensor()[0]))
    return losses


def progress(steps: int) -> Any:
    """Count the steps, with a progress bar on rank 0 if tqdm is installed."""
    try:
        from tqdm import trange
    except ImportError:
        return range(steps)
    return trange(steps, disable=RANK > 0, desc="training", unit="step", mininterval=1)


@no_grad()
def sample(model: GPT, prompt: str, count: int, seed: int) -> str:
    """Return text that the model generates; collective."""
    random = np.random.default_rng(seed)
    ids = list(prompt.encode("ascii"))
    for _ in range(count):
        # Sequence parallelism shards the text, so always pass the full length.
        text = ids[-model.length :]
        row = np.zeros((1, model.length), np.int64)
        row[0, : len(text)] = text
        logits = model(dtensor.as_tensor(row))
        if isinstance(logits, DTensor):
            logits = logits.full_tensor()
        scores = np.asarray(logits)[0, len(text) - 1].astype(np.float64) / 0.7
        chances = np.exp(scores - scores.max())
        ids.append(int(random.choice(VOCABULARY, p=chances / chances.sum())))
    return bytes(ids).decode("ascii", "replace")


def plot(losses: list[float], path: Path) -> None:
    """Draw the losses as a PNG if matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: this needs the extra matplotlib")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.figure(figsize=(6, 3.5))
    pyplot.plot(losses)
    pyplot.xlabel("step")
    pyplot.ylabel("loss, nats per byte")
    pyplot.tight_layout()
    pyplot.savefig(path, dpi=120)
    print(f"loss curve: {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", default="2x2", help="data x tensor parallel ranks")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--length", type=int, default=96, help="bytes in a piece")
    parser.add_argument("--batch", type=int, default=12, help="pieces in a batch")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=200, help="bytes to generate")
    parser.add_argument("--plot", type=Path, default=Path("loss.png"))
    options = parser.parse_args()
    shape = tuple(int(n) for n in options.mesh.split("x"))
    if len(shape) != 2 or np.prod(shape) != MPI.COMM_WORLD.size:
        parser.error(
            f"--mesh {options.mesh} does not fit {MPI.COMM_WORLD.size} ranks: "
            "use mpiexec -n N with N = dp x tp"
        )
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
    dtensor.random.manual_seed(options.seed)
    model = GPT(options.layers, options.width, options.heads, options.length)
    size = sum(int(p.size) for p in model.parameters())
    parallelize(model, mesh)
    if RANK == 0:
        print(f"{size:,} parameters on a mesh {options.mesh} (dp x tp)")
    start = time.perf_counter()
    losses = train(model, mesh, options)
    seconds = time.perf_counter() - start
    text = sample(model, "The ", options.sample, options.seed)
    if RANK == 0:
        print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {seconds:.1f} s")
        plot(losses, options.plot)
        print(f"the model says, after {len(losses)} steps:\n{text}")
    return 0 if losses[-1] < 0.75 * losses[0] or options.steps < 100 else 1


if __name__ == "__main__":
    sys.exit(main())
