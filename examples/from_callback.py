"""An array too large for one rank: every rank creates only its own part.

./run ranks 4 python examples/from_callback.py
./run exec python examples/from_callback.py
"""

import numpy as np
from mpi4py import MPI

from dtensor import DTensor, Partial, Shard, from_callback, init_device_mesh

SHAPE = (1001, 777)


def wave(box: tuple[slice, ...]) -> np.ndarray:
    """Return the elements of one box of the whole array; only these are computed."""
    i, j = np.ogrid[box]
    return np.sin(0.01 * i) * np.cos(0.02 * j)


mesh = init_device_mesh("cpu", (MPI.COMM_WORLD.size,))
x = from_callback(SHAPE, mesh, [Shard(0)], wave)
part = np.asarray(x.to_local())
print(f"rank {mesh.get_rank()} has made {part.shape} of {x.shape}")

# The largest element: every rank takes the maximum of its part, which may be empty.
largest = DTensor.from_local(part.max(initial=-np.inf), mesh, [Partial("max")])
value = largest.item()  # collective: all ranks get the same number

if mesh.get_rank() == 0:
    whole = wave((slice(0, SHAPE[0]), slice(0, SHAPE[1])))
    assert value == whole.max()
    print(f"the largest element is {value:.6f}, as NumPy says")
