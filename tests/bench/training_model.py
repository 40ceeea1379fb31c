"""The GPT of bench_training.py, written once for PyTorch and for dtensor."""

import contextlib
import importlib
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

LAYERS, HEADS, LENGTH, BATCH, VOCABULARY = 4, 8, 128, 8, 256
RATE = 1e-3
NAMES = {
    "torch": {
        "nn": "torch.nn",
        "F": "torch.nn.functional",
        "optim": "torch.optim",
        "parallel": "torch.distributed.tensor.parallel",
        "tensor": "torch.distributed.tensor",
        "fsdp": "torch.distributed.fsdp",
    },
    "dtensor": {
        "nn": "dtensor.nn",
        "F": "dtensor.nn.functional",
        "optim": "dtensor.optim",
        "parallel": "dtensor.parallel",
        "tensor": "dtensor",
        "fsdp": "dtensor.fsdp",
    },
}


def library(name: str) -> SimpleNamespace:
    """Return the modules of a library under the names that are used here."""
    modules = {k: importlib.import_module(v) for k, v in NAMES[name].items()}
    return SimpleNamespace(**modules)


def words(form: str) -> tuple[str, str, int]:
    """Return how a form is spread, its dtype and its width: "tp", "tp-1024", ..."""
    spread, *more = form.split("-")
    numbers = [int(word) for word in more if word.isdigit()]
    dtype = "bfloat16" if "bfloat16" in more else "float32"
    return spread, dtype, numbers[0] if numbers else 256


def model(lib: Any, width: int) -> Any:
    """Return the GPT, made of a library's modules."""
    nn, F = lib.nn, lib.F

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name in ("wq", "wk", "wv", "wo"):
                setattr(self, name, nn.Linear(width, width, bias=False))

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape

            def heads(y: Any) -> Any:
                return y.reshape(batch, length, -1, width // HEADS).swapaxes(1, 2)

            y = F.scaled_dot_product_attention(
                heads(self.wq(x)), heads(self.wk(x)), heads(self.wv(x)), is_causal=True
            )
            return self.wo(y.swapaxes(1, 2).reshape(batch, length, -1))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention()
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, width)
            self.places = nn.Embedding(LENGTH, width)
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.norm = nn.LayerNorm(width)
            self.output = nn.Linear(width, VOCABULARY, bias=False)

        def forward(self, ids: Any, places: Any) -> Any:
            x = self.tokens(ids) + self.places(places)
            for block in self.blocks:
                x = block(x)
            return self.output(self.norm(x))

    return GPT()


def spread(lib: Any, made: Any, form: str, mesh: Any) -> Any:
    """Make a model tensor-parallel ("tp"), sharded ("fsdp"), or leave it ("one")."""
    if form == "tp":
        column, row = lib.parallel.ColwiseParallel, lib.parallel.RowwiseParallel
        plan = {f"attention.w{k}": column() for k in "qkv"}
        plan |= {"attention.wo": row(), "mlp.0": column(), "mlp.2": row()}
        for block in made.blocks:
            lib.parallel.parallelize_module(block, mesh, dict(plan))
    elif form == "fsdp":
        for block in made.blocks:
            lib.fsdp.fully_shard(block, mesh=mesh)
        lib.fsdp.fully_shard(made, mesh=mesh)
    return made


class Steps:
    """A model that can be stepped: of one library, in one form.

    A form is a word for `spread`, and what `words` finds behind it.
    """

    def __init__(self, name: str, form: str, mesh: Any, as_tensor: Any) -> None:
        lib, (form, dtype, width) = library(name), words(form)
        rank, size = (mesh.get_rank(), mesh.size()) if form == "fsdp" else (0, 1)
        rng = np.random.default_rng(0)
        ids = rng.integers(0, VOCABULARY, (BATCH, LENGTH + 1))
        mine = np.array_split(ids, size)[rank]
        self.ids = as_tensor(np.ascontiguousarray(mine[:, :-1]))
        self.targets = as_tensor(np.ascontiguousarray(mine[:, 1:].reshape(-1)))
        self.places = as_tensor(np.arange(LENGTH))
        self.lib = lib
        made = model(lib, width)
        if dtype == "bfloat16":
            made.bfloat16()
        self.model = spread(lib, made, form, mesh)
        self.optimizer = lib.optim.AdamW(self.model.parameters(), lr=RATE)
        _reset_peak()
        self.before = _kilobytes("VmRSS")

    def step(self) -> float:
        """Do one step; return the loss."""
        self.optimizer.zero_grad()
        logits = self.model(self.ids, self.places)
        loss = self.lib.F.cross_entropy(logits.reshape(-1, VOCABULARY), self.targets)
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())

    def seconds(self, count: int) -> float:
        """Return the seconds of a step, the mean of so many."""
        start = time.perf_counter()
        for _ in range(count):
            self.step()
        return (time.perf_counter() - start) / count

    def peak(self) -> int:
        """Return the bytes that steps needed at most above what there was before."""
        return (_kilobytes("VmHWM") - self.before) * 1024


def _reset_peak() -> None:
    """Have VmHWM begin anew, where the kernel allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _kilobytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return 0
