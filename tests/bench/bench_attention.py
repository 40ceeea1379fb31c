# ranks: 1
"""What attention, linear, embedding and optimizers cost beside PyTorch, on one thread.

Operators are called forward, and forward and backward through the tape. Optimizers do a
step for the parameters of a small GPT (4 layers of width 256); the rows of matmul are
the bare products of linear in NumPy and in PyTorch. Both sides are timed in turn; a
ratio is the median of those of the rounds, below 1 where this project is faster.

PyTorch is looked for in this environment, or in another one, whose Python
DTENSOR_TORCH_PYTHON then names. Without it the times alone are printed.

    python tests/bench/bench_attention.py [NAME ...]
"""

import os
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy reads them
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from kept import keep  # noqa: E402

TORCH_PYTHON = os.environ.get("DTENSOR_TORCH_PYTHON", sys.executable)
ROUNDS = 15
BATCH_SECONDS = 5e-3
Call = Callable[[], object]

# name -> shape of queries, keys and values: batch, heads, length, columns
ATTENTION = {
    "attention 8x8x128x32": (8, 8, 128, 32),
    "attention 8x12x128x64": (8, 12, 128, 64),
    "attention 2x8x512x64": (2, 8, 512, 64),
    "attention 1x4x2048x64": (1, 4, 2048, 64),
}
TOKENS, WIDTH, HIDDEN, VOCABULARY = (8, 128), 256, 1024, 50_000
LAYER = [(768, 256), (768,), (256, 256), (256,), (1024, 256), (1024,), (256, 1024)]
LAYER += [(256,)] * 5
PARAMETERS = [(256, 256), (128, 256), *LAYER * 4, (256,), (256,)]

# name -> what a step of the formulas counts as at most, of PyTorch's time
AIMS = {"attention": 1.0, "adamw": 1.0, "sgd": 1.1, "linear": 1.1, "embedding": 1.1}


def array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


class Side:
    """What a library is asked for, by the same names."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def __getattr__(self, name: str) -> Any:
        return self.names[name]

    def leaf(self, values: np.ndarray) -> Any:
        return self.tensor(values).requires_grad_(True)

    def both_ways(self, forward: Callable[[], Any], leaves: list[Any]) -> Call:
        given = self.tensor(array(*forward().shape, seed=9))
        return lambda: self.grad(forward(), leaves, given)

    def attention(self) -> Iterator[tuple[str, Call]]:
        for name, shape in ATTENTION.items():
            q, k, v = (self.leaf(array(*shape, seed=s)) for s in range(3))
            for words, options in (("", {}), (" causal", {"is_causal": True})):

                def forward(
                    q: Any = q, k: Any = k, v: Any = v, options: Any = options
                ) -> Any:
                    return self.attend(q, k, v, **options)

                yield f"{name}{words}", forward
                yield f"{name}{words} both ways", self.both_ways(forward, [q, k, v])

    def linear_rows(self) -> Iterator[tuple[str, Call]]:
        for wide, (n, k) in {"up": (HIDDEN, WIDTH), "down": (WIDTH, HIDDEN)}.items():
            x, w = self.leaf(array(*TOKENS, k)), self.leaf(array(n, k, seed=1))
            b = self.leaf(array(n, seed=2))

            def forward(x: Any = x, w: Any = w, b: Any = b) -> Any:
                return self.linear(x, w, b)

            yield f"linear {wide}", forward
            yield f"linear {wide} both ways", self.both_ways(forward, [x, w, b])
            yield f"matmul {wide}", self.product(array(1024, k), array(n, k))

    def embedding_rows(self) -> Iterator[tuple[str, Call]]:
        table = self.leaf(array(VOCABULARY, WIDTH))
        index = np.random.default_rng(0).integers(0, VOCABULARY, TOKENS)
        given = self.tensor(index)

        def forward() -> Any:
            return self.embed(given, table)

        yield "embedding", forward
        yield "embedding both ways", self.both_ways(forward, [table])

    def optimizers(self) -> Iterator[tuple[str, Call]]:
        for name, options in (("adamw", {}), ("sgd", {"momentum": 0.9})):
            params = [self.leaf(array(*shape)) for shape in PARAMETERS]
            for p in params:
                p.grad = self.tensor(array(*p.shape, seed=1))
            kind = {"adamw": self.AdamW, "sgd": self.SGD}[name]
            yield f"{name} step", kind(params, lr=1e-4, **options).step

    def calls(self) -> dict[str, Call]:
        rows = (self.attention, self.linear_rows, self.embedding_rows, self.optimizers)
        return {name: call for row in rows for name, call in row()}


def ours() -> dict[str, Call]:
    from dtensor import autograd, optim, tensor
    from dtensor.ops.model.attention import scaled_dot_product_attention
    from dtensor.ops.model.embedding import embedding
    from dtensor.ops.model.linear import linear

    names = {
        "tensor": tensor,
        "grad": autograd.grad,
        "attend": scaled_dot_product_attention,
        "embed": embedding,
        "linear": linear,
        "product": lambda x, w: lambda: x @ w.T,
        "AdamW": optim.AdamW,
        "SGD": optim.SGD,
    }
    return Side(names).calls()


def theirs() -> dict[str, Call]:
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)

    def product(x: np.ndarray, w: np.ndarray) -> Call:
        a, b = torch.from_numpy(x), torch.from_numpy(w)
        return lambda: a @ b.T

    names = {
        "tensor": torch.tensor,
        "grad": torch.autograd.grad,
        "attend": F.scaled_dot_product_attention,
        "embed": F.embedding,
        "linear": F.linear,
        "product": product,
        "AdamW": lambda *args, **kw: torch.optim.AdamW(*args, fused=True, **kw),
        "SGD": lambda *args, **kw: torch.optim.SGD(*args, fused=True, **kw),
    }
    return Side(names).calls()


# --- the table ------------------------------------------------------------------------


def seconds(call: Call) -> float:
    """Return the seconds of a call, the mean of a batch."""
    once = min(timeit.repeat(call, number=1, repeat=3))
    count = max(1, int(BATCH_SECONDS / once))
    return timeit.timeit(call, number=count) / count


def serve() -> None:
    """Answer names with the seconds of a call."""
    calls = theirs()
    print("ready", flush=True)
    for line in sys.stdin:
        print(seconds(calls[line.strip()]), flush=True)


def start_torch() -> subprocess.Popen[str] | None:
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI", "PMI"))}
    process = subprocess.Popen(
        [TORCH_PYTHON, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=keep,
    )
    assert process.stdout is not None
    return process if process.stdout.readline().strip() == "ready" else None


def asked(process: subprocess.Popen[str], name: str) -> float:
    assert process.stdin is not None and process.stdout is not None
    print(name, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main(wanted: list[str]) -> None:
    calls, torch = ours(), start_torch()
    if torch is None:
        print("PyTorch was not found: see DTENSOR_TORCH_PYTHON")
    print(f"{'':42}{'here':>10}{'PyTorch':>10}{'ratio':>7}{'aim':>5}")
    for name, call in calls.items():
        if wanted and name.split()[0] not in wanted:
            continue
        rounds = [
            (seconds(call), asked(torch, name) if torch else float("nan"))
            for _ in range(ROUNDS)
        ]
        here, there = (
            statistics.median(side) * 1e6 for side in zip(*rounds, strict=True)
        )
        ratio = statistics.median(a / b for a, b in rounds)
        keep(name, here / 1e6, "s", "PyTorch", ratio)
        aim = AIMS.get(name.split()[0])
        words = "" if aim is None else f"{aim:5.1f}"
        late = " over the aim" if aim is not None and ratio > aim else ""
        print(f"{name:42}{here:7.0f} us{there:7.0f} us{ratio:7.2f}{words}{late}")
    if torch is not None:
        assert torch.stdin is not None
        torch.stdin.close()
        torch.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main(sys.argv[1:])
