"""Factors of large matrices in parts, block by block, against NumPy."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from slow import slow

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
from dtensor.debug import CommDebugMode
from dtensor.linalg import LinAlgError
from dtensor.ops.linalg import deal, householder, large, panels

la = np.linalg
S0, S1, R = Shard(0), Shard(1), Replicate()
WIDTH = deal.WIDTH


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    """Matrices of any size are factored in parts, in several narrow blocks."""
    monkeypatch.setattr(large, "LEAST_BYTES", 1)
    monkeypatch.setattr(deal, "WIDTH", 5)
    monkeypatch.setattr(panels, "TILE", (7, 6))
    monkeypatch.setattr(panels, "NARROW", 2)
    monkeypatch.setattr(panels, "NARROW_COMPLEX", 2)


def values(*shape: int, dtype: str = "d") -> np.ndarray:
    rng = np.random.default_rng(shape)
    found = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * rng.normal(size=shape)
    return found.astype(dtype)


def positive(n: int, dtype: str = "d") -> np.ndarray:
    a = values(n, n, dtype=dtype)
    return a @ np.conj(a.T) + n * np.eye(n, dtype=dtype)


def placed(array: np.ndarray, mesh: DeviceMesh, *placements) -> DTensor:
    return distribute_tensor(array, mesh, placements, src_data_rank=None)


def whole(x: DTensor) -> np.ndarray:
    return np.asarray(x.full_tensor())


def is_near(got: DTensor, want: np.ndarray, scale: float = 1) -> None:
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    error = np.abs(whole(got) - want).max(initial=0)
    assert error <= 500 * np.finfo(want.dtype).eps * scale, error


def check(place, n: int, dtype: str = "d") -> None:
    """All functions, by what their results must satisfy."""
    spd, a = positive(n, dtype), values(n, n, dtype=dtype)
    for upper in (False, True):
        lower = la.cholesky(place(spd), upper=upper)
        is_near(lower, la.cholesky(spd, upper=upper), n)
    q, r = la.qr(place(a))
    size = la.norm(a, 2)
    is_near(q @ r, a, size)
    is_near(np.conj(q.mT) @ q, np.eye(n, dtype=dtype))
    is_near(r, la.qr(a).R, size * la.cond(a))
    assert not np.tril(whole(r), -1).any()
    sign, logarithm = la.slogdet(place(a))
    want = la.slogdet(a)
    is_near(sign, want[0], 10)
    is_near(logarithm, want[1], 10 + abs(want[1]))
    near_one = spd / (2 * n)
    is_near(la.det(place(near_one)), la.det(near_one), n * la.det(near_one).real)
    for b in (values(n, dtype=dtype), values(n, 3, dtype=dtype)):
        x = la.solve(place(a), b)
        residual = np.abs(a @ whole(x) - b).max(initial=0)
        growth = la.norm(a, 2) * np.abs(whole(x)).max(initial=0) + 1
        assert residual <= 50 * np.finfo(dtype).eps * growth
    inverse = la.inv(place(a))
    is_near(place(a) @ inverse, np.eye(n, dtype=dtype), la.cond(a))


# --- against NumPy --------------------------------------------------------------------


@pytest.mark.parametrize(
    "n, dtype", [(1, "d"), (7, "F"), (22, "f"), (53, "d"), (31, "D")]
)
def test_square_matrices_are_factored_as_numpy_does(ranks, n, dtype):
    def body():
        check(lambda a: placed(a, line(), S0), n, dtype)

    ranks(body)


def test_factors_are_numpys_in_every_layout_of_two_mesh_dims(ranks):
    def body():
        for placements in itertools.product((S0, S1, R), repeat=2):
            check(lambda a, p=placements: placed(a, square(), *p), 12)

    ranks(body)


@pytest.mark.parametrize("kept", [householder.KEPT, 1, 0])
@pytest.mark.parametrize("shape", [(31, 23), (23, 31)])
def test_matrices_that_are_not_square_have_qr_factors(ranks, monkeypatch, shape, kept):
    monkeypatch.setattr(householder, "KEPT", kept)

    def body():
        a = values(*shape)
        x = placed(a, line(), S0)
        q, r = la.qr(x)
        is_near(q @ r, a, 10)
        is_near(q, la.qr(a).Q, la.cond(a))
        is_near(la.qr(x, "r"), la.qr(a).R, 10 * la.cond(a))

    ranks(body)


def test_parts_of_any_lengths_have_the_same_factors(ranks):
    def body():
        mesh = line()
        lengths = np.random.default_rng(5).integers(0, 14, mesh.size())
        edges = [0, *np.cumsum(lengths).tolist()]
        first = slice(*edges[mesh.get_local_rank() :][:2])

        def parts(a):
            return DTensor.from_local(np.ascontiguousarray(a[first]), mesh, [S0])

        check(parts, edges[-1])

    ranks(body)


def test_parts_in_another_order_have_the_same_factors(ranks):
    def body():
        mesh = square()
        parts = _C._StridedShard(0, split_factor=mesh.size(1))
        for placements in ((parts, S0), (parts, R), (R, parts)):
            check(lambda a, p=placements: placed(a, mesh, *p), 22)

    ranks(body)


def test_right_sides_in_any_layout_give_the_same_solution(ranks):
    def body():
        a, b = values(19, 19), values(19, 7)
        want = la.solve(a, b)
        x = placed(a, line(), S0)
        half = DTensor.from_local(b / line().size(), line(), [Partial()])
        sides = [*(placed(b, line(), p) for p in (R, S0, S1)), half, b]
        for side in sides:
            is_near(la.solve(x, side), want, la.cond(a))
            is_near(la.solve(x, side[:, 0]), want[:, 0], la.cond(a))

    ranks(body)


def test_matrices_of_whole_numbers_are_factored(ranks):
    def body():
        a = (9 * values(20, 20)).astype(int)
        x = placed(a, line(), S0)
        is_near(la.solve(x, a[0]), la.solve(a, a[0]), la.cond(a))
        assert whole(la.matrix_rank(x)) == la.matrix_rank(a)

    ranks(body)


def test_solutions_have_the_dtype_of_numpys_linalg(ranks):
    def body():
        for left, right in (("f", "b"), ("F", "h"), ("f", "?"), ("b", "F"), ("F", "d")):
            a, b = (9 * values(20, 20)).astype(left), (9 * values(20, 3)).astype(right)
            is_near(la.solve(placed(a, line(), S0), b), la.solve(a, b), la.cond(a))

    ranks(body)


def test_of_hermitian_matrices_one_triangle_is_read(ranks):
    def body():
        a = np.tril(values(20, 20)) + np.triu(np.ones((20, 20)), 1)
        x = placed(a, line(), S0)
        size, how = la.norm(a), {"hermitian": True}
        is_near(la.svd(x, **how).S, la.svd(a, **how).S, size)
        for full in (False, True):
            u, s, vh = la.svd(x, full, **how)
            is_near((u * s) @ vh, np.tril(a) + np.tril(a, -1).T, size)
        is_near(la.svd(x, compute_uv=False, **how), la.svd(a, **how).S, size)
        want = la.pinv(a, **how)
        is_near(la.pinv(x, **how), want, size * la.norm(want) ** 2)
        is_near(la.pinv(x, rtol=None, **how), want, size * la.norm(want) ** 2)
        rank = la.matrix_rank(a, 1.0, hermitian=True)
        assert whole(la.matrix_rank(x, 1.0, hermitian=True)) == rank

    ranks(body)


def test_graded_matrices_are_solved_as_well_as_by_lapack(ranks):
    def body():
        a = values(40, 40) * 10.0 ** np.linspace(-9, 9, 40)
        b = values(40)
        x, known = la.solve(placed(a, line(), S0), b), la.solve(a, b)
        errors = [
            la.norm(a @ y - b) / (la.norm(a, 2) * la.norm(y)) for y in (whole(x), known)
        ]
        assert errors[0] <= 10 * max(errors[1], np.finfo("d").eps)

    ranks(body)


# --- failing --------------------------------------------------------------------------


def fails(x_of) -> None:
    singular = values(23, 23)
    singular[:, 11] = 0
    for fn in (la.inv, lambda x: la.solve(x, np.ones(23))):
        with pytest.raises(LinAlgError, match="Singular"):
            fn(x_of(singular))
    assert whole(la.det(x_of(singular))) == 0
    assert whole(la.slogdet(x_of(singular)).logabsdet) == -np.inf
    negative = positive(23)
    negative[17, 17] = -1
    with pytest.raises(LinAlgError, match="positive definite"):
        la.cholesky(x_of(negative))


def test_all_ranks_raise_what_one_finds(ranks):
    ranks(lambda: fails(lambda a: placed(a, line(), S0)))


def test_ranks_outside_the_mesh_know_the_results():
    def body():
        mesh = DeviceMesh("cpu", [2, 0])
        a = placed(positive(17), mesh, S0)
        found = (*la.qr(a), la.cholesky(a), la.inv(a), la.solve(a, np.ones(17)))
        found = (*found, la.det(a), *la.slogdet(a))
        return [(y.shape, y.placements, y.dtype) for y in found]

    first, *rest = dtensor.testing.run_ranks(3, body)
    assert all(one == first for one in rest)


def test_meta_tensors_have_the_layouts_of_results(ranks):
    def body():
        x = placed(positive(20), line(), S0)
        meta = _C.without_data(x.layout)
        b = np.ones((20, 2))
        for fn in (la.cholesky, la.inv, la.det, lambda x: la.solve(x, b)):
            assert fn(meta).layout == fn(x).layout
        for fn in (la.qr, la.slogdet):
            pairs = zip(fn(meta), fn(x), strict=True)
            assert all(got.layout == want.layout for got, want in pairs)

    ranks(body)


# --- gradients ------------------------------------------------------------------------


def symmetric(x):
    return x @ np.conj(x.mT) + 9 * np.eye(x.shape[0])


GRADIENTS = [
    lambda x: la.cholesky(symmetric(x)),
    lambda x: la.cholesky(symmetric(x), upper=True),
    la.inv,
    la.det,
    lambda x: la.slogdet(x)[1],
    lambda x: la.solve(x, x[:, :3] ** 2),
    lambda x: la.solve(x, x[0]),
    lambda x: la.qr(x)[0] + la.qr(x, "r"),
]


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_gradients_in_parts_are_those_of_whole_matrices(ranks, dtype):
    def body():
        for fn in GRADIENTS:
            grads = []
            for placement in (R, S0):
                array = values(12, 12, dtype=dtype) + 5 * np.eye(12)
                x = placed(array, line(), placement).requires_grad_()
                np.sum(np.abs(fn(x)) ** 2).backward()
                grads.append(whole(x.grad))
            scale = np.abs(grads[0]).max()
            assert np.allclose(*grads, rtol=1e-9, atol=1e-9 * scale)

    ranks(body)


def test_determinants_have_gradients_in_parts_unless_they_are_0(ranks):
    def body():
        for array in (values(9, 9), np.diag([0.0, *range(1, 9)])):
            grads = []
            for placement in (R, S0):
                x = placed(array, line(), placement).requires_grad_()
                la.det(x).backward()
                grads.append(whole(x.grad))
            assert np.allclose(*grads, atol=1e-9 * np.abs(grads[0]).max())

    ranks(body)


# --- what is sent, kept and done ------------------------------------------------------


@pytest.mark.parametrize("count", [5, slow(6), slow(8), slow(12)])
def test_grids_of_more_ranks_have_the_same_factors(count):
    def body():
        check(lambda a: placed(a, line(), S0), 29)
        fails(lambda a: placed(a, line(), S0))

    dtensor.testing.run_ranks(count, body)


@pytest.mark.parametrize("count", [2, 4, 6, 8, 16])
def test_no_rank_of_a_grid_has_much_more_work_than_the_mean(monkeypatch, count):
    monkeypatch.setattr(deal, "WIDTH", WIDTH)

    def body(flat):
        like = _C.Layout(line(), [S0], (3000, 3000), np.float64)
        grid = deal.Deal(like, flat)
        rows, columns = grid.rows[grid.i], grid.columns[grid.j]
        of_lu = of_cholesky = 0
        for start, stop, _ in grid.blocks:
            down, along = rows[rows >= stop], columns[columns >= stop]
            of_lu += (stop - start) * len(down) * len(along)
            below = np.searchsorted(along, down, "right").sum()
            of_cholesky += (stop - start) * int(below)
        return of_lu, of_cholesky

    for flat in (1, 2):
        found = dtensor.testing.run_ranks(count, body, flat)
        for work in zip(*found, strict=True):
            assert max(work) <= 1.3 * sum(work) / len(work)


# ranks -> parts that a rank sends: the matrix once to be dealt, and each block of a
# factor to the other ranks of a row and of a column of the grid; the factor once. Of
# what is symmetric or triangular, half of it. For qr products with reflections, too.
SENT = {4: (1.7, 1.8, 3.9), 8: (3, 3.2, 6.5), 16: (4.1, 4.3, 10)}


@pytest.mark.parametrize("count", [4, slow(8), slow(16)])
def test_factors_send_a_few_parts_on_any_number_of_ranks(monkeypatch, count):
    monkeypatch.setattr(deal, "WIDTH", WIDTH)
    n = 1000
    spd, a, b = positive(n), values(n, n), values(n)

    def body():
        sent = []
        for array, fn in (
            (spd, la.cholesky),
            (a, lambda x: la.solve(x, b)),
            (a, la.qr),
        ):
            x = placed(array, line(), S0)
            with CommDebugMode() as comm:
                fn(x)
            sent.append(sum(comm.get_comm_bytes().values()) * count / a.nbytes)
        return sent

    for name, of_ranks, most in zip(
        ("cholesky", "solve", "qr"),
        zip(*dtensor.testing.run_ranks(count, body), strict=True),
        SENT[count],
        strict=True,
    ):
        assert max(of_ranks) <= most, (name, of_ranks)


@pytest.mark.validate
@pytest.mark.parametrize("count, most", [(4, 3.6), (8, 6), (16, 8.2)])
def test_an_inverse_sends_each_column_and_each_row_once(monkeypatch, count, most):
    monkeypatch.setattr(deal, "WIDTH", WIDTH)
    a = values(1000, 1000)

    def body():
        x = placed(a, line(), S0)
        with CommDebugMode() as comm:
            la.inv(x)
        return sum(comm.get_comm_bytes().values()) * count / a.nbytes

    assert max(dtensor.testing.run_ranks(count, body)) <= most
