"""What operators send: nothing where a rule needs nothing, and else what the plan says.

Every test holds for any number of ranks; on one rank nothing is ever sent.
"""

from collections.abc import Callable

import numpy as np
import pytest
from meshes import line, square

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
)
from dtensor.debug import CommDebugMode, explain
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator

R, P = Replicate(), Partial()
CUTS: list[list[Placement]] = [
    [Shard(0), R],
    [R, Shard(1)],
    [Shard(0), Shard(1)],
    [Shard(1), Shard(0)],
    [Shard(0), Shard(0)],
]


def array(*shape: int) -> np.ndarray:
    """Small whole numbers, whose sums are exact."""
    return np.random.default_rng(len(shape)).integers(-4, 5, shape).astype("float32")


def placed(values: np.ndarray, mesh: DeviceMesh, *placements: Placement) -> DTensor:
    """The same values on every rank, cut without a message."""
    return distribute_tensor(values, mesh, placements, src_data_rank=None)


def addends(values: np.ndarray, mesh: DeviceMesh) -> DTensor:
    """A Partial whose sum is `values` times the number of ranks."""
    return DTensor.from_local(values, mesh, [P])


def once(name: str, mesh: DeviceMesh) -> dict[str, int]:
    """One such collective, where there is somebody to talk to."""
    return {name: 1} if mesh.size() > 1 else {}


# --- nothing --------------------------------------------------------------------------


@pytest.mark.parametrize("placements", CUTS, ids=str)
def test_chains_of_elementwise_operators_send_nothing(ranks, placements):
    def body():
        mesh = square()
        values, others = array(9, 7), array(9, 7)
        x, y = (placed(v, mesh, *placements) for v in (values, others))
        with CommDebugMode() as comm:
            z = (x + y) * 2 - np.sin(x) / 3
            z = np.where(z > 0, z, -z) ** 2
            z += np.maximum(y, 0.5)
        assert comm.get_comm_counts() == {} and z.placements == x.placements
        w = (values + others) * 2 - np.sin(values) / 3
        w = np.where(w > 0, w, -w) ** 2 + np.maximum(others, 0.5)
        assert np.array_equal(z.full_tensor(), w)

    ranks(body)


def test_what_is_broadcast_against_a_cut_array_sends_nothing(ranks):
    def body():
        mesh, values = line(), array(9, 7)
        x = placed(values, mesh, Shard(0))
        row = placed(array(7), mesh, R)
        column = placed(array(9, 1), mesh, Shard(0))
        with CommDebugMode() as comm:
            y = x + row + column + array(9, 7) + 1
        assert comm.get_comm_counts() == {}
        assert mesh.size() == 1 or y.placements == (Shard(0),)

    ranks(body)


def test_a_pending_sum_takes_what_is_added_or_multiplied_without_a_message(ranks):
    def body():
        mesh, values = line(), array(6, 5)
        n = mesh.size()
        p, r = addends(values, mesh), placed(values, mesh, R)
        with CommDebugMode() as comm:
            sums = [p + 2, 2 - p, p + r, r - p, p + p, p * 3, p / 2, p * r, -p]
        assert comm.get_comm_counts() == {}
        if n > 1:
            assert {x.placements for x in sums} == {(P,)}
        v, s = values, values * n
        wanted = [s + 2, 2 - s, s + v, v - s, s + s, s * 3, s / 2, s * v, -s]
        for got, want in zip(sums, wanted, strict=True):
            assert np.array_equal(got.full_tensor(), want)

    ranks(body)


def test_slicing_a_cut_dim_moves_nothing(ranks):
    def body():
        mesh, values = line(), array(11, 5)
        x = placed(values, mesh, Shard(0))
        slices = [np.s_[2:5], np.s_[::2], np.s_[-4:], np.s_[1:9:3, 1:3], np.s_[4:4]]
        for index in slices:
            with CommDebugMode() as comm:
                y = x[index]
            assert comm.get_comm_counts() == {}, index
            assert y.placements == (Shard(0),), index
            assert np.array_equal(y.full_tensor(), values[index])

    ranks(body)


@pytest.mark.parametrize("placements", CUTS, ids=str)
def test_a_view_of_whole_parts_moves_nothing(ranks, placements):
    def body():
        mesh = square()
        rows, columns = mesh.size() * 2, mesh.size() * 3
        values = array(rows, columns)
        x = placed(values, mesh, *placements)
        with CommDebugMode() as comm:
            views = [x.T, x.reshape(rows, columns, 1), x[:, :, None], x[None]]
        assert comm.get_comm_counts() == {}
        wanted = [values.T, values[..., None], values[..., None], values[None]]
        for got, want in zip(views, wanted, strict=True):
            assert np.array_equal(got.full_tensor(), want)

    ranks(body)


# --- sums -----------------------------------------------------------------------------


@pytest.mark.parametrize("placements", CUTS, ids=str)
def test_a_sum_over_cut_dims_sends_nothing_until_it_is_read(ranks, placements):
    def body():
        mesh, values = square(), array(9, 7)
        x = placed(values, mesh, *placements)
        with CommDebugMode() as comm:
            sums = [x.sum(), x.sum(0), x.sum(1), x.sum(keepdims=True)]
        assert comm.get_comm_counts() == {}
        with CommDebugMode() as comm:
            assert float(sums[0]) == values.sum()
        assert {*comm.get_comm_counts()} <= {"all_reduce"}
        assert comm.get_comm_bytes().total() == explain(sums[0]).bytes_sent
        wanted = [values.sum(0), values.sum(1), values.sum(keepdims=True)]
        for got, want in zip(sums[1:], wanted, strict=True):
            assert np.array_equal(got.full_tensor(), want)

    ranks(body)


def test_a_mean_over_uneven_shards_is_one_all_reduce_of_the_small_result(ranks):
    def body():
        mesh, values = line(), array(4 * line().size() - 1, 5)
        x = placed(values, mesh, Shard(0))
        with CommDebugMode() as comm:
            mean = x.mean(0)
        assert comm.get_comm_counts() == {}
        plan = explain(Layout(mesh, [P], (5,), "float32"))
        with CommDebugMode() as comm:
            got = mean.full_tensor()
        assert comm.get_comm_counts() == once("all_reduce", mesh)
        assert comm.get_comm_bytes().total() == plan.bytes_sent
        np.testing.assert_allclose(got, values.mean(0), rtol=1e-6)

    ranks(body)


# --- products -------------------------------------------------------------------------


def test_a_column_then_row_parallel_mlp_costs_one_all_reduce_of_its_output(ranks):
    def body():
        mesh = line()
        inner = 4 * mesh.size() + 1
        x, w, v = array(6, 5), array(5, inner), array(inner, 3)
        hidden = placed(x, mesh, R) @ placed(w, mesh, Shard(1))
        rows = placed(v, mesh, Shard(0))
        plan = explain(Layout(mesh, [P], (6, 3), "float32"))
        with CommDebugMode() as comm:
            out = np.maximum(hidden, 0) @ rows
        assert comm.get_comm_counts() == {}
        with CommDebugMode() as comm:
            got = out.full_tensor()
        assert comm.get_comm_counts() == once("all_reduce", mesh)
        assert comm.get_comm_bytes().total() == plan.bytes_sent
        assert comm.get_comm_messages().total() == plan.messages
        assert np.array_equal(got, np.maximum(x @ w, 0) @ v)

    ranks(body)


FREE: list[tuple[list[Placement], list[Placement]]] = [
    ([Shard(0), R], [R, Shard(1)]),  # rows and columns of the result
    ([Shard(0), Shard(1)], [R, Shard(0)]),  # rows, and addends
    ([R, Shard(1)], [Shard(1), Shard(0)]),  # columns, and addends
    ([Shard(1), Shard(1)], [Shard(0), Shard(0)]),  # addends twice
    ([P, Shard(0)], [R, R]),
    ([R, R], [R, R]),
]


@pytest.mark.parametrize("left, right", FREE, ids=str)
def test_a_product_for_which_there_is_a_row_sends_nothing(ranks, left, right):
    def body():
        mesh = square()
        start = [R if p.is_partial() else p for p in left]
        a, b = array(8, 12), array(12, 6)
        x, y = placed(a, mesh, *start), placed(b, mesh, *right)
        if start != left:
            x = DTensor.from_local(x.to_local(), mesh, left, shape=(8, 12))
        with CommDebugMode() as comm:
            z = x @ y
        assert comm.get_comm_counts() == {}
        times = mesh.shape[0] if start != left else 1
        assert np.array_equal(z.full_tensor(), (a @ b) * times)

    ranks(body)


def test_where_two_cuts_collide_the_smaller_operand_is_gathered_along_one_mesh_dim(
    ranks,
):
    def body():
        mesh = square()
        a, b = array(48, 12), array(12, 4)
        x, y = placed(a, mesh, Shard(0), Shard(1)), placed(b, mesh, Shard(1), Shard(0))
        with CommDebugMode() as comm:
            z = x @ y
        # Along the second mesh dim both are cut in what is summed over.
        across = mesh.shape[0] > 1
        assert comm.get_comm_counts() == ({"all_gather": 1} if across else {})
        part = np.asarray(y.to_local()).nbytes
        assert comm.get_comm_bytes().total() == part * (mesh.shape[0] - 1)
        assert np.array_equal(z.full_tensor(), a @ b)

    ranks(body)


# --- whole dims -----------------------------------------------------------------------


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True, initial=0))
    return np.asarray(e / e.sum(axis, keepdims=True))


@operator
def softmax(x: Operand, axis: int):
    """Exponentials over their sum along a dim, which must be whole."""
    names = "".join(letters(x.ndim, whole=[axis]))
    return Rule(f"{names}->{names}"), call(_softmax, x, axis)


@pytest.mark.parametrize("shape", [(12, 12), (5, 24), (4, 3, 8)], ids=str)
def test_a_softmax_over_a_cut_dim_is_an_all_to_all(ranks, shape):
    def body():
        mesh, values = line(), array(*shape)
        x = placed(values, mesh, Shard(len(shape) - 1))
        with CommDebugMode() as comm:
            y = softmax(x, axis=len(shape) - 1)
        assert comm.get_comm_counts() == once("all_to_all", mesh)
        size = explain(x, y.placements).bytes_sent
        assert comm.get_comm_bytes().total() == size
        np.testing.assert_allclose(y.full_tensor(), _softmax(values, -1), rtol=1e-6)

    ranks(body)


def test_a_softmax_over_the_only_dim_is_an_all_gather(ranks):
    def body():
        mesh, values = line(), array(12)
        with CommDebugMode() as comm:
            y = softmax(placed(values, mesh, Shard(0)), axis=0)
        assert comm.get_comm_counts() == once("all_gather", mesh)
        np.testing.assert_allclose(y.full_tensor(), _softmax(values, 0), rtol=1e-6)

    ranks(body)


def test_a_softmax_over_another_dim_than_the_cut_one_sends_nothing(ranks):
    def body():
        mesh, values = line(), array(9, 7)
        with CommDebugMode() as comm:
            y = softmax(placed(values, mesh, Shard(0)), axis=1)
        assert comm.get_comm_counts() == {} and y.placements == (Shard(0),)

    ranks(body)


# --- joined along a cut dim -----------------------------------------------------------


def sent(mesh: DeviceMesh, fn: Callable[[], DTensor], expected: np.ndarray) -> int:
    """The bytes that this rank sends in a call, which gives what NumPy gives."""
    with CommDebugMode() as comm:
        got = fn()
    assert set(comm.get_comm_counts()) <= {"all_to_all", "all_gather"}
    assert mesh.size() == 1 or got.placements == (Shard(0),)
    assert np.array_equal(got.full_tensor(), expected)
    return comm.get_comm_bytes().total()


@pytest.mark.parametrize("shift", [1, -1, 3])
def test_a_roll_along_a_cut_dim_sends_as_many_rows_as_it_moves(ranks, shift):
    def body():
        mesh, values = line(), np.arange(3000.0).reshape(1000, 3)
        x = placed(values, mesh, Shard(0))
        rows = abs(shift) if mesh.size() > 1 else 0
        rolled = np.roll(values, shift, axis=0)
        assert sent(mesh, lambda: np.roll(x, shift, axis=0), rolled) == 24 * rows
        rolled = np.roll(values, shift, axis=(0, 1))
        assert sent(mesh, lambda: np.roll(x, shift, axis=(0, 1)), rolled) == 24 * rows
        rolled = np.roll(values, shift)
        assert sent(mesh, lambda: np.roll(x, shift), rolled) == 8 * rows

    ranks(body)


PADS = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp"]


@pytest.mark.parametrize("mode", PADS)
def test_padding_a_cut_dim_sends_few_rows(ranks, mode):
    def body():
        mesh, values = line(), np.arange(3000.0).reshape(1000, 3)
        x = placed(values, mesh, Shard(0))
        padded = np.pad(values, 1, mode)
        row = padded[0].nbytes
        ends = 0 if mode == "constant" else 2 * (mesh.size() - 1)
        most = (mesh.size() + ends) * row if mesh.size() > 1 else 0
        assert sent(mesh, lambda: np.pad(x, 1, mode), padded) <= most

    ranks(body)


def test_a_join_along_a_cut_dim_sends_what_changes_its_rank(ranks):
    def body():
        mesh, values = line(), np.arange(3600.0).reshape(1200, 3)
        x, more = placed(values, mesh, Shard(0)), np.ones((12, 3))
        y = placed(more, mesh, Shard(0))
        most = 12 * 24 if mesh.size() > 1 else 0
        for pair, arrays in [([x, y], [values, more]), ([more, x], [more, values])]:
            joined = np.concatenate(arrays)
            assert sent(mesh, lambda p=pair: np.concatenate(p), joined) <= most
            assert sent(mesh, lambda p=pair: np.vstack(p), joined) <= most
            assert sent(mesh, lambda p=pair: np.append(*p, axis=0), joined) <= most
        # The parts of slices lie where they lay: together they are where they belong.
        halves = [x[:500], x[500:]]
        assert sent(mesh, lambda: np.concatenate(halves), values) == 0
        out = placed(np.zeros((1212, 3)), mesh, Shard(0))
        assert np.concatenate([x, y], out=out) is out
        assert np.array_equal(out.full_tensor(), np.concatenate([values, more]))

    ranks(body)


def test_a_join_along_a_cut_dim_keeps_how_the_others_are_cut(ranks):
    def body():
        mesh, values = square(), array(9, 7)
        x = placed(values, mesh, Shard(0), Shard(1))
        y = np.concatenate([x[1:, 2:], x[:1, 2:], values[:2, 2:]])
        expected = np.concatenate([values[1:, 2:], values[:1, 2:], values[:2, 2:]])
        if mesh.shape[0] > 1:
            assert (
                y.placements == x.placements and y.layout.cuts == x[:, 2:].layout.cuts
            )
        assert np.array_equal(y.full_tensor(), expected)

    ranks(body)


@pytest.mark.parametrize("fn", [np.square, np.log1p, np.positive])
def test_addends_that_an_operator_has_added_up_are_not_added_up_for_backward(fn, ranks):
    def body():
        mesh = line()
        x = DTensor.from_local(np.arange(6.0) / 7, mesh, [P]).requires_grad_()
        y = fn(x.redistribute(placements=[P]))  # it moves what is Partial, if it must
        with CommDebugMode() as comm:
            y.sum().backward()
        counts = comm.get_comm_counts()
        assert set(counts) <= {"all_gather"} and sum(counts.values()) <= 1, counts
        moved = np.arange(6.0) / 7 * mesh.size()
        expected = {"square": 2 * moved, "log1p": 1 / (1 + moved), "positive": 1}
        np.testing.assert_allclose(x.grad.full_tensor(), expected[fn.__name__])

    ranks(body)
