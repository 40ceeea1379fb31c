"""Loss curves of the example's GPT: on any mesh, and what PyTorch makes of the same.

python curves.py WEIGHTS OUT, by a Python that has torch: trains from weights in an
npz file, on the batches in it, and writes the losses as JSON.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLE = Path(__file__).parents[1] / "examples" / "train_transformer.py"


def example() -> Any:
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("train_transformer", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def options(**changes: Any) -> argparse.Namespace:
    """Return the options of a small model; 12 heads, which 3 and 4 divide."""
    values = dict(
        steps=6, layers=2, width=48, heads=12, length=24, batch=12, rate=3e-3, seed=0
    )
    return argparse.Namespace(**(values | changes))


def in_torch(weights: Any, given: argparse.Namespace) -> list[float]:
    """Train in PyTorch, on one process."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name in ("wq", "wk", "wv", "wo"):
                setattr(self, name, nn.Linear(given.width, given.width, bias=False))

        def forward(self, x: Any) -> Any:
            b, n, _ = x.shape
            q, k, v = (
                f(x).reshape(b, n, given.heads, -1).swapaxes(1, 2)
                for f in (self.wq, self.wk, self.wv)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.wo(y.swapaxes(1, 2).reshape(b, n, -1))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            width = given.width
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
            self.tokens = nn.Embedding(256, given.width)
            self.places = nn.Embedding(given.length, given.width)
            self.blocks = nn.ModuleList([Block() for _ in range(given.layers)])
            self.norm = nn.LayerNorm(given.width)
            self.output = nn.Linear(given.width, 256, bias=False)

        def forward(self, ids: Any) -> Any:
            x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.output(self.norm(x))

    torch.manual_seed(0)
    model = GPT()
    state = {k: torch.from_numpy(weights[k]) for k in model.state_dict()}
    model.load_state_dict(state)
    optimizer = torch.optim.AdamW(model.parameters(), lr=given.rate, weight_decay=0.1)
    warm = max(1, given.steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warm)
    )
    losses = []
    for ids, targets in zip(weights["ids"], weights["targets"], strict=True):
        optimizer.zero_grad()
        logits = model(torch.from_numpy(ids)).reshape(-1, 256)
        loss = F.cross_entropy(logits, torch.from_numpy(targets).reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss))
    return losses


if __name__ == "__main__":
    with np.load(sys.argv[1]) as file:
        arrays = dict(file)
    settings = argparse.Namespace(**json.loads(str(arrays["options"])))
    Path(sys.argv[2]).write_text(json.dumps(in_torch(arrays, settings)))
