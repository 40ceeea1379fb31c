# ranks: 1
"""What PyTorch's dialect costs beside NumPy's, in every call of an operator.

The same operators as functions, methods and Python's own, on float32 arrays of 8 x 8 on
one rank: DTensors, and Tensors. Instructions of known calls are counted, which needs
valgrind.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from instructions import CALLS, counted, spans, valgrind
from kept import keep

import dtensor
import dtensor.torch as torch
from dtensor import Shard, distribute_tensor, init_device_mesh
from dtensor.torch.distributed import tensor as distributed

AIM = 10
SIDE = 8


class Row(NamedTuple):
    """A call in both dialects."""

    torch: str
    numpy: str


def same(*texts: str) -> list[Row]:
    return [Row(text, text) for text in texts]


# Names of functions are those of `dtensor.torch`, and of `dtensor`, of which PyTorch's
# names that it lacks are other ones.
FUNCTIONS = [
    Row("add(a, b)", "add(a, b)"),
    Row("sub(a, b)", "subtract(a, b)"),
    Row("mul(a, b)", "multiply(a, b)"),
    Row("div(a, b)", "divide(a, b)"),
    Row("neg(a)", "negative(a)"),
    *same("exp(a)", "matmul(a, b)", "sum(a)", "sum(a, 1)", "mean(a)", "mean(a, 1)"),
    *same("softmax(a, 1)", "relu(a)", "where(m, a, b)"),
    Row("cat([a, b], 1)", "concatenate([a, b], 1)"),
    *same("max(a)"),
    Row("max(a, 1)", "max(a, 1); argmax(a, 1)"),
    Row("max(a, b)", "maximum(a, b)"),
    Row("argmax(a, 1)", "argmax(a, 1)"),
    Row("transpose(a, 0, 1)", "swapaxes(a, 0, 1)"),
    *same("reshape(a, (4, 16))"),
    Row("sum(a, dim=1, keepdim=True)", "sum(a, axis=1, keepdims=True)"),
    Row("softmax(a, dim=1)", "softmax(a, axis=1)"),
]
METHODS = [
    *same("a.add(b)", "a.sub(b)", "a.mul(b)", "a.div(b)", "a.neg()", "a.exp()"),
    *same("a.matmul(b)", "a.sum()", "a.sum(1)", "a.mean()", "a.mean(1)"),
    *same("a.softmax(1)", "a.relu()", "a.where(m, b)", "a.max()"),
    Row("a.max(1)", "a.max(1); a.argmax(1)"),
    *same("a.argmax(1)"),
    Row("a.transpose(0, 1)", "a.swapaxes(0, 1)"),
    *same("a.reshape(4, 16)", "a.view(4, 16)", "a.permute(1, 0)", "a.sum(dim=1)"),
    *same("a.unsqueeze(0)", "a.flatten()"),
]
OPERATORS = same(
    "a + b", "a - b", "a * b", "a / b", "a * 2.0", "-a", "a @ b", "a < b", "a[1:3]"
)
OPERATORS += same("a[:, 2]", "a[None]", "a.T")
TABLES = {"functions": FUNCTIONS, "methods": METHODS, "operators": OPERATORS}
KINDS = ("DTensor", "Tensor")


def operands(kind: str, in_torch: bool) -> dict[str, object]:
    """The names that the rows use, of one dialect."""
    mesh = init_device_mesh("cpu", (1,))

    def array(values: Any) -> Any:
        x = torch.tensor(values) if in_torch else dtensor.as_tensor(values)
        if kind == "Tensor":
            return x
        spread = distributed.distribute_tensor if in_torch else distribute_tensor
        return spread(x if in_torch else values, mesh, [Shard(0)])

    values = np.random.default_rng(0).random((2, SIDE, SIDE), np.float32)
    names: dict[str, object] = {
        "a": array(values[0]),
        "b": array(values[1]),
        "m": array(values[0] < values[1]),
    }
    for row in FUNCTIONS:
        for call in (row.torch if in_torch else row.numpy).split("; "):
            name = call.partition("(")[0]
            names[name] = function(torch if in_torch else dtensor, name)
    return names


def function(module: Any, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(module, name)
    return found


def count(kind: str, table: str) -> None:
    """Call each row between two marks, in both dialects."""
    ours, torchs = operands(kind, False), operands(kind, True)
    counted("pass", {})
    for row in TABLES[table]:
        counted(row.numpy, ours)
        counted(row.torch, torchs)


def main() -> None:
    if len(sys.argv) > 1:
        count(*sys.argv[1:])
        return
    if valgrind() is None:
        print("no valgrind, so nothing is counted (apt-get install valgrind)")
        return
    print(
        f"load {os.getloadavg()[0]:.1f}; instructions, of {SIDE} x {SIDE} on one rank"
    )
    for kind in KINDS:
        for table, rows in TABLES.items():
            empty, *calls = spans(__file__, kind, table)
            each = [round((span - empty) / CALLS) for span in calls]
            show(kind, table, rows, list(zip(each[::2], each[1::2], strict=True)))


def show(kind: str, table: str, rows: list[Row], found: list[tuple[int, int]]) -> None:
    print(f"\n{f'{kind}s, {table}':<32}{'NumPy':>8}{'torch':>8}{'more':>8}")
    for row, (ours, torchs) in zip(rows, found, strict=True):
        beside = "" if row.numpy == row.torch else f"  beside {row.numpy}"
        print(f"{row.torch:<32}{ours:8}{torchs:8}{torchs - ours:+8}{beside}")
        name = f"{row.torch}, {kind}"
        keep(name, torchs, "instructions", "NumPy's dialect", torchs / ours)
    more = [torchs - ours for ours, torchs in found]
    met = sum(each <= AIM for each in more)
    print(f"at most {AIM} more: {met} of {len(more)}; most {max(more):+}")


if __name__ == "__main__":
    main()
