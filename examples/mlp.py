"""A tensor-parallel MLP: columns of one weight, rows of the other, one all_reduce.

./run ranks 4 python examples/mlp.py
"""

import numpy as np
from mpi4py import MPI

import dtensor
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh
from dtensor.debug import CommDebugMode

rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
mesh = init_device_mesh("cpu", (ranks,), mesh_dim_names=("tp",))

rng = np.random.default_rng(0)  # the same numbers on every rank
x, first, second = (rng.standard_normal(s) for s in ((5, 12), (12, 32), (32, 7)))
bias = rng.standard_normal(32)


def place(array, placement):
    return distribute_tensor(array, mesh, [placement], src_data_rank=None)


inputs = place(x, Replicate())
columns, rows = place(first, Shard(1)), place(second, Shard(0))

with CommDebugMode() as comm, dtensor.strict():  # no operator may send anything
    hidden = np.maximum(inputs @ columns + place(bias, Shard(0)), 0)
    pending = hidden @ rows  # every rank has a partial sum of the product
    output = pending.full_tensor()  # here the partial sums are added

if rank == 0:
    print("hidden", hidden.placements, "output", pending.placements)
    print("sent:", comm.get_comm_counts(), comm.get_comm_bytes())
assert comm.get_comm_counts()["all_reduce"] == (ranks > 1)
assert np.allclose(output, np.maximum(x @ first + bias, 0) @ second)
