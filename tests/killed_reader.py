"""Ranks that read each other's arrays until one is killed: test_rank_kills.py."""

import os
import sys
import time

import numpy as np

from dtensor import Partial, Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor._core import world as _world

BEFORE = 20  # rounds that go well
SECONDS = 600  # for which ranks go on when nothing happens

world = _world.current()
mesh = init_device_mesh("cpu", (world.size,))
arrays = [
    distribute_tensor(np.ones((n, n), np.float32), mesh, [Shard(0)])
    for n in (16, 128, 1024)
]
start, turn = time.monotonic(), 0
while time.monotonic() < start + SECONDS:
    for x in arrays:
        y = x.redistribute(placements=[Shard(1)])
        z = (x + y).redistribute(placements=[Replicate()])
        assert z.to_local()[-1, -1] == 2
        total = x.sum(axis=0)
        assert total.placements == (Partial(),)
        assert total.full_tensor()[0] == len(x)
    turn += 1
    if turn == BEFORE:
        print("under way", os.getpid(), flush=True)
sys.exit("nobody was killed")
