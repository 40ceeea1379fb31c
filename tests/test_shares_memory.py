"""Which results share the memory of their source: those that do in NumPy, on all ranks
alike, also where parts are empty."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

from dtensor import Layout, Shard, distribute_tensor


def every_layout(array):
    """Tensors of an array, in chunks and in parts of other lengths, some empty."""
    for mesh in (line(), square()):
        for at in layouts(array.ndim, mesh.ndim):
            x, whole = placed(array.copy(), mesh, at)
            whole = whole.copy()
            rest = (x[2:].copy(), whole[2:].copy()) if not x.layout.is_partial else None
            yield x, whole
            if rest is not None:
                yield rest


@pytest.mark.parametrize("shape", [(5, 3), 15, (3, 2), (2, 0), (3, 5, 1), (4, 6)])
def test_resize_gives_a_copy(ranks, shape):
    def body():
        for x, whole in every_layout(np.arange(15.0).reshape(5, 3)):
            wanted = np.resize(whole, shape)
            y = np.resize(x, shape)
            x += 1
            whole = whole + 1
            np.testing.assert_array_equal(y.full_tensor(), wanted)
            y *= 2
            np.testing.assert_array_equal(x.full_tensor(), whole)
            z = x.detach().requires_grad_()
            (np.resize(z, shape) * wanted).sum().backward()
            at = np.resize(np.arange(whole.size), shape).ravel()
            there = np.bincount(at, wanted.ravel(), whole.size)
            grad = z.grad.full_tensor()
            np.testing.assert_array_equal(grad, there.reshape(whole.shape))

    ranks(body)


SPLITS = [[9], [-2], [-9, 2], [3, 1], [2, -1], [-2, 9, 3], [9, 9], [0, -9], [1, 4], 5]


@pytest.mark.parametrize("at", SPLITS, ids=str)
def test_parts_of_a_split_show_the_source_wherever_its_indices_are(ranks, at):
    def body():
        whole_ways = [np.split, np.array_split, lambda a, at: np.vsplit(a, at)]
        for split in whole_ways:
            for x, whole in every_layout(np.arange(15.0).reshape(5, 3)):
                if isinstance(at, int) and len(whole) != 5:
                    continue
                ours, theirs = split(x, at), split(whole, at)
                x *= 2
                whole *= 2
                if not x.layout.is_partial:
                    ours[0] += 1
                    theirs[0] += 1
                    ours[-1] -= 3
                    theirs[-1] -= 3
                for y, z in zip([x, *ours], [whole, *theirs], strict=True):
                    np.testing.assert_array_equal(y.full_tensor(), z)

    ranks(body)


@pytest.mark.parametrize("at", SPLITS, ids=str)
def test_splits_have_gradients_wherever_their_indices_are(ranks, at):
    def body():
        for x, whole in every_layout(np.arange(15.0).reshape(3, 5)):
            z = x.detach().requires_grad_()
            parts = np.split(z, at, axis=1)
            sum((k + 2) * part.sum() for k, part in enumerate(parts)).backward()
            expected = np.zeros_like(whole)
            for k, part in enumerate(np.split(expected, at, axis=1)):
                part += k + 2
            np.testing.assert_array_equal(z.grad.full_tensor(), expected)

    ranks(body)


def cut_anyhow(array, dim):
    """Tensors of an array, in chunks and in parts of which some are empty."""
    mesh, n = line(), array.shape[dim]
    ranks = mesh.size()
    yield distribute_tensor(array, mesh, [Shard(dim)])
    for full in range(ranks):  # one rank has all
        x = distribute_tensor(array, mesh, [Shard(dim)])
        cuts = [0] * (full + 1) + [n] * (ranks - full)
        to = Layout(mesh, x.placements, x.shape, x.dtype, cuts={dim: cuts})
        yield x.redistribute(placements=to)


CALLS = {
    "tile": lambda x: np.tile(x, 2),
    "tile of rows": lambda x: np.tile(x, (2, 1)),
    "tile once": lambda x: np.tile(x, 1),
    "repeat": lambda x: np.repeat(x, 2, 0),
    "repeat once": lambda x: np.repeat(x, np.ones(len(x), int), 0),
    "resize": lambda x: np.resize(x, x.shape),
    "delete": lambda x: np.delete(x, [], 0),
    "insert": lambda x: np.insert(x, [], np.empty((0, x.shape[1])), 0),
    "roll": lambda x: np.roll(x, 0, 0),
    "take": lambda x: np.take(x, np.arange(len(x)), 0),
    "pad": lambda x: np.pad(x, 0),
    "concatenate": lambda x: np.concatenate([x]),
    "stack": lambda x: np.stack([x]),
    "flip": lambda x: np.flip(x),
    "compress": lambda x: np.compress([True] * len(x), x, 0),
    "tril": lambda x: np.tril(x, 99),
    "sort": lambda x: np.sort(x, 0),
    "astype": lambda x: x.astype(x.dtype),
    "astype without a copy": lambda x: x.astype(x.dtype, copy=False),
    "nan_to_num": lambda x: np.nan_to_num(x),
    "real": lambda x: np.real(x),
    "positive": lambda x: +x,
    "diff": lambda x: np.diff(x, 0),
    "ravel": lambda x: np.ravel(x),
    "ravel in Fortran's order": lambda x: np.ravel(x, order="F"),
    "reshape in Fortran's order": lambda x: np.reshape(x, (-1,), order="F"),
    "split in Fortran's order": lambda x: np.reshape(x, (1, *x.shape), order="F"),
    "flatten": lambda x: x.flatten(),
    "transpose": lambda x: x.T,
    "slice": lambda x: x[1:],
    "where": lambda x: np.where(True, x, x),
    "cumsum": lambda x: np.cumsum(x, 0),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "atleast_3d": lambda x: np.atleast_3d(x),
}
SHAPES = [(1, 3), (2, 3), (5, 4), (3, 1)]


@pytest.mark.parametrize("name", CALLS)
def test_what_a_result_shows_does_not_depend_on_empty_parts(ranks, name):
    def body():
        call = CALLS[name]
        for array in (np.arange(float(np.prod(s))).reshape(s) for s in SHAPES):
            for dim in (0, 1):
                ravels = name.startswith(("ravel", "reshape"))
                if ravels and (array.shape[dim] == 1 or (name == "ravel" and dim)):
                    continue  # it moves, and is a copy
                for x in cut_anyhow(array, dim):
                    whole = array.copy()
                    y, expected = call(x), call(whole)
                    if "flip" not in name:  # of a cut dim it is a copy
                        whole += 1
                        x += 1
                    np.testing.assert_array_equal(y.full_tensor(), expected)
                    np.testing.assert_array_equal(x.full_tensor(), whole)

    ranks(body)
