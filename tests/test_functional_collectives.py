"""Functional collectives give what MPI's give."""

import numpy as np
import pytest
from collective_parts import (
    array,
    counted,
    is_counted,
    node_by_node,
    parts,
    uneven_pieces,
)
from meshes import line, square

import dtensor
from dtensor import DTensor, Shard, functional_collectives as funcol
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks


def everywhere(size):
    return parts(size), _world.current().rank


REDUCED = {
    "sum": lambda xs: sum(xs),
    "avg": lambda xs: sum(xs) / len(xs),
    "PRODUCT": lambda xs: np.prod(xs, axis=0),
    "max": lambda xs: np.max(xs, axis=0),
    "min": lambda xs: np.min(xs, axis=0),
}


# --- what they give -------------------------------------------------------------------


@pytest.mark.parametrize("op", REDUCED)
def test_all_reduce_puts_all_together(ranks, op):
    def body():
        mesh = line()
        xs, rank = everywhere(mesh.size())
        x = dtensor.tensor(xs[rank])
        with CommDebugMode() as comm:
            out = funcol.all_reduce(x, op, mesh)
        assert is_counted(comm, mesh, "all_reduce")
        np.testing.assert_allclose(out, REDUCED[op](xs), rtol=1e-14)
        np.testing.assert_array_equal(x, xs[rank])
        assert not np.may_share_memory(array(out), array(x))
        assert type(funcol.wait_tensor(out)) is dtensor.Tensor

    ranks(body)


def test_integers_are_put_together_bit_by_bit(ranks):
    def body():
        mesh = line()
        xs = [np.arange(6) << rank for rank in range(mesh.size())]
        want = np.bitwise_or.reduce(xs, axis=0)
        mine = xs[mesh.get_rank()]
        for op in ("bitwise_or", "bor", "BOR"):
            np.testing.assert_array_equal(funcol.all_reduce(mine, op, mesh), want)
        cut = funcol.reduce_scatter_tensor(mine, "bor", 0, mesh)
        length = -(-6 // mesh.size())
        start = mesh.get_rank() * length
        np.testing.assert_array_equal(cut, want[start : start + length])

    ranks(body)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_reduce_scatter_gives_chunks_of_any_length(ranks, dim):
    def body():
        mesh = line()
        xs, rank = everywhere(mesh.size())
        with CommDebugMode() as comm:
            out = funcol.reduce_scatter_tensor(xs[rank], "sum", dim, mesh)
        assert is_counted(comm, mesh, "reduce_scatter")
        length = -(-sum(xs).shape[dim] // mesh.size())
        want = np.moveaxis(
            np.moveaxis(sum(xs), dim, 0)[rank * length :][:length], 0, dim
        )
        np.testing.assert_allclose(out, want, rtol=1e-14)

    ranks(body)


@pytest.mark.parametrize("uneven", [False, True])
def test_all_gather_joins_parts_of_any_length(ranks, uneven):
    def body():
        mesh = line()
        xs, rank = parts(mesh.size(), uneven=uneven), mesh.get_local_rank()
        for dim, axes in ((0, (0, 1)), (1, (1, 0)), (-1, (1, 0))):
            x = dtensor.tensor(xs[rank].transpose(axes))
            with CommDebugMode() as comm:
                out = funcol.all_gather_tensor(x, dim, mesh)
            assert is_counted(comm, mesh, "all_gather")
            np.testing.assert_array_equal(out, np.concatenate(xs).transpose(axes))
        scalars = funcol.all_gather_tensor(np.float32(rank), 0, mesh)
        np.testing.assert_array_equal(scalars, np.arange(mesh.size()))

    ranks(body)


def test_all_to_all_exchanges_equal_pieces(ranks):
    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        xs = parts(n, (2 * n, 3))
        with CommDebugMode() as comm:
            out = funcol.all_to_all_single(xs[rank], None, None, mesh)
        assert comm.get_comm_counts() == counted(mesh, "all_to_all")
        want = np.concatenate([x[2 * rank : 2 * rank + 2] for x in xs])
        np.testing.assert_array_equal(out, want)

    ranks(body)


def test_all_to_all_exchanges_pieces_of_any_length(ranks):
    def body():
        mesh = line()
        rank = mesh.get_local_rank()
        rows, xs = uneven_pieces(mesh.size())
        x = dtensor.tensor(xs[rank])
        with CommDebugMode() as comm:
            out = funcol.all_to_all_single(
                x, rows[:, rank].tolist(), rows[rank].tolist(), mesh
            )
        assert comm.get_total_counts() <= 1
        sent = 16 * (rows[rank].sum() - rows[rank, rank])
        assert comm.get_comm_bytes().total() == sent
        ends = np.cumsum(rows, 1)
        want = [
            y[end[rank] - n[rank] : end[rank]]
            for y, end, n in zip(xs, ends, rows, strict=True)
        ]
        np.testing.assert_array_equal(out, np.concatenate(want))

    ranks(body)


def test_dims_change_places_with_one_exchange(ranks):
    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        xs = parts(n, (3, 5), uneven=True)
        with CommDebugMode() as comm:
            out = funcol.shard_dim_alltoall(xs[rank], 0, -1, mesh)
        assert comm.get_total_counts() == (n > 1)
        columns = slice(rank * -(-5 // n), (rank + 1) * -(-5 // n))
        np.testing.assert_array_equal(out, np.concatenate(xs)[:, columns])

    ranks(body)


def test_broadcast_gives_everybody_what_one_has(ranks):
    def body():
        mesh = line()
        xs, rank = everywhere(mesh.size())
        for src in range(mesh.size()):
            with CommDebugMode() as comm:
                out = funcol.broadcast(xs[rank], src, mesh)
            assert comm.get_comm_counts() == counted(mesh, "broadcast")
            np.testing.assert_array_equal(out, xs[src])
        assert float(funcol.broadcast(np.array(rank + 1.0), 0, mesh)) == 1.0

    ranks(body)


@pytest.mark.parametrize("uneven", [False, True])
def test_permute_sends_tensors_round_a_ring(ranks, uneven):
    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        xs = parts(n, uneven=uneven)
        ring = [(r + 1) % n for r in range(n)]
        with CommDebugMode() as comm:
            out = funcol.permute_tensor(xs[rank], ring, mesh)
        assert comm.get_comm_counts() == counted(mesh, "exchange")
        np.testing.assert_array_equal(out, xs[(rank - 1) % n])
        if n > 1:
            assert comm.get_comm_bytes() == {"exchange": xs[rank].nbytes}

    ranks(body)


def test_lists_go_together(ranks):
    def body():
        mesh = line()
        n, rank = mesh.size(), mesh.get_local_rank()
        xs, ys = parts(n), parts(n, (2 * n,), dtype="float32")
        both = [xs[rank], ys[rank]]
        with CommDebugMode() as comm:
            sums = funcol.all_reduce_coalesced(both, "sum", mesh)
            wholes = funcol.all_gather_into_tensor_coalesced(both, mesh)
            cut = funcol.reduce_scatter_tensor_coalesced(both, "sum", [0, 0], mesh)
        assert comm.get_total_counts() == (3 if n > 1 else 0) or node_by_node()
        np.testing.assert_allclose(sums[0], sum(xs), 1e-14)
        np.testing.assert_array_equal(wholes[1], np.concatenate(ys))
        np.testing.assert_allclose(cut[1], sum(ys)[2 * rank : 2 * rank + 2], 1e-6)

    ranks(body)


# --- groups ---------------------------------------------------------------------------


def test_a_group_may_be_written_in_any_of_torchs_ways():
    def body():
        mesh = square()
        rank = mesh.get_rank()
        row = mesh.ranks[mesh.get_coordinate()[0]].tolist()
        groups = [
            (mesh, 1),
            (mesh, "column"),
            mesh["column"],
            row,
            mesh.ranks.tolist(),
        ]
        for group in groups:
            out = funcol.all_reduce(np.array([float(rank)]), "sum", group)
            assert float(out[0]) == sum(row)
        both = funcol.all_gather_tensor(np.array([rank]), 0, row[::-1])
        assert both.tolist() == row[::-1]
        with pytest.raises(AssertionError, match="Only 1D mesh"):
            funcol.all_reduce(np.ones(1), "sum", mesh)

    run_ranks(4, body)


@pytest.mark.mpi
def test_a_communicator_of_mpi4py_is_a_group():
    comm = _world.MPI.COMM_WORLD
    out = funcol.all_gather_tensor(np.array([comm.rank]), 0, comm)
    assert out.tolist() == list(range(comm.size))


# --- what is refused ------------------------------------------------------------------

WRONG = {
    "shapes": (RuntimeError, lambda x, m, r: funcol.all_reduce(x[: r + 1], "sum", m)),
    "dtypes": (
        RuntimeError,
        lambda x, m, r: funcol.all_reduce(x.astype("fd"[r % 2]), "sum", m),
    ),
    "reductions": (
        RuntimeError,
        lambda x, m, r: funcol.all_reduce(x, "sum" if r else "max", m),
    ),
    "functions": (
        RuntimeError,
        lambda x, m, r: (
            funcol.all_reduce(x, "sum", m)
            if r
            else funcol.reduce_scatter_tensor(x, "sum", 0, m)
        ),
    ),
    "sources": (RuntimeError, lambda x, m, r: funcol.broadcast(x, min(r, 1), m)),
    "one rank": (
        (IndexError, RuntimeError),
        lambda x, m, r: funcol.reduce_scatter_tensor(x, "sum", 0 if r else 5, m),
    ),
    "text": (
        TypeError,
        lambda x, m, r: funcol.all_reduce(x.astype(str) if r else x, "sum", m),
    ),
    "one dim": (
        IndexError,
        lambda x, m, r: funcol.shard_dim_alltoall(x, 0, 1 + r, m),
    ),
    "two lists": (
        ValueError,
        lambda x, m, r: funcol.all_reduce(x, "sum", [[0, 1], [1]]),
    ),
    "other dims": (
        ValueError,
        lambda x, m, r: funcol.all_gather_tensor(x[:, r:], 0, m),
    ),
    "permutation": (ValueError, lambda x, m, r: funcol.permute_tensor(x, [0, 0], m)),
    "no reduction": (ValueError, lambda x, m, r: funcol.all_reduce(x, "sub", m)),
    "one size": (
        AssertionError,
        lambda x, m, r: funcol.all_to_all_single(x, None, [1, 1], m),
    ),
    "length": (
        AssertionError,
        lambda x, m, r: funcol.all_to_all_single(x, None, None, m),
    ),
    "sizes": (
        ValueError,
        lambda x, m, r: funcol.all_to_all_single(x, [1, 1], [1, 1], m),
    ),
    "expected": (
        ValueError,
        lambda x, m, r: funcol.all_to_all_single(x, [1, 1], [1, 2], m),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_raised_on_all_ranks(case):
    error, call = WRONG[case]

    def body():
        mesh = line()
        with pytest.raises(error):
            call(np.ones((3, 2)), mesh, mesh.get_local_rank())
        assert float(funcol.all_reduce(np.ones(1), "sum", mesh)[0]) == 2  # all go on

    run_ranks(2, body)


def test_groups_and_tensors_that_are_none_are_refused():
    x = np.ones(2)
    for group in ("world", 3, [], [[0], 1], (line(), 0, 0)):
        with pytest.raises(TypeError, match="group"):
            funcol.all_reduce(x, "sum", group)
    for group in ([7], [0, 0]):
        with pytest.raises(ValueError):
            funcol.all_reduce(x, "sum", group)
    with pytest.raises(TypeError, match="DTensor"):
        funcol.all_reduce(DTensor.from_local(x, line(), [Shard(0)]), "sum", [0])


def test_ranks_outside_the_group_keep_what_they_have():
    def body():
        mesh = dtensor.DeviceMesh("cpu", [0, 1])
        rank = _world.current().rank
        out = funcol.all_reduce(np.array([1.0]), "sum", mesh)
        assert float(out[0]) == (2 if rank < 2 else 1)

    run_ranks(3, body)
