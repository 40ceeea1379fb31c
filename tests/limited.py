"""Ranks that may have some parts of an array each, and never the whole of it.

Run by test_limits.py in a job of processes: ``limited.py MEBIBYTES PARTS NAME...``, the
bytes of a part, how many of them a rank may have, and functions. The limit is that of
the system on a process's data, so the blocks of arrays are not to be shared memory.
"""

import re
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dtensor import DTensor, Shard, from_callback, init_device_mesh
from dtensor._core import world as _world

la = np.linalg
MIB = 1 << 20
SMALL = 1 << 14  # elements of a part

CALLS: dict[str, Callable[[DTensor], Any]] = {
    "whole": lambda x: x.full_tensor(),
    "fftn": np.fft.fftn,
    "fft": np.fft.fft,
    "sort": np.sort,
    "median": np.median,
    "svd": lambda x: la.svd(x, False),
    "solve": lambda x: la.solve(x, x[:, 0]),
    "matmul": lambda x: x @ x,
}


def shape_of(name: str, elements: int) -> tuple[int, ...]:
    """The shape of an array of about so many elements for a function."""
    if name == "fftn":
        return (elements // 4096, 64, 64)
    if name == "svd":
        return (elements // 32, 32)
    if name in ("solve", "matmul"):
        return (int(elements**0.5),) * 2
    return (elements,)


def tensor(shape: tuple[int, ...]) -> DTensor:
    """Random numbers, made part by part; those of a square matrix have a diagonal."""
    mesh = init_device_mesh("cpu", (_world.current().size,))

    def part(index: tuple[slice, ...]) -> np.ndarray:
        rows = index[0]
        lengths = [s.stop - s.start for s in index]
        found = np.random.default_rng(rows.start).random(lengths)
        if len(shape) == 2 and shape[0] == shape[1]:
            found[np.arange(lengths[0]), np.arange(rows.start, rows.stop)] += 99
        return found

    return from_callback(shape, mesh, [Shard(0)], part)


def data_bytes() -> int:
    """What the system counts as data of this process."""
    status = Path("/proc/self/status").read_text()
    match = re.search(r"^VmData:\s+(\d+) kB", status, re.MULTILINE)
    assert match
    return int(match[1]) * 1024


def allow(more: int | None) -> None:
    """Let this process have so many bytes more than now, or as many as it likes."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if more is None else data_bytes() + more
    resource.setrlimit(resource.RLIMIT_DATA, (soft, most))


def is_allowed(name: str, part: int, parts: int) -> bool:
    """Call a function of an array with parts of so many bytes, under the limit."""
    size = _world.current().size
    CALLS[name](tensor(shape_of(name, size * SMALL)))  # libraries take what they keep
    allow(parts * part)
    try:
        CALLS[name](tensor(shape_of(name, size * part // 8)))
    except MemoryError:
        return False
    finally:
        allow(None)
    return True


def main(part: int, parts: int, names: list[str]) -> None:
    _world.current().timeout = 600
    assert not is_allowed("whole", part, parts), "it is no limit"
    for name in names:
        assert is_allowed(name, part, parts), name
    if _world.current().rank == 0:
        print(f"{len(names)} functions had enough", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) * MIB, int(sys.argv[2]), sys.argv[3:])
