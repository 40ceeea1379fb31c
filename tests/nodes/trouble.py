"""Ranks that move data, until what test_nodes.py asks for happens.

The argument says what: a rank comes late, is killed, or calls something else. With
``wait`` they go on until something happens to them from outside.
"""

import os
import signal
import sys
import time

import numpy as np

from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor._core import world as _world

BEFORE = 20  # rounds that go well
SECONDS = 120  # for which ranks go on when nothing happens


def main(what: str) -> None:
    """Move an array to and fro."""
    world = _world.current()
    last = world.rank == world.size - 1
    mesh = init_device_mesh("cpu", (world.size,))
    x = distribute_tensor(np.arange(4096.0).reshape(64, 64), mesh, [Shard(0)])
    start = time.monotonic()
    for turn in range(10**9):
        if turn == BEFORE and what == "wait" and world.rank == 0:
            print("under way", flush=True)
        elif turn == BEFORE and what == "late" and last:
            time.sleep(SECONDS)
        elif turn == BEFORE and what == "killed" and last:
            os.kill(os.getpid(), signal.SIGKILL)
        elif turn == BEFORE and what == "another" and last:
            x.redistribute(placements=[Replicate()])
        x.redistribute(placements=[Shard(1)])
        if time.monotonic() - start > SECONDS:
            sys.exit("nothing has happened")


main(*sys.argv[1:])
