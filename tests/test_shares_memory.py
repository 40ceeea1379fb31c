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
            rest = (x[2:].copy(), whole[2:]) if not x.layout.is_partial else None
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
