"""Pictures of tensors: what is drawn, by whom, and how little is sent."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from meshes import line, square

import dtensor
from dtensor import Partial, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode

WAVE = np.sin(np.linspace(0, 20, 5000))
PLANE = np.arange(2400.0 * 30).reshape(2400, 30)


def axes():
    return Figure().add_subplot()


def drawn(x, *args, **options):
    """What is drawn, if this rank draws."""
    ax = dtensor.plot(x, *args, ax=axes(), **options)
    assert (ax is None) == (x.device_mesh.get_rank() != options.get("root", 0))
    return ax


def test_a_vector_is_a_line_of_some_elements(ranks):
    def body():
        x = distribute_tensor(WAVE, line(), [Shard(0)])
        with CommDebugMode() as comm:
            ax = drawn(x)
        assert sum(comm.get_comm_bytes().values()) <= 8 * 1000
        if ax is not None:
            (curve,) = ax.lines
            assert np.array_equal(curve.get_xdata(), np.arange(0, 5000, 5))
            assert np.array_equal(curve.get_ydata(), WAVE[::5])

    ranks(body)


def test_a_matrix_is_an_image_with_its_own_indices(ranks):
    def body():
        for placement in (Shard(0), Shard(1), Replicate()):
            x = distribute_tensor(PLANE, line(), [placement])
            ax = drawn(x, style={"cmap": "gray"}, most=500)
            if ax is not None:
                (image,) = ax.images
                assert np.array_equal(image.get_array(), PLANE[::5])
                assert image.get_extent() == [-0.5, 29.5, 2399.5, -0.5]

    ranks(body)


def test_a_histogram_counts_all_elements(ranks):
    def body():
        x = distribute_tensor(PLANE.reshape(30, 40, 60), line(), [Shard(1)])
        ax = drawn(x, most=12)
        if ax is not None:
            (stairs,) = ax.patches
            counts, edges = np.histogram(PLANE, 12)
            assert np.array_equal(stairs.get_data().values, counts)
            assert np.array_equal(stairs.get_data().edges, edges)

    ranks(body)


def test_columns_are_lines_and_another_rank_may_draw(ranks):
    def body():
        mesh = square()
        root = mesh.size() - 1
        x = distribute_tensor(PLANE[:7, :3], mesh, [Shard(0), Shard(1)])
        ax = drawn(x, "line", root=root)
        if ax is not None:
            assert [list(c.get_ydata()) for c in ax.lines] == PLANE[:7, :3].T.tolist()
        total = drawn((x + 0.0).sum(0), root=root)  # pending
        if total is not None:
            assert np.allclose(total.lines[0].get_ydata(), PLANE[:7, :3].sum(0))

    ranks(body)


def test_tensors_of_one_rank_are_drawn_and_other_dtypes():
    for dtype in (bool, "i4", "u1", "f2", "bfloat16"):
        x = dtensor.as_tensor(np.arange(5)).astype(dtype)
        want = np.asarray(x).astype("f8")
        assert np.array_equal(x.plot(ax=axes()).lines[0].get_ydata(), want)
        assert x.plot("hist", ax=axes()).patches[0].get_data().values.sum() == 5
    assert dtensor.as_tensor(2.5).plot(ax=axes()).patches
    assert dtensor.as_tensor([1.0]).requires_grad_().plot(ax=axes()).lines


def test_what_cannot_be_drawn_is_refused_on_all_ranks(ranks, monkeypatch):
    def body():
        x = distribute_tensor(PLANE, line(), [Shard(0)])
        for kind, error in (("line", ValueError), ("bars", ValueError)):
            with pytest.raises(error, match=kind):
                dtensor.plot(x, kind)
        with pytest.raises(TypeError, match="complex"):
            dtensor.plot(x * 1j)
        with pytest.raises(ValueError, match="no elements"):
            x[:0].plot()
        pending = x.sum(0)
        assert pending.placements == (Partial(),) or x.device_mesh.size() == 1
        assert float(x[0, 1]) == 1

    ranks(body)
