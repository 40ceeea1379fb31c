"""A view that keeps a cut dim of length 1, as a batch of one, sends nothing."""

import numpy as np
import pytest
from meshes import line

from dtensor import Shard, distribute_tensor
from dtensor.debug import CommDebugMode

# shape, the cut dim, the shape of the view, the dim that is cut afterwards
VIEWS = [
    ((1, 3, 4), 0, (1, 12), 0),
    ((1, 3, 4), 0, (1, 3, 2, 2), 0),
    ((1, 3, 4), 0, (1, 1, 12), 0),
    ((3, 1, 4), 1, (3, 1, 2, 2), 1),
    ((6, 1), 1, (2, 3, 1), 2),
    ((6, 1, 4), 1, (2, 3, 1, 4), 2),
    ((1, 1, 6), 1, (1, 1, 3, 2), 1),
    ((1, 1), 1, (1, 1, 1), 1),
    ((4, 3, 1), 0, (4, 3), 0),
    ((6, 1, 1), 0, (6, 1), 0),
]


@pytest.mark.parametrize(("shape", "dim", "to", "after"), VIEWS)
def test_a_cut_dim_of_length_one_stays_cut(shape, dim, to, after, ranks):
    def body():
        values = np.arange(float(np.prod(shape))).reshape(shape)
        x = distribute_tensor(values, line(), [Shard(dim)]).requires_grad_()
        with CommDebugMode() as comm:
            y = x.reshape(to)
            assert y.placements == (Shard(after),)
            (y * 2).backward(y.detach())
        assert comm.get_total_counts() == 0
        assert np.array_equal(y.full_tensor().detach(), values.reshape(to))
        assert np.array_equal(x.grad.full_tensor(), values * 2)

    ranks(body)


@pytest.mark.parametrize(("shape", "to"), [((1, 3, 4), (12,)), ((1, 4), (4, 1))])
def test_a_cut_dim_of_length_one_that_ends_moves(shape, to, ranks):
    def body():
        values = np.arange(float(np.prod(shape))).reshape(shape)
        y = distribute_tensor(values, line(), [Shard(0)]).reshape(to)
        assert np.array_equal(y.full_tensor(), values.reshape(to))

    ranks(body)
