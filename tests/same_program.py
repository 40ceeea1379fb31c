"""A program whose values and layouts must be the same in every run: prints their CRC.

Started by test_same.py, under mpiexec or, with ``threads`` as argument, with ranks as
threads, and by test_nodes.py on several nodes. It does the same by plans of each
family. ``node_ranks=2`` as argument lets plans go from node to node on one machine.
"""

import itertools
import sys
import zlib

import numpy as np

from dtensor import DTensor, Partial, Replicate, Shard, init_device_mesh, nn, optim
from dtensor._core import world as _world
from dtensor.nn import functional as F
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks

RANKS = 4
FAMILIES = ["", *(f"family={k}" for k in range(1, 6)), "family=4,node_ranks=2"]
NODES = [word for word in sys.argv[1:] if word.startswith("node_ranks=")]
MESHES = [((4,), ("all",)), ((2, 2), ("dp", "tp"))]
DTYPES = ["f4", "f8", "f2", "c8"]


class Crc:
    """Of all that one rank has seen."""

    def __init__(self):
        self.value = 0

    def add(self, x):
        """A DTensor: its placements and this rank's part."""
        self.value = zlib.crc32(repr(x.layout).encode(), self.value)
        part = np.ascontiguousarray(np.asarray(x.detach().to_local()))
        self.value = zlib.crc32(part.tobytes(), self.value)


def moves(crc, mesh):
    """Addends of every kind become whole, or parts."""
    ops = ["sum", "avg", "product"]
    rank = _world.current().rank
    rng = np.random.default_rng(rank)
    places = [Replicate(), Shard(0), Shard(1)]
    for dtype, op in itertools.product(DTYPES, ops):
        part = rng.standard_normal((9, 7)).astype(dtype)
        pending = [Partial(op)] * mesh.ndim
        x = DTensor.from_local(part, mesh, pending)
        for end in itertools.product(places, repeat=mesh.ndim):
            crc.add(x.redistribute(placements=end))


def operators(crc, mesh):
    """Results of operators on arrays in all layouts."""
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal((12, 8)), rng.standard_normal((12, 8))]
    places = [Replicate(), Shard(0), Shard(1)]
    ways = list(itertools.product(places, repeat=mesh.ndim))
    for a, b in itertools.islice(itertools.product(ways, repeat=2), 0, None, 3):
        x = DTensor.from_local(arrays[0], mesh, [Replicate()] * mesh.ndim)
        y = DTensor.from_local(arrays[1], mesh, [Replicate()] * mesh.ndim)
        x, y = x.redistribute(placements=a), y.redistribute(placements=b)
        for out in (x + y, x @ y.T, x.sum(0) * y, F.softmax(x, 1), x.std(), x.mean(1)):
            crc.add(out)
            if any(p.is_partial() for p in out.placements):
                crc.add(out.redistribute())


def training(crc, mesh):
    """Two steps of a small model, its last mesh dim tensor parallel."""
    model = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 5))
    tp = mesh[mesh.mesh_dim_names[-1]]
    styles = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    model = parallelize_module(model, tp, styles)
    rng = np.random.default_rng(7)
    for p in model.parameters():
        p.data[...] = rng.standard_normal(p.shape).astype("f4") / 4
    step = optim.AdamW(model.parameters(), lr=1e-2)
    x = rng.standard_normal((6, 16)).astype("f4")
    for _ in range(2):
        out = model(x)
        loss = (out * out).mean()
        loss.backward()
        step.step()
        step.zero_grad()
    for p in model.parameters():
        if isinstance(p, DTensor):
            crc.add(p)


def program():
    """The CRC of one rank."""
    crc = Crc()
    for family, (shape, names) in itertools.product(FAMILIES, MESHES):
        _world.current().set_costs(",".join([*NODES, *filter(None, [family])]))
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
        moves(crc, mesh)
        operators(crc, mesh)
        training(crc, mesh)
    every = _world.current().share(crc.value.to_bytes(4, "little"))
    return zlib.crc32(b"".join(every))


if __name__ == "__main__":
    if "threads" in sys.argv:
        print(f"CRC {run_ranks(RANKS, program)[0]:08x}")
    else:
        value = program()
        if _world.current().rank == 0:
            print(f"CRC {value:08x}")
