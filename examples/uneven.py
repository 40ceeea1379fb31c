"""Parts of any size: the arrays on the ranks become one DTensor.

./run ranks 3 python examples/uneven.py
./run exec python examples/uneven.py
"""

import numpy as np
from mpi4py import MPI

from dtensor import DTensor, Shard, init_device_mesh

rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
mesh = init_device_mesh("cpu", (ranks,))


def tell(x: DTensor, text: str) -> None:
    """Print on rank 0 which rank holds which rows. This sends nothing."""
    if rank == 0:
        rows = [x.layout.boxes(r)[0] for r in range(ranks)]
        held = "  ".join(f"{o[0]}-{o[0] + n[0]}" for o, n in rows)
        print(f"{text:<22} {x.layout}  {held}")


# Rank r has r * r measurements of two numbers; rank 0 has none.
mine = np.full((rank * rank, 2), float(rank))
x = DTensor.from_local(mine, mesh, [Shard(0)])
tell(x, "as the ranks have them")
assert x.shape == (sum(r * r for r in range(ranks)), 2)

# The same rows in equal chunks.
y = x.rebalance()
tell(y, "in equal chunks")

# Each rank sorts its own chunk; all chunks have about the same length. The result has
# the layout of y.
z = DTensor(np.sort(y.to_local(), axis=0), y.layout, requires_grad=False)
tell(z, "after local work")

# Back to the original cut points: a Layout can be a target too.
back = z.redistribute(placements=x.layout)
assert np.array_equal(back.to_local(), mine)
tell(back, "and back")
