"""Poisson's equation in a periodic box that is cut into pencils, by its spectrum.

./run ranks 4 python examples/poisson.py
./run exec python examples/poisson.py --plot poisson.png
"""

import argparse

import numpy as np
from mpi4py import MPI

from dtensor import Shard, from_callback, init_device_mesh
from dtensor.debug import CommDebugMode

POINTS = 48  # along each side, which is 2 pi long


def charges(index):
    """Some of the right side: two charged balls, without their mean."""
    x, y, z = (np.arange(POINTS)[part] * 2 * np.pi / POINTS - np.pi for part in index)
    x, y, z = np.ix_(x, y, z)
    plus = np.exp(-6 * ((x + 1) ** 2 + y**2 + z**2))
    return plus - np.exp(-6 * ((x - 1) ** 2 + (y - 1) ** 2 + z**2))


def solve(f):
    """Return the u without mean whose Laplacian is -f."""
    spectrum = np.fft.fftn(f)
    waves = np.fft.fftfreq(POINTS, 1 / POINTS) ** 2

    def inverse(index):
        """Some of 1 / k**2, and 0 for the mean."""
        kx, ky, kz = (waves[part] for part in index)
        squares = kx[:, None, None] + ky[:, None] + kz
        return np.divide(1, squares, out=np.zeros(squares.shape), where=squares > 0)

    # Each rank makes its part of the factors, placed as the spectrum is.
    mesh, placements = spectrum.device_mesh, spectrum.placements
    factors = from_callback(spectrum.shape, mesh, placements, inverse)
    return np.fft.ifftn(spectrum * factors).real


def plot(path, f, u):
    """Draw a slice through the middle of the box; only that is gathered."""
    slices = [np.asarray(x[:, :, POINTS // 2].full_tensor()) for x in (f, u)]
    if MPI.COMM_WORLD.rank == 0:
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
        for axis, values, title in zip(
            axes, slices, ("charges", "potential"), strict=True
        ):
            most = np.abs(values).max()
            image = axis.imshow(
                values.T, cmap="RdBu_r", vmin=-most, vmax=most, origin="lower"
            )
            axis.set(title=title, xticks=[], yticks=[])
            figure.colorbar(image, ax=axis, shrink=0.8)
        figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", help="a picture to write (needs matplotlib)")
    path = parser.parse_args().plot
    ranks = MPI.COMM_WORLD.size
    rows = max(n for n in range(1, ranks + 1) if ranks % n == 0 and n * n <= ranks)
    mesh = init_device_mesh("cpu", (rows, ranks // rows))
    box = (POINTS, POINTS, POINTS)
    f = from_callback(box, mesh, [Shard(0), Shard(1)], charges)
    f = f - f.mean()
    with CommDebugMode() as comm:
        u = solve(f)

    # The Laplacian of u, again by its spectrum, but in NumPy on one process.
    squares = np.fft.fftfreq(POINTS, 1 / POINTS) ** 2
    k2 = squares[:, None, None] + squares[:, None] + squares
    back = np.fft.ifftn(np.fft.fftn(np.asarray(u.full_tensor())) * k2).real
    assert np.allclose(back, f.full_tensor())

    if MPI.COMM_WORLD.rank == 0:
        sent = sum(comm.get_comm_bytes().values())
        print(f"pencils of {f.to_local().shape}, {f.to_local().nbytes} bytes; ", end="")
        print(f"rank 0 sent {sent} to solve")
    if path:
        plot(path, f, u)


if __name__ == "__main__":
    main()
