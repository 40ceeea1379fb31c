"""Writes a checkpoint in the directory that is its last argument, or reads it."""

import sys

import numpy as np

import dtensor.checkpoint as dcp
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor._core import world as _world

what, place = sys.argv[1:]
world = _world.current()
mesh = init_device_mesh("cpu", (world.size,))
values = np.random.default_rng(3).standard_normal((301, 127))
if what == "save":
    state = {"x": distribute_tensor(values, mesh, [Shard(0)])}
    dcp.save(state, checkpoint_id=place)
else:
    empty = np.zeros_like(values)
    state = {"x": distribute_tensor(empty, mesh, [Shard(1)])}
    dcp.load(state, checkpoint_id=place)
    read = state["x"].redistribute(placements=[Replicate()]).to_local()
    assert np.array_equal(np.asarray(read), values)
print("done", flush=True)
