"""Factors of tall and wide matrices in parts, against NumPy; and what they send."""

import itertools

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode
from dtensor.linalg import LinAlgError
from dtensor.ops.linalg import tall_parts

la = np.linalg


@pytest.fixture(autouse=True)
def none_is_small(monkeypatch):
    """Matrices of any size are factored in parts, and parts in several blocks."""
    monkeypatch.setattr(tall_parts, "LEAST_BYTES", 1)
    monkeypatch.setattr(tall_parts, "BLOCK_BYTES", 1)


def values(shape: tuple[int, ...], dtype: str = "d", rank: int | None = None):
    rng = np.random.default_rng(sum(shape))

    def normal(*shape: int) -> np.ndarray:
        real = rng.normal(size=shape)
        kind = np.dtype(dtype).kind
        return real + 1j * rng.normal(size=shape) if kind == "c" else real

    found = normal(*shape)
    if rank is not None:
        found = normal(shape[0], rank) @ normal(rank, shape[1])
    return found.astype(dtype)


def placed(array: np.ndarray, mesh: DeviceMesh, *placements) -> DTensor:
    return distribute_tensor(array, mesh, placements, src_data_rank=None)


def whole(x: DTensor) -> np.ndarray:
    return np.asarray(x.full_tensor())


def near(got: DTensor, want: np.ndarray, scale: float = 1) -> None:
    assert got.dtype == want.dtype and got.shape == want.shape
    error = np.abs(whole(got) - want).max(initial=0)
    assert error <= 50 * np.finfo(want.dtype).eps * scale, error


def is_orthonormal(q: DTensor) -> None:
    """Of columns."""
    near(np.conj(q.mT) @ q, np.eye(q.shape[1], dtype=q.dtype))


def check(x: DTensor, array: np.ndarray) -> None:
    """All of full rank."""
    size = la.norm(array, 2)
    q, r = la.qr(x)
    near(q, la.qr(array).Q)
    near(r, la.qr(array).R, size)
    near(la.qr(x, "r"), la.qr(array, "r"), size)
    u, s, vh = la.svd(x, full_matrices=False)
    near(s, la.svdvals(array), size)
    near((u * s) @ vh, array, size)
    is_orthonormal(u)
    is_orthonormal(vh.mT)
    near(la.svdvals(x), la.svdvals(array), size)
    near(la.svd(x, compute_uv=False), la.svdvals(array), size)
    near(la.norm(x, 2), la.norm(array, 2), size)
    near(la.cond(x), np.asarray(la.cond(array)), la.cond(array))
    near(la.pinv(x), la.pinv(array), 1)
    near(la.pinv(x, rtol=None), la.pinv(array, rtol=None), 1)
    assert int(whole(la.matrix_rank(x))) == min(array.shape)
    for right in (values(array.shape[:1], "f"), values((len(array), 2), "f")):
        got, want = la.lstsq(x, right), la.lstsq(array, right)
        near(got[0], want[0], 1 + la.norm(right))
        near(got[1], want[1], 1 + la.norm(right) ** 2)
        assert int(whole(got[2])) == want[2]
        near(got[3], want[3], size)


# --- against NumPy --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_tall_and_wide_matrices_are_factored_as_numpy_does(ranks, dtype):
    def body():
        for shape in ((53, 4), (4, 53)):
            array = values(shape, dtype)
            for dim in (0, 1):
                check(placed(array, line(), Shard(dim)), array)

    ranks(body)


def test_factors_are_numpys_in_every_layout_of_two_mesh_dims(ranks):
    kinds = [Replicate(), Shard(0), Shard(1)]

    def body():
        array = values((41, 3))
        for placements in itertools.product(kinds, repeat=2):
            check(placed(array, square(), *placements), array)
            check(placed(array.T, square(), *placements), array.T)

    ranks(body)


def test_partial_and_whole_numbers_are_factored(ranks):
    def body():
        mesh = square()
        array = values((40, 3))
        rows = whole(placed(array, mesh, Shard(0), Replicate()))
        x = placed(array, mesh, Shard(0), Replicate())
        half = DTensor.from_local(
            x.to_local(), mesh, [Shard(0), Partial()], shape=array.shape
        )
        near(la.qr(half).R, la.qr(rows * mesh.size(1)).R, 50)
        whole_numbers = (10 * array).astype(int)
        near(
            la.svdvals(placed(whole_numbers, line(), Shard(0))),
            la.svdvals(whole_numbers),
            99,
        )

    ranks(body)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_factors_of_matrices_without_full_rank_are_orthonormal(ranks, rank):
    def body():
        array = values((37, 4), rank=rank)
        x = placed(array, line(), Shard(0))
        q, r = la.qr(x)
        u, s, vh = la.svd(x, False)
        for left, product in ((q, q @ r), (u, (u * s) @ vh)):
            is_orthonormal(left)
            near(product, array, 10)
        assert int(whole(la.matrix_rank(x))) == rank
        near(la.pinv(x, 1e-10), la.pinv(array, 1e-10))
        right = values((37,))
        got, want = la.lstsq(x, right), la.lstsq(array, right)
        near(got[0], want[0], 5)
        assert got[1].shape == want[1].shape and int(whole(got[2])) == rank

    ranks(body)


def test_least_squares_have_the_dtype_of_numpys_linalg(ranks):
    def body():
        for left, right in (("f", "b"), ("F", "h"), ("b", "f"), ("?", "F"), ("F", "d")):
            for shape in ((53, 4), (4, 53)):
                a = (9 * values(shape)).astype(left)
                b = (9 * values(shape[:1])).astype(right)
                got = la.lstsq(placed(a, line(), Shard(0)), b)
                want = la.lstsq(a, b)
                near(got[0], want[0], la.norm(b))
                near(got[1], want[1], 1 + la.norm(b) ** 2)
                near(got[3], want[3], la.norm(a.astype("D")))
        with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
            la.lstsq(placed(values((53, 4)), line(), Shard(0)), np.ones(53, "e"))

    ranks(body)


def test_matrices_of_whole_numbers_have_a_rank(ranks):
    def body():
        for dtype in (int, "b", "?"):
            array = np.arange(212).reshape(53, 4).astype(dtype)
            for a in (array, array.T):
                x = placed(a, line(), Shard(0))
                assert int(whole(la.matrix_rank(x))) == la.matrix_rank(a)

    ranks(body)


def test_hermitian_matrices_must_be_square(ranks):
    def body():
        for shape in ((53, 4), (4, 53)):
            x = placed(values(shape), line(), Shard(0))
            for fn in (la.svd, la.pinv, la.matrix_rank):
                with pytest.raises(LinAlgError, match="must be square"):
                    fn(x, hermitian=True)

    ranks(body)


def test_parts_with_fewer_rows_than_columns_and_none_are_factored(ranks):
    def body():
        world = _world.current()
        counts = [1, 30, 0, 2][: world.size]
        array = values((sum(counts), 5))
        if world.size == 1:
            return
        start = sum(counts[: world.rank])
        mine = array[start : start + counts[world.rank]]
        x = DTensor.from_local(mine, line(), [Shard(0)])
        check(x, array)
        assert la.qr(x).Q.to_local().shape == mine.shape

    ranks(body)


def test_upper_triangles_have_the_signs_of_lapack(ranks):
    def body():
        array = np.zeros((20, 3))
        array[:3] = np.triu(values((3, 3)))
        near(la.qr(placed(array, line(), Shard(0))).R, la.qr(array).R, 5)

    ranks(body)


def test_diagonals_of_zeros_have_the_signs_of_lapack(ranks):
    def body():
        for dtype in ("d", "F"):
            array = np.zeros((50, 3), dtype)
            array[[0, 30, 49], [0, 1, 2]] = 1, -1, 1
            for a in (array, array[::-1].copy(), array[5:].copy()):
                near(la.qr(placed(a, line(), Shard(0))).R, la.qr(a).R)

    ranks(body)


def test_full_factors_are_numpys(ranks):
    def body():
        array = values((12, 2))
        x = placed(array, line(), Shard(0))
        u, s, vh = la.svd(x)
        assert u.shape == (12, 12)
        near((u[:, :2] * s) @ vh, array, 9)
        q, r = la.qr(x, "complete")
        near(q @ r, array, 9)

    ranks(body)


def test_all_ranks_raise_what_one_finds(ranks):
    def body():
        array = values((30, 3))
        array[0, 0] = np.nan
        x = placed(array, line(), Shard(0))
        for fn in (la.svdvals, la.pinv, lambda x: la.svd(x, False)):
            with pytest.raises(LinAlgError):
                fn(x)
        with pytest.raises(LinAlgError, match="Incompatible"):
            la.lstsq(x, np.ones(29))
        with pytest.raises(LinAlgError, match="two-dimensional"):
            la.lstsq(x, np.ones((30, 1, 1)))

    ranks(body)


def test_ranks_outside_the_mesh_know_the_results():
    def body():
        mesh = DeviceMesh("cpu", [2, 0])
        array = values((30, 3))
        x = placed(array, mesh, Shard(0))
        q, r = la.qr(x)
        u, s, vh = la.svd(x, False)
        found = (q, r, u, s, vh, la.pinv(x), la.cond(x), la.lstsq(x, array[:, 0])[0])
        shapes = [y.shape for y in found]
        if mesh.get_coordinate() is not None:
            near(q @ r, array, 9)
        return shapes, [y.placements for y in found]

    first, *rest = dtensor.testing.run_ranks(3, body)
    assert all(one == first for one in rest)


def test_meta_tensors_have_the_layouts_of_results(ranks):
    def body():
        array = values((30, 3))
        x = placed(array, line(), Shard(0))
        meta = _C.without_data(x.layout)
        for fn in (la.qr, lambda x: la.svd(x, False), lambda x: la.lstsq(x, array)):
            for got, want in zip(fn(meta), fn(x), strict=True):
                assert got.device == "meta" and got.layout == want.layout
        assert la.pinv(meta).layout == la.pinv(x).layout

    ranks(body)


# --- gradients ------------------------------------------------------------------------


def total(result) -> DTensor:
    """A number that depends on all elements, and not on signs of vectors."""
    results = result if isinstance(result, tuple) else (result,)
    return sum(np.sum(np.abs(y) ** 3) for y in results if y.dtype.kind in "fc")


GRADIENTS = [
    la.qr,
    lambda x: la.qr(x, "r"),
    lambda x: la.svd(x, False),
    la.svdvals,
    la.pinv,
    la.cond,
    lambda x: la.norm(x, 2),
    lambda x: la.lstsq(x, x[:, :2] ** 2),
]


@pytest.mark.parametrize(
    "shape, dtype", [((22, 3), "d"), ((3, 22), "d"), ((22, 3), "D")]
)
def test_gradients_in_parts_are_those_of_whole_matrices(ranks, shape, dtype):
    def body():
        for fn in GRADIENTS:
            grads = []
            for placement in (Replicate(), Shard(int(shape[0] < shape[1]))):
                x = placed(values(shape, dtype), line(), placement).requires_grad_()
                total(fn(x)).backward()
                grads.append(whole(x.grad))
            assert np.allclose(*grads, rtol=1e-9, atol=1e-9)

    ranks(body)


def test_gradients_in_parts_have_gradients(ranks):
    def body():
        for fn in (la.qr, la.svdvals, la.pinv):
            grads = []
            for placement in (Replicate(), Shard(0)):
                x = placed(values((14, 2)), line(), placement).requires_grad_()
                (first,) = dtensor.autograd.grad(total(fn(x)), [x], create_graph=True)
                np.sum(first**2).backward()
                grads.append(whole(x.grad))
            assert np.allclose(*grads, rtol=1e-7, atol=1e-7)

    ranks(body)


# --- what moves -----------------------------------------------------------------------


@pytest.mark.parametrize("count", [4, 8])
def test_tall_matrices_send_a_twentieth_of_a_part(count):
    functions = [
        la.qr,
        lambda x: la.svd(x, False),
        la.svdvals,
        la.pinv,
        la.cond,
        la.matrix_rank,
        lambda x: la.lstsq(x, x[:, 0]),
    ]

    def body():
        x = placed(values((count * 3000, 8), "f"), line(), Shard(0))
        for fn in functions:
            with CommDebugMode() as comm:
                fn(x)
            part = 4 * x.size / count
            assert sum(comm.get_comm_bytes().values()) <= 0.05 * part

    dtensor.testing.run_ranks(count, body)
