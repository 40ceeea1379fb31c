"""Rows of a table, whole or cut; what comes back to them, and what is refused."""

import gradcheck
import numpy as np
import pytest
from meshes import line
from samples_training import rows_added

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
    strict,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.ops.model.embedding import embedding
from dtensor.testing import run_ranks

R, S0, S1 = Replicate(), Shard(0), Shard(1)
TABLE = np.random.default_rng(0).standard_normal((11, 6))
INDEX = np.random.default_rng(1).integers(0, 11, (4, 5))


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def table(mesh, *places):
    return distribute_tensor(TABLE, mesh, places).requires_grad_(True)


# --- layouts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weight, index, out, sent_back",
    [
        (S0, R, Partial(), set()),
        (S1, R, Shard(2), set()),
        (R, S0, S0, {"all_reduce"}),
        (R, S1, S1, {"all_reduce"}),
        (R, R, R, set()),
    ],
)
def test_no_placement_of_a_table_or_an_index_sends_anything(
    ranks, weight, index, out, sent_back
):
    def body():
        mesh = line()
        x, w = distribute_tensor(INDEX, mesh, [index]), table(mesh, weight)
        with strict(), CommDebugMode() as comm:
            rows = embedding(x, w)
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(rows.placements) == [out]
        assert np.array_equal(whole(rows), TABLE[INDEX])  # exact, also as a sum
        given = np.arange(120.0).reshape(4, 5, 6)
        place = [R if out.is_partial() else out]
        grad = distribute_tensor(given, mesh, place, src_data_rank=None)
        rows = rows.redistribute(placements=place)
        with CommDebugMode() as comm:
            rows.backward(grad)
        assert set(comm.get_comm_counts()) <= sent_back
        assert w.grad.layout == w.layout
        assert np.array_equal(whole(w.grad), rows_added(given, INDEX, TABLE))

    ranks(body)


def test_a_part_of_the_table_gives_zeros_for_the_rows_of_others():
    def body():
        mesh = line()
        part = embedding(INDEX, table(mesh, S0)).to_local().detach()
        start = mesh.get_local_rank() * 6
        mine = (INDEX >= start) & (INDEX < start + 6)
        assert np.array_equal(np.asarray(part), TABLE[INDEX] * mine[..., None])

    run_ranks(2, body)


def test_rows_and_columns_and_the_index_may_be_cut_at_once():
    def body():
        mesh = init_device_mesh("cpu", (2, 2, 2))
        x = distribute_tensor(INDEX, mesh, [S0, R, R])
        w = table(mesh, R, S0, S1)
        with strict():
            rows = embedding(x, w, padding_idx=3)
        assert list(rows.placements) == [S0, Partial(), Shard(2)]
        rows.sum().backward()
        expected = rows_added(np.ones((4, 5, 6)), INDEX, TABLE, 3)
        assert np.array_equal(whole(w.grad), expected)

    run_ranks(8, body)


# --- gradients ------------------------------------------------------------------------


def test_the_gradient_is_that_of_differences():
    def fn(w, x):
        return embedding(x, w)

    gradcheck.check(fn, "d7,3 l2,4:0..7", meshes=((2,), (2, 2)), second=True)


@pytest.mark.parametrize("padding", [None, 3, -2])
def test_a_row_of_padding_gets_no_gradient_of_any_order(padding):
    w = tensor(TABLE, requires_grad=True)
    rows = embedding(INDEX, w, padding)
    (rows * rows).sum().backward()
    skipped = -1 if padding is None else padding % 11
    expected = rows_added(2 * TABLE[INDEX], INDEX, TABLE, skipped)
    np.testing.assert_allclose(np.asarray(w.grad), expected)


def test_a_gradient_can_be_divided_by_how_often_a_row_is_named(ranks):
    counts = np.bincount(INDEX.ravel(), minlength=11)
    expected = rows_added(np.ones((4, 5, 6)), INDEX, TABLE)
    expected /= np.maximum(counts, 1)[:, None]

    def body():
        for weight, index in ((R, S0), (S0, R), (S1, S1)):
            w = table(line(), weight)
            x = distribute_tensor(INDEX, line(), [index])
            embedding(x, w, scale_grad_by_freq=True).sum().backward()
            np.testing.assert_allclose(whole(w.grad), expected)

    ranks(body)


# --- norms ----------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1.0, 2.0, 3.0, np.inf])
def test_rows_that_are_named_are_scaled_to_the_greatest_norm(ranks, norm):
    index = np.array([[1, 4], [4, 10]])
    expected = TABLE.copy()
    for row in (1, 4, 10):
        size = np.linalg.norm(TABLE[row], norm)
        if size > 1.5:
            expected[row] *= 1.5 / (size + 1e-7)

    def body():
        for weight, place in ((R, S0), (S0, R), (S1, R)):
            w = table(line(), weight)
            x = distribute_tensor(index, line(), [place])
            rows = embedding(x, w, max_norm=1.5, norm_type=norm)
            np.testing.assert_allclose(whole(w), expected)
            np.testing.assert_allclose(whole(rows), expected[index])
            rows.sum().backward()
            assert w.grad is not None

    ranks(body)


# --- dtypes and errors ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f", "e", "l", "D", "?"])
def test_tables_of_any_dtype_are_read(dtype):
    values = (TABLE * 4).astype(dtype)
    rows = embedding(INDEX.astype("int32"), values)
    assert rows.dtype == np.dtype(dtype)
    assert np.array_equal(np.asarray(rows), values[INDEX])


@pytest.mark.parametrize("place", [R, S0, Partial()])
@pytest.mark.parametrize("bad", [11, -1])
def test_a_number_that_names_no_row_is_an_index_error_on_every_rank(ranks, place, bad):
    def body():
        mesh = line()
        index = np.zeros((4, 2), int)
        index[3, 1] = bad
        if place.is_partial():
            part = index if mesh.get_local_rank() == 0 else 0 * index
            given = DTensor.from_local(part, mesh, [place])
        else:
            given = distribute_tensor(index, mesh, [place])
        for weight in (R, S0, S1):
            with pytest.raises(IndexError, match="index out of range in self"):
                embedding(given, table(mesh, weight))
        assert embedding(abs(given) * 0, table(mesh, S0)).shape == (4, 2, 6)

    ranks(body)


def test_what_torch_refuses_is_refused():
    with pytest.raises(RuntimeError, match="scalar types"):
        embedding(INDEX.astype("d"), TABLE)
    with pytest.raises(RuntimeError, match="must be 2-D"):
        embedding(INDEX, TABLE[0])
    for padding in (11, -12):
        with pytest.raises(AssertionError, match="num_embeddings"):
            embedding(INDEX, TABLE, padding)
