"""A sparse system that is cut by rows, solved by conjugate gradients.

./run ranks 4 python examples/conjugate_gradient.py
./run exec python examples/conjugate_gradient.py
"""

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from mpi4py import MPI

import dtensor
from dtensor import Shard, init_device_mesh, sparse
from dtensor.debug import CommDebugMode

SIDE = 60  # of a square grid: a row of the matrix for each point


def laplacian(first, last):
    """Return some rows of the matrix of the five-point stencil, as scipy's array."""
    row = np.arange(first, last)
    i, j = np.divmod(row, SIDE)
    entries = [(row, row, np.full(len(row), 4.0))]
    for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        inside = (0 <= i + di) & (i + di < SIDE) & (0 <= j + dj) & (j + dj < SIDE)
        here = row[inside]
        entries.append((here, here + di * SIDE + dj, np.full(len(here), -1.0)))
    rows, columns, data = map(np.concatenate, zip(*entries, strict=True))
    shape = (last - first, SIDE * SIDE)
    return scipy.sparse.coo_array((data, (rows - first, columns)), shape)


def conjugate_gradient(A, b, tolerance=1e-10):
    """Solve A @ x = b for a positive definite matrix; return the steps it took, too."""
    x, r = b * 0, b
    p, rr = r, float(r @ r)
    end = tolerance**2 * rr
    steps = 0
    while rr > end:
        Ap = A @ p
        alpha = rr / float(p @ Ap)
        x, r = x + alpha * p, r - alpha * Ap
        rr, before = float(r @ r), rr
        p = r + rr / before * p
        steps += 1
    return x, steps


def main():
    rank, ranks = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
    mesh = init_device_mesh("cpu", (ranks,))
    n = SIDE * SIDE
    A = sparse.rows(laplacian(n * rank // ranks, n * (rank + 1) // ranks), mesh)
    b = dtensor.ones(n, device_mesh=mesh, placements=[Shard(0)], dtype="float64")
    x, steps = conjugate_gradient(A, b)
    with CommDebugMode() as comm:
        residual = float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))
    assert residual < 1e-9

    alone = scipy.sparse.linalg.spsolve(laplacian(0, n).tocsc(), np.ones(n))
    assert np.allclose(x.full_tensor(), alone)
    if rank == 0:
        sent = sum(comm.get_comm_bytes().values())
        print(f"{A}: {steps} steps, residual {residual:.1e}")
        print(f"rank 0 sent {sent} bytes for a product and two norms")


if __name__ == "__main__":
    main()
