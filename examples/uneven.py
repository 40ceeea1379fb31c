"""Parts of any size: what every rank happens to have becomes one array.

./run ranks 3 python examples/uneven.py
./run exec python examples/uneven.py
"""

import numpy as np
from mpi4py import MPI

from dtensor import DTensor, Shard, init_device_mesh

rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
mesh = init_device_mesh("cpu", (ranks,))


def tell(x: DTensor, text: str) -> None:
    """Print who holds which rows, on rank 0. A layout knows it without asking."""
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

# Whoever sorts his chunk has work of the same length as the others, and the layout of
# the result is that of y.
z = DTensor(np.sort(y.to_local(), axis=0), y.layout, requires_grad=False)
tell(z, "after local work")

# Back to the cut points that the ranks began with: a Layout is a target too.
back = z.redistribute(placements=x.layout)
assert np.array_equal(back.to_local(), mine)
tell(back, "and back")
