"""Which results share the memory of their source: those that do in NumPy, on all ranks
alike, also where parts are empty."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed


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
