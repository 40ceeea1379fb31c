"""The gradients of functional collectives go the way back."""

import numpy as np
import pytest
from collective_parts import array, counted, parts, uneven_pieces
from meshes import line

import dtensor
from dtensor import functional_collectives as funcol
from dtensor.debug import CommDebugMode

# The function of one rank's tensor, and the same of all ranks' tensors at once: a list
# of what comes out on each.
LINEAR = {
    "all_reduce": (
        lambda x, mesh: funcol.all_reduce(x, "sum", mesh),
        lambda xs: [sum(xs)] * len(xs),
    ),
    "average": (
        lambda x, mesh: funcol.all_reduce(x, "avg", mesh),
        lambda xs: [sum(xs) / len(xs)] * len(xs),
    ),
    "all_gather": (
        lambda x, mesh: funcol.all_gather_tensor_autograd(x, 0, mesh),
        lambda xs: [np.concatenate(xs)] * len(xs),
    ),
    "reduce_scatter": (
        lambda x, mesh: funcol.reduce_scatter_tensor_autograd(x, "avg", 0, mesh),
        lambda xs: chunks(sum(xs) / len(xs), len(xs)),
    ),
    "all_to_all": (
        lambda x, mesh: funcol.all_to_all_single_autograd(x, None, None, mesh),
        lambda xs: [
            np.concatenate(each)
            for each in zip(*(chunks(x, len(xs)) for x in xs), strict=True)
        ],
    ),
    "dims": (
        lambda x, mesh: funcol.shard_dim_alltoall(x, 0, 1, mesh),
        lambda xs: [x.T for x in chunks(np.concatenate(xs).T, len(xs))],
    ),
    "broadcast": (
        lambda x, mesh: funcol.broadcast(x, mesh.size() - 1, mesh),
        lambda xs: [xs[-1]] * len(xs),
    ),
    "permute": (
        lambda x, mesh: funcol.permute_tensor(x, [*range(1, mesh.size()), 0], mesh),
        lambda xs: [*xs[-1:], *xs[:-1]],
    ),
}


def chunks(x, n):
    length = -(-len(x) // n)
    return [x[k * length : (k + 1) * length] for k in range(n)]


def adjoint(function, shapes, grads):
    """The gradients of all ranks' tensors: sums over the linear function's columns."""
    out = [np.zeros(shape) for shape in shapes]
    for r, shape in enumerate(shapes):
        for index in np.ndindex(shape):
            xs = [np.zeros(s) for s in shapes]
            xs[r][index] = 1
            found = function(xs)
            out[r][index] = sum(
                np.vdot(g, y) for g, y in zip(grads, found, strict=True)
            )
    return out


@pytest.mark.parametrize("name", LINEAR)
def test_the_gradient_is_the_transpose_of_all_ranks_together(ranks, name):
    function, reference = LINEAR[name]

    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        uneven = name in ("all_gather", "dims")
        xs = parts(n, (12 if name == "all_to_all" else 5, 2), uneven)
        x = dtensor.tensor(xs[rank], requires_grad=True)
        out = function(x, mesh)
        wanted = reference(xs)
        np.testing.assert_allclose(array(out), wanted[rank], rtol=1e-13)
        grads = [
            np.cos(r + np.arange(y.size)).reshape(y.shape) for r, y in enumerate(wanted)
        ]
        weight = dtensor.tensor(grads[rank], requires_grad=True)
        (grad,) = dtensor.autograd.grad(out, [x], weight, create_graph=True)
        expected = adjoint(reference, [y.shape for y in xs], grads)[rank]
        np.testing.assert_allclose(array(grad), expected, rtol=1e-12, atol=1e-13)
        # The gradient is linear in `weight`; the transpose of the transpose is itself.
        (again,) = dtensor.autograd.grad(grad, [weight], dtensor.tensor(xs[rank]))
        np.testing.assert_allclose(array(again), wanted[rank], rtol=1e-12)

    ranks(body)


def test_uneven_pieces_have_their_gradient_too(ranks):
    def body():
        mesh = line()
        rank = mesh.get_local_rank()
        rows, xs = uneven_pieces(mesh.size())
        x = dtensor.tensor(xs[rank], requires_grad=True)
        sizes = rows[:, rank].tolist(), rows[rank].tolist()
        out = funcol.all_to_all_single(x, *sizes, mesh)
        out.backward(3 * out.detach())
        np.testing.assert_array_equal(x.grad, 3 * xs[rank])

    ranks(body)


def test_the_gradient_of_an_all_gather_is_one_reduce_scatter(ranks):
    def body():
        mesh = line()
        x = dtensor.tensor(np.ones((4, 2)), requires_grad=True)
        out = funcol.all_gather_tensor(x, 0, mesh)
        with CommDebugMode() as comm:
            out.sum().backward()
        assert comm.get_comm_counts() == counted(mesh, "reduce_scatter")
        np.testing.assert_array_equal(x.grad, np.full((4, 2), mesh.size()))

    ranks(body)


def test_reductions_without_a_gradient_say_so(ranks):
    def body():
        x = dtensor.tensor(np.ones(2), requires_grad=True)
        out = funcol.all_reduce(x, "max", line())
        with pytest.raises(RuntimeError, match="sum or avg"):
            out.sum().backward()

    ranks(body)
