"""One rank of PyTorch's DTensor, which times the calls that it is told to on stdin.

python torch_side.py RANK SIZE FILE: the ranks find each other through FILE. Every line
of stdin is the name of a row and a count, the answer is the seconds for so many calls.
"""

import sys
import timeit
from collections.abc import Iterator
from typing import Any

from dispatch_rows import ROWS, SIDE, shapes

try:
    import torch
    import torch.distributed as dist
    from torch.distributed.tensor import DTensor, Replicate, Shard, init_device_mesh
except ImportError:
    sys.exit()  # who asked for it says so


def answer(*words: object) -> None:
    print(*words, flush=True)


def scene(rank: int, size: int, file: str) -> dict[str, Any]:
    """The names of the texts, of torch."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)  # its faster way
    dist.init_process_group("gloo", f"file://{file}", rank=rank, world_size=size)
    mesh = init_device_mesh("cpu", (size,))
    cut, whole = [Shard(0)], [Replicate()]
    part = torch.ones(SIDE, SIDE)

    def pairs() -> Iterator[Any]:
        for shape in shapes():
            one = torch.ones(*shape)
            yield tuple(DTensor.from_local(one, mesh, cut) for _ in range(2))

    return {
        "a": DTensor.from_local(part, mesh, cut),
        "b": DTensor.from_local(part, mesh, cut),
        "w": DTensor.from_local(part, mesh, whole),
        "rows": SIDE * size,
        "sin": torch.sin,
        "part": part,
        "DTensor": DTensor,
        "mesh": mesh,
        "cut": cut,
        "pairs": pairs(),
        "version": torch.__version__,
    }


def main() -> None:
    names = scene(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    answer(names["version"])
    timers = {}
    for line in sys.stdin:
        name, count = line.rsplit(" ", 1)
        names["fresh"] = iter([])
        if ROWS[name].fresh:
            names["fresh"] = iter([next(names["pairs"]) for _ in range(int(count))])
        if name not in timers:
            timers[name] = timeit.Timer(ROWS[name].text("torch") or "", globals=names)
        answer(timers[name].timeit(int(count)))


main()
