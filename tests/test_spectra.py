"""Eigenvalues and singular values of large matrices in parts, against LAPACK's."""

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
from dtensor.linalg import LinAlgError
from dtensor.ops.linalg import bidiagonal, conquer, deal, large, tridiagonal

la = np.linalg
S0, S1, R = Shard(0), Shard(1), Replicate()


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch):
    """Matrices of any size are taken in parts."""
    monkeypatch.setattr(large, "LEAST_BYTES", 1)
    monkeypatch.setattr(deal, "WIDTH", 10)
    monkeypatch.setattr(conquer, "SIDE", 5)
    for module in (tridiagonal, bidiagonal):
        monkeypatch.setattr(module, "WIDTH", 7)


def values(*shape: int, dtype: str = "d") -> np.ndarray:
    rng = np.random.default_rng(shape)
    found = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * rng.normal(size=shape)
    return found.astype(dtype)


def unitary(n: int, dtype: str = "d") -> np.ndarray:
    return la.qr(values(n, n, dtype="D" if dtype in "FD" else "d"))[0]


def hermitian(eigenvalues: np.ndarray, dtype: str = "d") -> np.ndarray:
    q = unitary(len(eigenvalues), dtype)
    found = (q * (eigenvalues / 2)) @ np.conj(q.T)
    return (found + np.conj(found.T)).astype(dtype)


def placed(array: np.ndarray, *placements, mesh: DeviceMesh | None = None) -> DTensor:
    mesh = mesh or line()
    return distribute_tensor(array, mesh, placements or [S0], src_data_rank=None)


def whole(x: DTensor) -> np.ndarray:
    return np.asarray(x.full_tensor())


def beside(got: np.ndarray, want: np.ndarray) -> float:
    """How far two matrices are from each other, in units of rounding."""
    scale = float(np.abs(want).max(initial=0)) or 1.0
    size = float(la.norm(want / scale)) or 1.0
    return float(la.norm(got / scale - want / scale)) / size / np.finfo(got.dtype).eps


def is_orthogonal(q: np.ndarray, known: np.ndarray) -> None:
    """Check orthogonality: at most 10 times worse than LAPACK's."""
    far, lapacks = (beside(np.conj(x.T) @ x, np.eye(x.shape[1])) for x in (q, known))
    assert far <= 10 * max(lapacks, 1), (far, lapacks)


def check_eigh(a: np.ndarray, x: DTensor, uplo: str = "L") -> None:
    got, want = la.eigh(x, uplo), la.eigh(a, uplo)
    assert type(got) is type(want)
    assert [y.dtype for y in got] == [y.dtype for y in want]
    w, v = map(whole, got)
    full = (want[1] * want[0]) @ np.conj(want[1].T)
    far, lapacks = beside((v * w) @ np.conj(v.T), full), beside(full, a)
    assert far <= 10 * max(lapacks, 1) + 10, (far, lapacks)
    assert np.all(np.diff(w) >= 0)
    is_orthogonal(v, want[1])
    largest = np.abs(want[0]).max(initial=0)
    assert np.abs(whole(la.eigvalsh(x, uplo)) - want[0]).max(initial=0) <= (
        200 * np.finfo(w.dtype).eps * largest
    )


def check_svd(a: np.ndarray, x: DTensor) -> None:
    got, want = la.svd(x, full_matrices=False), la.svd(a, full_matrices=False)
    assert type(got) is type(want)
    assert [y.dtype for y in got] == [y.dtype for y in want]
    assert [y.shape for y in got] == [y.shape for y in want]
    u, s, vh = map(whole, got)
    far, lapacks = (beside((y[0] * y[1]) @ y[2], a) for y in ((u, s, vh), want))
    assert far <= 10 * max(lapacks, 1), (far, lapacks)
    assert np.all(np.diff(s) <= 0) and np.all(s >= 0)
    is_orthogonal(u, want[0])
    is_orthogonal(np.conj(vh.T), np.conj(want[2].T))
    for found in (la.svdvals(x), la.svd(x, compute_uv=False)):
        error = np.abs(whole(found) - want[1]).max(initial=0)
        assert error <= 200 * np.finfo(s.dtype).eps * want[1].max(initial=0)


N = 34
RNG = np.random.default_rng(7)
SPECTRA = {
    "random": RNG.normal(size=N),
    "clustered": np.repeat([1.0, 2, 3], N)[::3],
    "close": 1 + 1e-9 * RNG.normal(size=N),
    "signs": RNG.choice([-1.0, 1], N),
    "half of them 0": np.repeat([0.0, 1], N // 2),
    "all 0": np.zeros(N),
    "graded": 10.0 ** np.linspace(-20, 0, N),
    "one large": np.append(np.ones(N - 1), 1e6),
    "huge": 1e37 * RNG.uniform(-1, 1, N),
    "tiny": 1e-36 * RNG.normal(size=N),
    "rank 3": np.append(np.zeros(N - 3), [1.0, 2, -3]),
    "close to 0": np.append(1e-18 * RNG.normal(size=N // 2), RNG.normal(size=N // 2)),
}

QUICK = ("random", "clustered", "half of them 0", "graded", "tiny")

# --- against LAPACK -------------------------------------------------------------------


@pytest.mark.parametrize("name", [n if n in QUICK else slow(n) for n in SPECTRA])
@pytest.mark.parametrize("dtype", ["d", slow("F")])
def test_spectra_are_as_good_as_lapacks(ranks, name, dtype):
    def body():
        a = hermitian(SPECTRA[name], dtype)
        check_eigh(a, placed(a))
        general = (a @ unitary(N, dtype)[::-1]).astype(dtype)
        check_svd(general, placed(general))

    ranks(body)


@pytest.mark.parametrize("dtype", ["f", "D"])
@pytest.mark.parametrize("n", [1, slow(2), 3, slow(9)])
def test_matrices_smaller_than_the_number_of_blocks_have_spectra(ranks, n, dtype):
    def body():
        a = hermitian(values(n), dtype)
        check_eigh(a, placed(a))
        check_svd(values(n, n, dtype=dtype), placed(values(n, n, dtype=dtype)))

    ranks(body)


@pytest.mark.parametrize("count", [slow(5), 6, slow(8)])
def test_more_ranks_find_the_same_spectra(count):
    def body():
        a = hermitian(values(61))
        check_eigh(a, placed(a))
        check_svd(values(61, 61), placed(values(61, 61)))

    dtensor.testing.run_ranks(count, body)


def test_spectra_are_the_same_in_every_layout_of_two_mesh_dims(ranks):
    def body():
        a = hermitian(values(12))
        for placements in itertools.product((S0, S1, R), repeat=2):
            check_eigh(a, placed(a, *placements, mesh=square()))
            check_svd(
                values(12, 12), placed(values(12, 12), *placements, mesh=square())
            )
        half = DTensor.from_local(a / line().size(), line(), [Partial()])
        check_eigh(a, half)

    ranks(body)


def test_only_one_triangle_is_read(ranks):
    def body():
        a = values(15, 15, dtype="D")
        for uplo in "LUlu":
            lower = np.tril(a) if uplo in "Ll" else np.conj(np.triu(a).T)
            full = np.tril(lower, -1)
            full = full + np.conj(full.T) + np.diag(np.diagonal(lower).real)
            w, v = map(whole, la.eigh(placed(a), uplo))
            assert beside((v * w) @ np.conj(v.T), full) < 200

    ranks(body)


def test_matrices_in_parts_of_any_lengths_have_spectra(ranks):
    def body():
        mesh = line()
        lengths = np.random.default_rng(5).integers(0, 12, mesh.size())
        edges = [0, *np.cumsum(lengths).tolist()]
        first = slice(*edges[mesh.get_local_rank() :][:2])

        def parts(a):
            return DTensor.from_local(np.ascontiguousarray(a[first]), mesh, [S0])

        n = edges[-1]
        a = hermitian(values(n))
        check_eigh(a, parts(a))
        for columns in (n, n + 5, n - n // 3):
            a = values(n, columns)
            check_svd(a, parts(a))

    ranks(body)


JORDAN = np.eye(20, k=1)
# Of a matrix without vectors that are far from being orthogonal, and others that are
# nearly bidiagonal, graded, or of low rank.
OTHERS = [
    JORDAN,
    JORDAN + np.eye(20),
    np.triu(values(20, 20)),
    np.tri(20) * 10.0 ** -np.arange(20),
    np.diag(10.0 ** -np.arange(0, 40, 2)) + np.eye(20, k=1) * 1e-9,
    np.outer(np.arange(20), np.ones(20)),
    np.eye(20)[::-1],
    np.vander(np.linspace(0, 1, 20)),
]


@pytest.mark.parametrize("a", OTHERS)
def test_defective_matrices_have_singular_values(ranks, a):
    ranks(lambda: check_svd(a, placed(a)))


@pytest.mark.parametrize("shape", [(31, 23), (23, 31), (45, 22), (22, 45)])
def test_matrices_that_are_not_square_have_singular_values(ranks, shape):
    def body():
        a = values(*shape)
        check_svd(a, placed(a))
        check_svd(a, placed(a, S1))

    ranks(body)


def test_what_follows_from_singular_values_is_numpys(ranks):
    def body():
        a, singular = values(21, 21), hermitian(np.arange(21.0) // 4)
        x, y = placed(a), placed(singular)
        for p in (None, 2, -2):
            assert np.isclose(whole(la.cond(x, p)), la.cond(a, p))
        assert whole(la.cond(placed(np.zeros((9, 9))))) == np.inf
        for p in (2, -2, "nuc"):
            assert np.isclose(whole(la.norm(x, p)), la.norm(a, p))
        assert whole(la.matrix_rank(x)) == 21 and whole(la.matrix_rank(y)) == 17
        assert whole(la.matrix_rank(y, tol=2.5)) == la.matrix_rank(singular, tol=2.5)
        assert la.matrix_rank(y).dtype == la.matrix_rank(singular).dtype
        assert np.allclose(whole(la.pinv(x)), la.pinv(a))
        for how in ({"rcond": 1e-10}, {"rtol": 0.3}, {"rtol": 1e-9, "hermitian": True}):
            assert np.allclose(whole(la.pinv(y, **how)), la.pinv(singular, **how))
        assert np.allclose(whole(la.pinv(placed(a[:17]))), la.pinv(a[:17]))

    ranks(body)


# --- failing --------------------------------------------------------------------------


def fails() -> None:
    a = np.eye(9)
    a[4, 3] = np.nan
    x = placed(a)
    for fn in (la.eigh, la.eigvalsh):
        with pytest.raises(LinAlgError, match="Eigenvalues did not converge"):
            fn(x)
    for fn in (la.svd, la.svdvals, la.cond, la.pinv, la.matrix_rank):
        with pytest.raises(LinAlgError, match="SVD did not converge"):
            fn(x)


@pytest.mark.parametrize("count", [2, 4])
def test_all_ranks_raise_where_there_is_a_nan(count):
    dtensor.testing.run_ranks(count, fails)


def test_ranks_outside_the_mesh_know_the_results():
    def body():
        x = placed(hermitian(values(17)), S0, mesh=DeviceMesh("cpu", [2, 0]))
        results = [la.eigh(x), la.svd(x), la.qr(x), la.slogdet(x)]
        found = [y for result in results for y in result]
        found += [la.eigvalsh(x), la.svdvals(x), la.cond(x), la.matrix_rank(x)]
        found += [la.pinv(x), la.norm(x, "nuc")]
        names = [type(result).__name__ for result in results]
        return names, [(y.shape, y.placements, y.dtype) for y in found]

    first, *rest = dtensor.testing.run_ranks(3, body)
    assert first[0] == ["EighResult", "SVDResult", "QRResult", "SlogdetResult"]
    assert all(one == first for one in rest)


def test_meta_tensors_have_the_layouts_of_results(ranks):
    def body():
        x = placed(hermitian(values(20)))
        meta = _C.without_data(x.layout)
        for fn in (la.eigvalsh, la.svdvals, la.cond, la.matrix_rank, la.pinv):
            assert fn(meta).layout == fn(x).layout
        for fn in (la.eigh, la.svd):
            pairs = zip(fn(meta), fn(x), strict=True)
            assert all(got.layout == want.layout for got, want in pairs)

    ranks(body)


# --- gradients ------------------------------------------------------------------------


def projector(x):
    """What does not depend on the signs of vectors."""
    w, v = la.eigh(x + np.conj(x.mT))
    return (v * np.exp(w / 9)) @ np.conj(v.mT)


def polar(x):
    u, _, vh = la.svd(x)
    return u @ vh * np.arange(144.0).reshape(12, 12)


GRADIENTS = [
    projector,
    lambda x: la.eigvalsh(x + np.conj(x.mT)) ** 3,
    polar,
    lambda x: la.svdvals(x) ** 3,
    lambda x: la.norm(x, "nuc"),
    lambda x: la.norm(x, 2),
    la.cond,
    la.pinv,
]


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_gradients_in_parts_are_those_of_whole_matrices(ranks, dtype):
    def body():
        for fn in GRADIENTS:
            grads = []
            for placement in (R, S0):
                array = values(12, 12, dtype=dtype) + 5 * np.eye(12)
                x = placed(array, placement).requires_grad_()
                np.sum(np.abs(fn(x)) ** 2).backward()
                grads.append(whole(x.grad))
            scale = np.abs(grads[0]).max()
            assert np.allclose(*grads, rtol=1e-9, atol=1e-9 * scale)

    ranks(body)


# --- what is kept ---------------------------------------------------------------------


@pytest.mark.parametrize("fn", [la.eigh, slow(la.svd)])
def test_no_rank_holds_more_than_ten_parts(monkeypatch, fn):
    a = hermitian(values(600))

    def body():
        x = placed(a)
        _C._count_memory(True)
        try:
            fn(x)
        finally:
            most = _C._count_memory(False)
        return most / (a.nbytes / 8)

    parts = dtensor.testing.run_ranks(8, body)
    assert 1 < max(parts) <= 10, parts


@pytest.mark.parametrize("dtype", ["d", "F"])
def test_reflections_that_are_not_kept_are_sent_again(monkeypatch, ranks, dtype):
    for module in (tridiagonal, bidiagonal):
        monkeypatch.setattr(module, "KEPT", 0.2)

    def body():
        a = hermitian(values(N), dtype)
        check_eigh(a, placed(a))
        general = values(N + 3, N, dtype=dtype)
        check_svd(general, placed(general))

    ranks(body)


@pytest.mark.parametrize("count", [2, 5])
def test_all_ranks_have_the_same_bits(count):
    def body():
        a = values(40, 40)
        return [
            whole(x).tobytes()
            for x in (
                la.eigvalsh(placed(a)),
                la.eigh(placed(a))[0],
                la.svdvals(placed(a)),
                la.svd(placed(a))[1],
            )
        ]

    first, *rest = dtensor.testing.run_ranks(count, body)
    assert all(one == first for one in rest)
