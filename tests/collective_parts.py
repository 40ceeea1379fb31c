"""What the ranks hold before a collective, and what CommDebugMode says after it."""

import numpy as np

from dtensor._core import world as _world


def parts(size, shape=(3, 2), uneven=False, dtype="float64"):
    """What each rank holds; of different lengths if they are to be uneven."""
    rng = np.random.default_rng(7)
    shapes = [(shape[0] + uneven * (r % 3), *shape[1:]) for r in range(size)]
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def array(x):
    return np.asarray(x.detach())


def counted(mesh, name, times=1):
    """What CommDebugMode says: a row of one rank sends nothing."""
    return {name: times} if mesh.size() > 1 else {}


def node_by_node():
    """Whether one collective may be several steps, within nodes and between them."""
    return "node_ranks=" in _world.current().costs


def is_counted(comm, mesh, name):
    """Whether CommDebugMode has seen one collective, in as many steps as it takes."""
    if mesh.size() > 1 and node_by_node():
        return comm.get_comm_counts()[name] > 0
    return comm.get_comm_counts() == counted(mesh, name)


def uneven_pieces(n):
    """How many rows go from rank i to rank j, and what the ranks hold."""
    rows = np.array([[(2 * i + j) % 4 for j in range(n)] for i in range(n)])
    rng = np.random.default_rng(3)
    return rows, [rng.standard_normal((int(s.sum()), 2)) for s in rows]
