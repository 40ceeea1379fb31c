"""input_reshard: less is kept for backward, and the gradients stay the same."""

import weakref

import numpy as np
import pytest
from meshes import line
from parallel_models import (
    MLP,
    Block,
    assert_same_gradients,
    filled,
    many,
    numbers,
    run,
    whole,
)

import dtensor
from dtensor import distribute_module
from dtensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    input_reshard,
    parallelize_module,
)


def mlp_on(mesh, hidden=8):
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    return parallelize_module(filled(MLP(hidden=hidden)), mesh, plan)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("rows", [8, 5, 1])
def test_gradients_are_the_same_and_the_input_is_gathered_again(ranks, dim, rows):
    def body():
        mesh = line()
        plain = filled(MLP())
        mlp = mlp_on(mesh)
        assert input_reshard(mlp, mesh, dim) is mlp
        a = dtensor.tensor(numbers(rows, 4), requires_grad=True)
        b = dtensor.tensor(numbers(rows, 4), requires_grad=True)
        want, _ = run(plain, a)
        out, (forward, backward) = run(mlp, b)
        np.testing.assert_allclose(whole(out), whole(want), atol=1e-12)
        np.testing.assert_allclose(whole(b.grad), whole(a.grad), atol=1e-12)
        assert_same_gradients(mlp, plain)
        assert forward == many(mesh, all_reduce=1)
        assert backward == many(mesh, all_gather=1, all_reduce=1)

    ranks(body)


def test_without_a_dimension_nothing_is_done(ranks):
    def body():
        mesh = line()
        mlp = input_reshard(mlp_on(mesh), mesh)
        _, (_, backward) = run(mlp, dtensor.tensor(numbers(8, 4)))
        assert backward == {}

    ranks(body)


def test_the_input_is_not_kept(ranks):
    def body():
        mesh = line()
        alive = {}
        for dim in (None, 0):
            mlp = input_reshard(mlp_on(mesh), mesh, dim)
            x = numbers(8, 4)
            alive[dim] = weakref.ref(x)
            out = mlp(dtensor.as_tensor(x))
            del x
            many = mesh.size() > 1  # on one rank the part is the whole
            assert (alive[dim]() is None) == (dim is not None and many)
            del out

    ranks(body)


def test_hooks_end_where_the_module_raises(ranks):
    def body():
        mesh = line()
        mlp = input_reshard(mlp_on(mesh), mesh, 0)
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            mlp(dtensor.tensor(numbers(8, 5)))
        plain, block = filled(Block()), filled(Block())
        distribute_module(block, mesh)
        x = dtensor.distribute_tensor(numbers(2, 3, 4), mesh)
        run(plain, dtensor.tensor(numbers(2, 3, 4)))
        _, (_, backward) = run(block, x)
        assert backward == {}
        assert_same_gradients(block, plain)

    ranks(body)
