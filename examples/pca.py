"""Principal components of samples that no rank has all of.

./run ranks 4 python examples/pca.py
./run exec python examples/pca.py
"""

import numpy as np
from mpi4py import MPI

import dtensor
from dtensor import Shard, from_callback, init_device_mesh
from dtensor.debug import CommDebugMode

SAMPLES, FEATURES, SOURCES = 20_000, 24, 3


def signals(index):
    """Some of the samples: three sources that are mixed."""
    t = np.arange(SAMPLES)[index[0]] / 100
    sources = [9 * np.sin(t), 5 * np.cos(3 * t), 2 * np.sign(np.sin(7 * t))]
    mix = np.random.default_rng(0).normal(size=(SOURCES, FEATURES))
    return 5 + np.stack(sources, 1) @ mix


def principal_components(x, count):
    """Return the components, as rows, the share of variance of each, and the scores."""
    centered = x - x.mean(0)
    _, s, components = np.linalg.svd(centered, full_matrices=False)
    components, share = components[:count], (s**2 / (s**2).sum())[:count]
    return components, share, centered @ components.T


def main():
    mesh = init_device_mesh("cpu", (MPI.COMM_WORLD.size,))
    here = {"device_mesh": mesh, "placements": [Shard(0)]}
    x = from_callback((SAMPLES, FEATURES), mesh, [Shard(0)], signals)
    x = x + 0.1 * dtensor.randn(SAMPLES, FEATURES, dtype="float64", **here)
    with CommDebugMode() as comm:
        components, share, scores = principal_components(x, SOURCES)

    # The same in NumPy, on one process; the sign of a component is arbitrary.
    alone = principal_components(np.asarray(x.full_tensor()), SOURCES)
    share, components = (np.asarray(each.full_tensor()) for each in (share, components))
    signs = np.sign((components * alone[0]).sum(1))
    assert np.allclose(components, alone[0] * signs[:, None])
    assert np.allclose(share, alone[1]) and share.sum() > 0.99
    assert np.allclose(scores.full_tensor(), alone[2] * signs)

    if mesh.get_rank() == 0:
        sent = sum(comm.get_comm_bytes().values())
        print(f"{x.to_local().nbytes} bytes of samples on rank 0, which sent {sent}")
        print(f"shares of the variance: {share.round(3)}")


if __name__ == "__main__":
    main()
