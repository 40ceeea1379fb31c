"""Ranks without a launcher: threads of one process, for notebooks and unit tests.

./run exec python examples/threads.py
"""

import numpy as np

from dtensor import DTensor, Partial, Shard, distribute_tensor, init_device_mesh
from dtensor.testing import run_ranks

matrix = np.arange(77.0).reshape(7, 11)


def column_sums(shape: tuple[int, int]) -> np.ndarray:
    """What every rank does. The same code runs under mpiexec."""
    mesh = init_device_mesh("cpu", shape)
    x = distribute_tensor(matrix, mesh, [Shard(0), Shard(1)])
    sums = np.asarray(x.to_local()).sum(axis=0)
    whole = DTensor.from_local(sums, mesh, [Partial(), Shard(0)]).full_tensor()
    return np.asarray(whole)


for shape in [(1, 1), (2, 2), (2, 3), (4, 2)]:
    results = run_ranks(shape[0] * shape[1], column_sums, shape)
    assert all(np.array_equal(result, matrix.sum(axis=0)) for result in results)
    print(f"{len(results)} ranks as {shape}: all of them have the column sums")
