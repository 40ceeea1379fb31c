# ranks: 1
"""What the single-pass kernels cost beside PyTorch's, on BENCH_THREADS (1) threads.

Sizes are those of a small GPT: 8 sequences of 128, width 256, 8 heads, hidden 1024,
vocabulary 256. Whole operators are called, forward and backward, on arrays without a
tape; PyTorch's by its own functions for the two. Both sides are timed in turn; a ratio
is the median of those of the rounds, below 1 where this project is faster.

PyTorch is looked for in this environment, or in another one, whose Python
DTENSOR_TORCH_PYTHON then names. Without it the times alone are printed.

    python tests/bench/bench_kernels.py [NAME ...]
"""

import os
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from kept import keep

THREADS = int(os.environ.get("BENCH_THREADS", "1"))
TORCH_PYTHON = os.environ.get("DTENSOR_TORCH_PYTHON", sys.executable)
AIM = 1.0
ROUNDS = 15
BATCH_SECONDS = 2e-3

TOKENS, WIDTH, HIDDEN, VOCABULARY = 8 * 128, 256, 1024, 256
SCORES = (8 * 8 * 128, 128)
# name -> shape
SIZES = {
    "softmax": SCORES,
    "log_softmax": (TOKENS, VOCABULARY),
    "layer_norm": (TOKENS, WIDTH),
    "rms_norm": (TOKENS, WIDTH),
    "group_norm": (8, 32, 16, 16),
    "batch_norm": (8, 32, 16, 16),
    "gelu": (TOKENS, HIDDEN),
    "gelu_tanh": (TOKENS, HIDDEN),
    "silu": (TOKENS, HIDDEN),
    "relu": (TOKENS, HIDDEN),
    "sigmoid": (TOKENS, HIDDEN),
    "softplus": (TOKENS, HIDDEN),
    "elu": (TOKENS, HIDDEN),
    "cross_entropy": (TOKENS, VOCABULARY),
    "mse_loss": (TOKENS, WIDTH),
    "bce_logits": (TOKENS, WIDTH),
}
Calls = dict[str, Callable[[], object]]


def arrays(name: str) -> tuple[Any, ...]:
    """x, a gradient, two rows of weights, and classes."""
    rng = np.random.default_rng(0)
    shape = SIZES[name]
    channels = shape[1] if name in ("group_norm", "batch_norm") else shape[-1]
    x, g = (rng.standard_normal(shape).astype("f") for _ in range(2))
    w, b = (rng.standard_normal(channels).astype("f") for _ in range(2))
    return x, g, w, b, rng.integers(0, shape[-1], shape[0])


# --- this project ---------------------------------------------------------------------


def ours() -> Calls:
    import dtensor
    from dtensor import ops
    from dtensor.nn import functional
    from dtensor.ops.model.activation import relu, sigmoid
    from dtensor.ops.model.activation_gradient import activation_backward as back
    from dtensor.ops.model.cross_entropy import class_loss_backward
    from dtensor.ops.model.norm_gradient import norm_backward
    from dtensor.ops.model.number_loss import number_loss_backward
    from dtensor.ops.model.softmax import (
        log_softmax_backward,
        row_logsumexp,
        softmax_backward,
    )

    dtensor.set_num_threads(THREADS)
    calls: Calls = {}

    def add(name: str, forward: Any, backward: Any) -> None:
        x, g, w, b, t = arrays(name)
        y = np.asarray(forward(x, w, b, t))
        calls[name] = lambda: forward(x, w, b, t)
        calls[f"{name} backward"] = lambda: backward(g, x, y, w, b, t)

    add(
        "softmax",
        lambda x, *_: ops.softmax(x, -1),
        lambda g, x, y, *_: softmax_backward(g, y, 1),
    )
    add(
        "log_softmax",
        lambda x, *_: ops.log_softmax(x, -1),
        lambda g, x, y, *_: log_softmax_backward(g, y, 1),
    )
    add(
        "layer_norm",
        lambda x, w, b, t: ops.layer_norm(x, (WIDTH,), w, b),
        lambda g, x, y, w, b, t: norm_backward(g, x, w, "layer_norm", 1e-5, 1, 7),
    )
    add(
        "rms_norm",
        lambda x, w, b, t: ops.rms_norm(x, (WIDTH,), w),
        lambda g, x, y, w, b, t: norm_backward(g, x, w, "rms_norm", 1e-6, 1, 3),
    )
    add(
        "group_norm",
        lambda x, w, b, t: ops.group_norm(x, 8, w, b),
        lambda g, x, y, w, b, t: norm_backward(g, x, w, "group_norm", 1e-5, 4, 7),
    )
    x, g, w, b, _ = arrays("batch_norm")
    of = [dtensor.tensor(v, requires_grad=True) for v in (x, w, b)]
    out = functional.batch_norm(of[0], None, None, *of[1:], training=True)
    add(
        "batch_norm",
        lambda x, w, b, t: functional.batch_norm(x, None, None, w, b, training=True),
        lambda g, *_: dtensor.autograd.grad(out, of, g, retain_graph=True),
    )
    for name, forward, kernel, numbers in (
        ("gelu", ops.gelu, "gelu", ()),
        ("gelu_tanh", lambda x: ops.gelu(x, "tanh"), "gelu_tanh", ()),
        ("silu", ops.silu, "silu", ()),
        ("softplus", ops.softplus, "softplus", (1.0, 20.0)),
        ("elu", ops.elu, "elu", (1.0, 1.0, 1.0)),
    ):
        add(
            name,
            lambda x, *_, f=forward: f(x),
            lambda g, x, *_, k=kernel, n=numbers: back(g, x, k, *n),
        )
    for name, operator in (("relu", relu), ("sigmoid", sigmoid)):
        add(
            name,
            lambda x, *_, f=operator: f(x),
            lambda g, x, y, *_, k=name: back(g, y, k),
        )
    one, total = np.ones((), "f"), np.full((), TOKENS, "f")

    def entropy_back(g: Any, x: Any, y: Any, w: Any, b: Any, t: Any) -> Any:
        sums = (None, lse, total)
        return class_loss_backward(one, x, t, *sums, -100, 0.0, "sum")

    lse = np.asarray(row_logsumexp(arrays("cross_entropy")[0], 1))
    add("cross_entropy", lambda x, w, b, t: ops.cross_entropy(x, t), entropy_back)
    targets = {name: arrays(name)[1] for name in ("mse_loss", "bce_logits")}
    add(
        "mse_loss",
        lambda x, *_: ops.mse_loss(x, targets["mse_loss"]),
        lambda g, x, *_: number_loss_backward(one, x, g, "mse", 0.0, 1 / x.size),
    )
    add(
        "bce_logits",
        lambda x, *_: ops.binary_cross_entropy_with_logits(x, targets["bce_logits"]),
        lambda g, x, *_: number_loss_backward(one, x, g, "bce_logits", 0.0, 1 / x.size),
    )
    return calls


# --- PyTorch --------------------------------------------------------------------------


def theirs() -> Calls:
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    aten = torch.ops.aten
    calls: Calls = {}

    def add(name: str, forward: Any, backward: Any) -> None:
        x, g, w, b, t = map(torch.from_numpy, arrays(name))
        y = forward(x, w, b, t)
        calls[name] = lambda: forward(x, w, b, t)
        calls[f"{name} backward"] = lambda: backward(g, x, y, w, b, t)

    kind = torch.float32
    add(
        "softmax",
        lambda x, *_: F.softmax(x, -1),
        lambda g, x, y, *_: aten._softmax_backward_data(g, y, 1, kind),
    )
    add(
        "log_softmax",
        lambda x, *_: F.log_softmax(x, -1),
        lambda g, x, y, *_: aten._log_softmax_backward_data(g, y, 1, kind),
    )
    every = [True] * 3
    x, _, w, b, _ = map(torch.from_numpy, arrays("layer_norm"))
    _, mean, scale = aten.native_layer_norm(x, [WIDTH], w, b, 1e-5)
    add(
        "layer_norm",
        lambda x, w, b, t: F.layer_norm(x, (WIDTH,), w, b),
        lambda g, x, y, w, b, t: aten.native_layer_norm_backward(
            g, x, [WIDTH], mean, scale, w, b, every
        ),
    )
    x, _, w, b, _ = map(torch.from_numpy, arrays("group_norm"))
    _, means, scales = aten.native_group_norm(x, w, b, 8, 32, 256, 8, 1e-5)
    add(
        "group_norm",
        lambda x, w, b, t: F.group_norm(x, 8, w, b),
        lambda g, x, y, w, b, t: aten.native_group_norm_backward(
            g, x, means, scales, w, 8, 32, 256, 8, every
        ),
    )
    with torch.enable_grad():
        x, g, w, *_ = map(torch.from_numpy, arrays("rms_norm"))
        leaves = [x.requires_grad_(), w.requires_grad_()]
        out = F.rms_norm(x, (WIDTH,), w)
        x, _, w, b, _ = map(torch.from_numpy, arrays("batch_norm"))
        of = [x.requires_grad_(), w.requires_grad_(), b.requires_grad_()]
        normed = F.batch_norm(x, None, None, w, b, training=True)
    add(
        "rms_norm",
        lambda x, w, b, t: F.rms_norm(x, (WIDTH,), w),
        lambda g, *_: torch.autograd.grad(out, leaves, g, retain_graph=True),
    )
    add(
        "batch_norm",
        lambda x, w, b, t: F.batch_norm(x, None, None, w, b, training=True),
        lambda g, *_: torch.autograd.grad(normed, of, g, retain_graph=True),
    )
    for name, forward, backward in (
        ("gelu", F.gelu, aten.gelu_backward),
        (
            "gelu_tanh",
            lambda x: F.gelu(x, approximate="tanh"),
            lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
        ),
        ("silu", F.silu, aten.silu_backward),
        ("softplus", F.softplus, lambda g, x: aten.softplus_backward(g, x, 1.0, 20.0)),
        ("elu", F.elu, lambda g, x: aten.elu_backward(g, 1.0, 1.0, 1.0, False, x)),
    ):
        add(
            name,
            lambda x, *_, f=forward: f(x),
            lambda g, x, *_, f=backward: f(g, x),
        )
    add(
        "relu",
        lambda x, *_: F.relu(x),
        lambda g, x, y, *_: aten.threshold_backward(g, y, 0),
    )
    add(
        "sigmoid",
        lambda x, *_: torch.sigmoid(x),
        lambda g, x, y, *_: aten.sigmoid_backward(g, y),
    )
    x, *_, t = map(torch.from_numpy, arrays("cross_entropy"))
    logs, one = F.log_softmax(x, 1), torch.ones(())
    _, total = aten.nll_loss_forward(logs, t, None, 1, -100)

    def entropy_back(g: Any, x: Any, y: Any, w: Any, b: Any, t: Any) -> Any:
        d = aten.nll_loss_backward(one, logs, t, None, 1, -100, total)
        return aten._log_softmax_backward_data(d, logs, 1, kind)

    add("cross_entropy", lambda x, w, b, t: F.cross_entropy(x, t), entropy_back)
    targets = {
        name: torch.from_numpy(arrays(name)[1]) for name in ("mse_loss", "bce_logits")
    }
    add(
        "mse_loss",
        lambda x, *_: F.mse_loss(x, targets["mse_loss"]),
        lambda g, x, *_: aten.mse_loss_backward(one, x, g, 1),
    )
    add(
        "bce_logits",
        lambda x, *_: F.binary_cross_entropy_with_logits(x, targets["bce_logits"]),
        lambda g, x, *_: (torch.sigmoid(x) - g) * (one / x.numel()),
    )
    return calls


def serve() -> None:
    """Answer names with the seconds of a call, and nothing with nothing."""
    calls = theirs()
    print("ready", flush=True)
    for line in sys.stdin:
        print(seconds(calls[line.strip()]), flush=True)


# --- the table ------------------------------------------------------------------------


def seconds(call: Callable[[], object]) -> float:
    """Return the seconds of a call, the mean of a batch."""
    once = min(timeit.repeat(call, number=1, repeat=3))
    count = max(1, int(BATCH_SECONDS / once))
    return timeit.timeit(call, number=count) / count


def start_torch() -> subprocess.Popen[str] | None:
    process = subprocess.Popen(
        [TORCH_PYTHON, __file__, "--serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
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
    ratios = []
    print(f"{'':24}{'here':>10}{'PyTorch':>10}{'ratio':>7}")
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
        ratios.append(ratio)
        keep(name, here / 1e6, "s", "PyTorch", ratio)
        late = " over the aim" if ratio > AIM else ""
        print(f"{name:24}{here:7.1f} us{there:7.1f} us{ratio:7.2f}{late}")
    if torch is not None:
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, aim {AIM}")
        assert torch.stdin is not None
        torch.stdin.close()
        torch.wait()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main(sys.argv[1:])
