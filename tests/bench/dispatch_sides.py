"""Who runs the texts of dispatch_rows.py: dtensor, NumPy, and PyTorch if there."""

import os
import subprocess
import sys
import timeit
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from dispatch_rows import ROWS, SIDE, shapes

import dtensor
from dtensor import DTensor, Replicate, Shard, init_device_mesh

Names = dict[str, Any]
TORCH_PYTHON = "DTENSOR_TORCH_PYTHON"  # the Python that has torch; default: this one


class Side(Protocol):
    """Something that has times for rows; `None` for those that it lacks."""

    def seconds(self, name: str, count: int) -> float | None:
        """Of so many calls."""


class Here:
    """A side in this process."""

    def __init__(self, side: str, names: Names, pairs: Iterator[Any]) -> None:
        self.side, self.names, self.pairs = side, names, pairs
        self.timers: dict[str, timeit.Timer] = {}

    def result(self, name: str) -> Any:
        """What a row gives."""
        self.refresh(name, 1)
        body, _, last = (ROWS[name].text(self.side) or "").rpartition("; ")
        exec(body, self.names)
        value = last.removeprefix("x = ")
        return eval(value, self.names)

    def refresh(self, name: str, count: int) -> None:
        """Have so many new shapes."""
        many = count if ROWS[name].fresh else 0
        self.names["fresh"] = iter([next(self.pairs) for _ in range(many)])

    def seconds(self, name: str, count: int) -> float | None:
        text = ROWS[name].text(self.side)
        if text is None:
            return None
        if name not in self.timers:
            self.timers[name] = timeit.Timer(text, globals=self.names)
        self.refresh(name, count)
        return self.timers[name].timeit(count)


class Empty:
    """A handler in C that swallows everything."""

    __array_ufunc__ = "".format


def parts() -> Names:
    """The arrays of one rank."""
    rng = np.random.default_rng(0)
    return {
        name: rng.standard_normal((SIDE, SIDE)).astype(np.float32) for name in "abw"
    }


def numpy_side() -> Here:
    """The same calls on one rank's arrays."""

    def pairs() -> Iterator[Any]:
        for shape in shapes():
            one: Any = np.ones(shape, np.float32)
            yield one, one

    names = parts() | {"rows": SIDE, "sin": np.sin, "np": np, "empty": Empty()}
    return Here("numpy", names, pairs())


def our_side(size: int) -> Here:
    """DTensors on a row of ranks."""
    mesh, arrays = init_device_mesh("cpu", (size,)), parts()
    cut, whole = [Shard(0)], [Replicate()]

    def pairs() -> Iterator[Any]:
        for rows, columns in shapes():
            one: Any = np.ones((rows, columns), np.float32)
            shape = (rows * size, columns)
            yield tuple(
                DTensor.from_local(one, mesh, cut, shape=shape) for _ in range(2)
            )

    names = {
        "a": DTensor.from_local(arrays["a"], mesh, cut),
        "b": DTensor.from_local(arrays["b"], mesh, cut),
        "w": DTensor.from_local(arrays["w"], mesh, whole),
        "rows": SIDE * size,
        "sin": dtensor.sin,
        "np": np,
        "part": arrays["a"],
        "DTensor": DTensor,
        "mesh": mesh,
        "cut": cut,
    }
    return Here("ours", names, pairs())


class Torch:
    """PyTorch's DTensor, in a process of its own for each rank."""

    def __init__(self, process: subprocess.Popen[str], version: str) -> None:
        self.process, self.version = process, version

    @staticmethod
    def start(rank: int, size: int, file: str) -> subprocess.Popen[str]:
        """Start the process; it finds those of the other ranks through `file`."""
        python = os.environ.get(TORCH_PYTHON, sys.executable)
        script = Path(__file__).with_name("torch_side.py")
        # Without what would send it to this project's packages, or to other networks.
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        return subprocess.Popen(
            [python, str(script), str(rank), str(size), file],
            env=env | {"GLOO_SOCKET_IFNAME": "lo"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, name: str, count: int) -> float | None:
        if ROWS[name].text("torch") is None:
            return None
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{name} {count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)
