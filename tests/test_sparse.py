"""Sparse matrices that are cut by rows, against scipy on one process."""

import itertools
import threading

import numpy as np
import pytest
import scipy.sparse as scipy_sparse
from meshes import line, square
from placed import layouts, placed
from slow import slow

import dtensor
from dtensor import DeviceMesh, DTensor, Replicate, Shard, init_device_mesh, sparse
from dtensor.debug import CommDebugMode
from dtensor.sparse import matrix  # noqa: E402
from dtensor.testing import _fault, run_ranks

SHAPES = [(9, 9), (11, 5), (4, 10), (3, 2), (1, 1), (0, 4), (5, 0), (0, 0)]
DTYPES = ["?", "b", "H", "i", "q", "Q", "f", "d", "g", "F", "D", "G"]


def whole_of(shape, dtype="d", density=0.4, seed=0):
    """A random matrix; some of its rows and columns are empty."""
    rng = np.random.default_rng((seed, *shape))
    full = rng.integers(-9, 10, shape) * (rng.random(shape) < density)
    full = full * rng.normal(size=shape) if np.dtype(dtype).kind in "fc" else full
    full = full * (1 + 2j) if np.dtype(dtype).kind == "c" else full
    full[1::3], full[:, 2::4] = 0, 0
    return scipy_sparse.csr_array(full.astype(dtype))


def sizes_of(length, n, seed):
    """How many rows each of n ranks has: any numbers, also 0."""
    cuts = np.random.default_rng((seed, length, n)).integers(0, length + 1, n - 1)
    return np.diff([0, *np.sort(cuts), length])


def block_of(whole, mesh, seed=0):
    """This rank's rows, of uneven blocks."""
    sizes = sizes_of(whole.shape[0], mesh.size(), seed)
    ends = np.cumsum(sizes)
    k = list(mesh.ranks.ravel()).index(mesh.get_rank())
    return whole[ends[k] - sizes[k] : ends[k]]


def blocked(whole, mesh, seed=0, form="csr"):
    return sparse.rows(block_of(whole, mesh, seed).asformat(form), mesh)


def vector(shape, dtype="d"):
    x = np.random.default_rng(len(shape)).integers(-5, 6, shape).astype(dtype)
    return x * x.dtype.type(0.5 + 1j) if x.dtype.kind == "c" else x


def same(got, want):
    assert isinstance(got, DTensor) and got.shape == want.shape
    assert got.dtype == want.dtype
    assert np.array_equal(got.full_tensor(), want)


def near(got, want):
    """Equal but for the order of sums."""
    assert got.shape == want.shape and got.dtype == want.dtype
    assert np.allclose(np.asarray(got.full_tensor()), want, 1e-5, 1e-5)


# --- against scipy --------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_scipys_in_every_layout(ranks, shape):
    def body():
        whole = whole_of(shape, "D")
        m, n = shape
        for mesh, seed in itertools.product((line(), square()), range(2)):
            A = blocked(whole, mesh, seed)
            assert A.shape == shape and A.nnz == whole.nnz and A.dtype == whole.dtype
            for rest in ((), (3,)):
                for placements in layouts(1 + len(rest), mesh.ndim):
                    x, full = placed(vector((n, *rest)), mesh, placements)
                    same(A @ x, whole @ full)
                    same(A.conj() @ x, whole.conj() @ full)
                    y, full = placed(vector((m, *rest)), mesh, placements)
                    near(A.T @ y, whole.T @ full)
                    near(A.H @ y, whole.conj().T @ full)

    ranks(body)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_are_scipys(ranks, dtype):
    def body():
        whole, mesh = whole_of((7, 6), dtype), line()
        A = blocked(whole, mesh)
        for other in DTYPES:
            x, full = placed(vector((6,), other), mesh, [Shard(0)])
            same(A @ x, whole @ full)
            y, full = placed(vector((7,), other), mesh, [Shard(0)])
            near(A.T @ y, whole.T @ full)

    ranks(body)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_any_format_of_scipy_makes_a_matrix(ranks, form):
    def body():
        whole = whole_of((8, 6))
        A = blocked(whole, line(), form=form)
        assert np.array_equal(A.to_scipy().toarray(), whole.toarray())
        assert np.array_equal(A.T.to_scipy().toarray(), whole.T.toarray())
        local = A.to_local()
        assert local.shape[1] == 6 and A.T.to_local().shape[0] == 6
        old = scipy_sparse.csr_matrix(whole)
        B = sparse.distribute(old, line())
        x = vector((6,))
        same(B @ x, whole @ x)
        assert (B @ x).layout.cuts is None

    ranks(body)


@pytest.mark.parametrize("shape", SHAPES)
def test_diagonals_are_scipys(ranks, shape):
    def body():
        for mesh, seed, dtype in itertools.product((line(), square()), [0, 1, 2], "D?"):
            whole = whole_of(shape, dtype, 0.9)
            A = blocked(whole, mesh, seed)
            same(A.diagonal(), whole.diagonal())
            same(A.H.diagonal(), whole.conj().T.diagonal())

    ranks(body)


def test_operands_may_be_arrays_on_either_side(ranks):
    def body():
        whole, mesh = whole_of((6, 4)), line()
        A = blocked(whole, mesh)
        left, right = vector((2, 6)), vector((4, 2))
        near(left @ A, left @ whole)
        near(left[0] @ A, left[0] @ whole)
        same(A @ right, whole @ right)
        x, full = placed(left, mesh, [Shard(1)])
        near(x @ A, full @ whole)

    ranks(body)


def test_elements_that_are_stored_twice_are_added(ranks):
    def body():
        parts = ([1.0, 2.0, 4.0], ([0, 0, 0], [1, 1, 0]))
        A = sparse.rows(scipy_sparse.coo_array(parts, (1, 2)), line())
        n = line().size()
        same(A @ np.array([1.0, 10.0]), np.full(n, 34.0))

    ranks(body)


# --- what is sent ---------------------------------------------------------------------


def total(mine):
    """The sum of the ranks' numbers."""
    each = DTensor.from_local(np.array([mine]), line(), [Shard(0)])
    return int(np.asarray(each.full_tensor()).sum())


def entries_wanted(A, x):
    """How many entries of a vector ranks need that others have."""
    needed = np.unique(A.to_local().indices)
    (start, *_), (count, *_) = x.layout.boxes()[0]
    return total(((needed < start) | (needed >= start + count)).sum())


def exchanged(body):
    """The bytes that all ranks send in a call, and the number of its collectives."""
    with CommDebugMode() as comm:
        body()
    sent = sum(comm.get_comm_bytes().values())
    return total(sent), sum(comm.get_comm_counts().values())


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_entries_that_are_needed_are_sent_once_and_no_others(ranks, density):
    def body():
        mesh = line()
        for rest, seed in itertools.product(((), (3,)), range(3)):
            whole = whole_of((40, 40), density=density, seed=seed)
            A = blocked(whole, mesh, seed)
            x, _ = placed(vector((40, *rest)), mesh, [Shard(0)])
            y = A @ x  # the ranks ask for what they need of such vectors
            width = 8 * int(np.prod(rest))
            wanted = entries_wanted(A, x) * width
            assert exchanged(lambda A=A, x=x: A @ x) == (wanted, wanted > 0)
            wanted = entries_wanted(A, y) * width
            assert exchanged(lambda A=A, y=y: A.T @ y) == (wanted, wanted > 0)

    ranks(body)


def test_a_band_matrix_sends_its_band(ranks):
    def body():
        mesh, n = line(), line().size()
        A = sparse.distribute(
            scipy_sparse.diags_array([-1, 2, -1.0], offsets=[-1, 0, 1], shape=(40, 40)),
            mesh,
        )
        x, _ = placed(vector((40,)), mesh, [Shard(0)])
        assert exchanged(lambda: A @ x) == (2 * (n - 1) * 8, n > 1)
        whole, _ = placed(vector((40,)), mesh, [Replicate()])
        assert exchanged(lambda: A @ whole) == (0, 0)

    ranks(body)


# --- gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("dtypes", ["dd", "DD", "Dd", "df", "fD"])
def test_gradients_are_those_of_the_dense_product(ranks, dtypes):
    def body():
        whole = whole_of((7, 5), dtypes[0])
        for mesh in (line(), square()):
            A = blocked(whole, mesh, 1)
            for transposed, rest in itertools.product((False, True), ((), (2,))):
                B, dense = (A.T, whole.T) if transposed else (A, whole)
                shape = (B.shape[1], *rest)
                for placements in layouts(len(shape), mesh.ndim):
                    x, _ = placed(vector(shape, dtypes[1]), mesh, placements)
                    x = x.detach().requires_grad_()
                    y = B @ x
                    weight = vector(y.shape, y.dtype)
                    (grad,) = dtensor.autograd.grad(y, x, placed_whole(weight, mesh))
                    want = dense.conj().T @ weight
                    want = want if np.dtype(dtypes[1]).kind == "c" else want.real
                    near(grad, want.astype(dtypes[1]))

    ranks(body)


def placed_whole(array, mesh):
    return placed(array, mesh, [Replicate()] * mesh.ndim)[0]


def test_leaves_get_gradients_and_second_ones(ranks):
    def body():
        whole, mesh = whole_of((6, 6)), line()
        A = blocked(whole, mesh, 1)
        for placement in (Replicate(), Shard(0)):
            x, full = placed(vector((6,)), mesh, [placement])
            x.requires_grad_()
            y = A @ x
            (y * y).sum().backward()
            near(x.grad, 2 * whole.T @ (whole @ full))
            x.grad = None
            z = A @ x
            (g,) = dtensor.autograd.grad((z * z * z).sum(), x, create_graph=True)
            (g * g).sum().backward()
            dense = whole.toarray()
            first = 3 * dense.T @ (dense @ full) ** 2
            second = 6 * dense.T @ np.diag(dense @ full) @ dense
            near(x.grad, 2 * second @ first)

    ranks(body)


def test_a_product_has_the_dialect_of_its_operand(ranks):
    def body():
        A = blocked(whole_of((4, 4)), line())
        x = placed(vector((4,)), line(), [Shard(0)])[0].as_torch()
        assert type(A @ x) is type(x) and type(A.T @ x) is type(x)

    ranks(body)


# --- bad input ------------------------------------------------------------------------


def test_bad_input_is_refused_on_all_ranks(ranks):
    def body():
        mesh = line()
        whole, me = whole_of((6, 4)), mesh.get_rank()
        A = sparse.distribute(whole, mesh)
        wrong = placed(vector((5,)), mesh, [Shard(0)])[0]
        for x in (wrong, np.ones(5), np.ones((4, 1, 1)), np.float64(3)):
            with pytest.raises(ValueError, match=r"sparse @: a matrix of shape"):
                A @ x
        with pytest.raises(TypeError, match="expected a scipy.sparse matrix"):
            sparse.rows(np.eye(3) if me == mesh.size() - 1 else whole, mesh)
        if mesh.size() > 1:
            with pytest.raises(ValueError, match="the same number of columns"):
                sparse.rows(whole if me else whole.T, mesh)
            with pytest.raises(TypeError, match="different dtypes"):
                sparse.rows(whole if me else whole.astype("f"), mesh)
        other = init_device_mesh("cpu", (1, mesh.size()))
        if mesh.size() > 1:
            with pytest.raises(ValueError, match="the matrix is on"):
                A @ dtensor.ones(4, device_mesh=other)
        with pytest.raises(RuntimeError, match="No device mesh"):
            sparse.rows(whole)
        with mesh:
            assert sparse.rows(whole).shape == (6 * mesh.size(), 4)

    ranks(body)


def test_ranks_that_multiply_other_matrices_find_out(ranks):
    def body():
        mesh = line()
        if mesh.size() == 1:
            return
        A = blocked(whole_of((6, 6)), mesh)
        B = blocked(3 * whole_of((6, 6)), mesh)
        x, _ = placed(vector((6,)), mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match="different"):
            ((A if mesh.get_rank() else B) @ x).full_tensor()

    ranks(body)


def test_a_matrix_may_be_on_some_ranks_only(ranks):
    def body():
        n = line().size()
        mesh = DeviceMesh("cpu", list(range(max(1, n - 1))))
        whole = whole_of((5, 5))
        A = sparse.distribute(whole, mesh)
        x = dtensor.ones(5, device_mesh=mesh, placements=[Shard(0)], dtype="d")
        y = A @ x
        if mesh.get_coordinate() is not None:
            same(y, whole @ np.ones(5))

    ranks(body)


@pytest.mark.parametrize(
    "kind, step",
    [("array", 1), ("memory", 1), ("reserve", 4), slow("reserve", 1)],  # 1 s for each
)
def test_memory_that_one_rank_lacks_is_an_error_on_all(kind, step):
    whole = whole_of((60, 60), density=0.3)

    def product(k, failing):
        mesh = line()
        x, _ = placed(vector((60,)), mesh, [Shard(0)])
        block = block_of(whole, mesh, 1)
        with _fault(kind, k if mesh.get_rank() == failing else 0):
            try:
                A = sparse.rows(block, mesh)
                (A.T @ (A @ x)).full_tensor()
            except MemoryError:
                return False
        return True

    ended = set()
    for k in (*range(1, 30, step), 1000):
        found = set(run_ranks(3, product, k, 1, timeout=20))
        assert len(found) == 1, k
        ended |= found
    assert True in ended and (kind == "memory" or False in ended)


class Refuses:
    """What scipy's arrays do on a rank that lacks memory."""

    T = property(lambda self: self)

    def __matmul__(self, x):
        raise MemoryError("no room for a product")


@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_that_fails_on_one_rank_fails_on_all(transposed):
    def body():
        mesh = line()
        A = blocked(whole_of((6, 6)), mesh)
        x, _ = placed(vector((6,)), mesh, [Shard(0)])
        if mesh.get_rank() == 1:
            A._blocks.block = Refuses()
        with pytest.raises(MemoryError, match="no room for a product"):
            ((A.T if transposed else A) @ x).full_tensor()

    run_ranks(3, body, timeout=20)


def test_a_block_that_fails_on_one_rank_fails_on_all(monkeypatch):
    compressed = matrix.compressed

    def refuse(block):
        if threading.current_thread().name == "rank 1":
            raise MemoryError("no room for a block")
        return compressed(block)

    def body():
        mesh = line()
        with pytest.raises(MemoryError, match="no room for a block"):
            blocked(whole_of((6, 6)), mesh)
        assert dtensor.ones(3, device_mesh=mesh).sum() == 3

    monkeypatch.setattr(matrix, "compressed", refuse)
    run_ranks(3, body, timeout=20)
