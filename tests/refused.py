"""Moves of all kinds and sizes: each rank prints a CRC of what it has got.

Started by test_shared_memory.py. With ``fork`` each rank forks while moves are pending,
and its child writes into its own view of the arrays that others read.
"""

import os
import sys
import zlib

import numpy as np

from dtensor import DTensor, Partial, Replicate, Shard, init_device_mesh
from dtensor._core import world as _world

world = _world.current()
mesh = init_device_mesh("cpu", (world.size,))
random = np.random.default_rng(world.rank)
ENDS = [Replicate(), Shard(0), Shard(1)]
forks = sys.argv[1:] == ["fork"]
crc = 0

for n in (4, 60, 300, 900):
    part = random.standard_normal((n, n)).astype(np.float32)
    users = DTensor.from_local(part, mesh, [Shard(0)], run_check=False)
    pool = users + 1
    addends = DTensor.from_local(part, mesh, [Partial()], run_check=False) * 2
    moves = [(x, end) for x in (users, pool, addends) for end in ENDS]
    results = [x.redistribute(placements=[end], async_op=True) for x, end in moves]
    if forks:
        child = os.fork()
        if child == 0:
            for x, _ in moves:
                np.asarray(x.to_local())[...] = -1
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    for result in results:
        part = np.ascontiguousarray(np.asarray(result.to_local()))
        crc = zlib.crc32(part.tobytes(), crc)
print(f"rank {world.rank} CRC {crc}", flush=True)
