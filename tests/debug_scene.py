"""A small tensor-parallel model that the debugging tools are pointed at."""

import numpy as np
from meshes import line
from parallel_models import MLP, leaf, numbers

from dtensor import DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.nn import Module
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

R = Replicate()


def model() -> Module:
    """Column then row parallel: an all_reduce forward, and one backward."""
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    return parallelize_module(MLP(), line(), plan)


def step(module: Module) -> CommDebugMode:
    """One forward and backward."""
    with CommDebugMode() as comm:
        module(leaf(numbers(3, 4))).sum().backward()
    return comm


def rows() -> DTensor:
    """Two rows, or columns, for each rank."""
    mesh = line()
    values = np.arange(4.0 * mesh.size() ** 2).reshape(2 * mesh.size(), -1)
    return distribute_tensor(values, mesh, [Shard(0)])
