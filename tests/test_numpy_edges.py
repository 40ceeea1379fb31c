"""Numbers given as tensors of no dims, lists that hold them, and keywords of ufuncs."""

import numpy as np
import pytest
from meshes import line, square

from dtensor import DTensor, Replicate, Shard, distribute_tensor, halo, map_overlap
from dtensor.debug import CommDebugMode
from dtensor.ops._make import routes

pytestmark = pytest.mark.filterwarnings("error")  # also those of gathers

A = np.arange(35.0).reshape(5, 7) - 9
Z = A[:3, :5] + 1j * A[2:, 2:]
STACKS = np.random.default_rng(0).normal(size=(2, 5, 4, 3))


def whole(value):
    """The values of tensors, also in lists."""
    if isinstance(value, list | tuple):
        return [whole(part) for part in value]
    return np.asarray(value.full_tensor() if isinstance(value, DTensor) else value)


def is_same(got, want):
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        return all(map(is_same, got, want))
    want = np.asarray(want)
    close = np.allclose(got, want, rtol=1e-12, equal_nan=True)
    return got.dtype == want.dtype and got.shape == want.shape and close


def layouts(array):
    """The array whole, and cut along each of its dims."""
    mesh = line()
    for place in [Replicate(), *map(Shard, range(array.ndim))]:
        yield distribute_tensor(array, mesh, [place])


def check(call, *arrays):
    """Compare with NumPy: results, or the type of the exception."""
    for tensors in zip(*map(list, map(layouts, arrays)), strict=True):
        with np.errstate(all="ignore"):
            try:
                want = call(*arrays)
            except Exception as error:
                with pytest.raises(type(error)):
                    call(*tensors)
                continue
            assert is_same(whole(call(*tensors)), want)


# Of a matrix and three numbers, which are 3, the least and the largest element.
NUMBERS = {
    "bincount": lambda x, k, lo, hi: np.bincount(np.abs(x[0]).astype(int), None, k * 9),
    "bincount of few": lambda x, k, lo, hi: np.bincount([0, 1], minlength=k),
    "histogram": lambda x, k, lo, hi: np.histogram(x, 4, range=(lo, hi)),
    "histogram of k": lambda x, k, lo, hi: np.histogram(x, k, [lo / 2, hi]),
    "of a density": lambda x, k, lo, hi: np.histogram(x, k, (lo, hi), density=True),
    "edges": lambda x, k, lo, hi: np.histogram_bin_edges(x, k, (lo, hi)),
    "edges by a rule": lambda x, k, lo, hi: np.histogram_bin_edges(x, "fd", (lo, 9)),
    "histogram2d": lambda x, k, lo, hi: np.histogram2d(
        x[0], x[1], k, ((lo, hi), (lo, 9))
    ),
    "histogramdd": lambda x, k, lo, hi: np.histogramdd(
        [x[0], x[1]], (k, 4), [(lo, hi), None]
    ),
    "linspace": lambda x, k, lo, hi: np.linspace(lo, hi, k),
    "linspace of rows": lambda x, k, lo, hi: np.linspace(x[0], x[1], k),
    "linspace and step": lambda x, k, lo, hi: np.linspace(lo, hi, k, retstep=True),
    "geomspace": lambda x, k, lo, hi: np.geomspace(lo + 10, hi, num=k),
    "logspace": lambda x, k, lo, hi: np.logspace(lo / 9, hi / 9, k),
    "split": lambda x, k, lo, hi: np.split(x[:3], k),
    "split unevenly": lambda x, k, lo, hi: np.split(x, k, axis=1),
    "array_split": lambda x, k, lo, hi: np.array_split(x, k, axis=1),
    "split at": lambda x, k, lo, hi: np.split(x, [1, k]),
    "split at an array": lambda x, k, lo, hi: np.array_split(
        x, x[2, 4:6].astype(int) - 8, axis=1
    ),
    "hsplit": lambda x, k, lo, hi: np.hsplit(x[:, :6], k),
    "tile": lambda x, k, lo, hi: np.tile(x, k),
    "tile of two": lambda x, k, lo, hi: np.tile(x, (k, 2)),
    "tile of a float": lambda x, k, lo, hi: np.tile(x, (hi, 2)),
    "pad": lambda x, k, lo, hi: np.pad(x, k),
    "pad of two": lambda x, k, lo, hi: np.pad(x, (k, 1), "edge"),
    "pad of four": lambda x, k, lo, hi: np.pad(x, ((k, 1), (0, k))),
    "pad with v": lambda x, k, lo, hi: np.pad(x, 1, constant_values=lo),
    "pad with both": lambda x, k, lo, hi: np.pad(x, k, constant_values=(lo, hi)),
    "pad by a float": lambda x, k, lo, hi: np.pad(x, hi),
    "reshape": lambda x, k, lo, hi: np.reshape(x[:3], (-1, k)),
    "method reshape": lambda x, k, lo, hi: x[:3].reshape(k, -1),
    "method reshape to a pair": lambda x, k, lo, hi: x[:3].reshape((k, -1)),
    "reshape to what does not fit": lambda x, k, lo, hi: x.reshape(k, -1),
    "windows": lambda x, k, lo, hi: np.lib.stride_tricks.sliding_window_view(x[0], k),
    "windows of two": lambda x, k, lo, hi: np.lib.stride_tricks.sliding_window_view(
        x, (2, k)
    ),
    "interp": lambda x, k, lo, hi: np.interp(x, (lo, hi), (0, 1)),
    "interp by name": lambda x, k, lo, hi: np.interp(x, xp=[lo, hi], fp=[0, k]),
    "outer": lambda x, k, lo, hi: np.outer([1, hi], x[0]),
    "dot": lambda x, k, lo, hi: np.dot([lo, lo, k, hi, hi], x),
    "dot that does not fit": lambda x, k, lo, hi: np.dot(x, [lo, hi]),
    "inner": lambda x, k, lo, hi: np.inner(x[:, :2], [lo, hi]),
    "tensordot": lambda x, k, lo, hi: np.tensordot(x[:, :2], [lo, hi], 1),
    "cross": lambda x, k, lo, hi: np.cross(x[:, :3], [hi, k, 0], axis=-1),
    "kron": lambda x, k, lo, hi: np.kron(x, [hi, 1]),
    "searchsorted": lambda x, k, lo, hi: np.searchsorted(x[0], [k, -k], side="right"),
    "digitize": lambda x, k, lo, hi: np.digitize(x, [lo, 0, hi]),
    "matmul": lambda x, k, lo, hi: np.matmul(x[:, :2], [lo, hi]),
    "add": lambda x, k, lo, hi: x[:, :2] + [lo, 1],
    "power": lambda x, k, lo, hi: np.power(x[:, :2], [2, k]),
    "maximum": lambda x, k, lo, hi: np.maximum((k, 1), x[:, :2]),
    "where": lambda x, k, lo, hi: np.where(x[:, :2] > 0, [lo, 1], x[:, 1:3]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_tensors_of_no_dims_are_numbers_where_numpy_takes_those(ranks, name):
    def call(x):
        return NUMBERS[name](x, (x[1, 5] * 0 + 3).astype(int), x.min(), x.max())

    ranks(lambda: check(call, A))


def test_lists_of_tensors_have_gradients_and_are_written_into_out(ranks):
    def body():
        for x in layouts(A):
            x.requires_grad_()
            (x.min() * 2 + np.outer([1.0, x.max()], x[0]).sum()).backward()
            want = np.zeros_like(A)
            want[0] += 1 + A.max()
            want[-1, -1] += A[0].sum()
            want[0, 0] += 2
            assert np.allclose(whole(x.grad), want)
            out = np.zeros_like(x.detach()[:, :2])
            assert np.add(x.detach()[:, :2], [x.detach().max(), 1], out=out) is out
            assert np.array_equal(whole(out), A[:, :2] + [A.max(), 1])

    ranks(body)


def test_complex_numbers_are_padded_with_complex_ones(ranks):
    ranks(lambda: check(lambda z: np.pad(z, 2, constant_values=1j), Z))


def test_the_path_of_einsum_needs_only_shapes(ranks):
    def body():
        for x in layouts(A):
            with CommDebugMode() as comm:
                got = np.einsum_path("ij,kj,kl->il", x, x, x, optimize="optimal")
            assert comm.get_total_counts() == 0
            assert got == np.einsum_path("ij,kj,kl->il", A, A, A, optimize="optimal")

    ranks(body)


# --- numpy.emath ----------------------------------------------------------------------

EMATH = {
    **{
        name: getattr(np.emath, name)
        for name in "sqrt log log2 log10 arccos arcsin arctanh".split()
    },
    "logn": lambda x: np.emath.logn(2, x),
    "logn of negative bases": lambda x: np.emath.logn(x, x),
    "power": lambda x: np.emath.power(x, 2),
    "negative powers": lambda x: np.emath.power(x, -2),
    "powers of a list": lambda x: np.emath.power(x, [1.5, 2, 3, -1, 0, 1, 2]),
    "powers of a number": lambda x: np.emath.power(-2, x),
}
VALUES = {
    "positive": np.abs(A) + 1,
    "negative": A,
    "less than one": A / 40 + 0.3,
    "integers": A.astype(np.int16),
    "single": A.astype(np.float32),
    "bytes": np.abs(A).astype(np.uint8) + np.uint8(1),
    "complex": A + 1j,
    "booleans": A > 0,
}


@pytest.mark.parametrize("name", EMATH)
def test_emath_is_complex_where_any_element_needs_it(ranks, name):
    def body():
        for values in VALUES.values():
            check(EMATH[name], values)
        for x in layouts(np.abs(A) + 2):
            assert EMATH[name](x).placements == x.placements

    ranks(body)


def test_emath_has_a_gradient(ranks):
    def body():
        for x in layouts(np.abs(A) + 1):
            x.requires_grad_()
            np.emath.sqrt(x).sum().backward()
            assert np.allclose(whole(x.grad), 0.5 / np.sqrt(np.abs(A) + 1))

    ranks(body)


# --- ufuncs ---------------------------------------------------------------------------

FLOATS = [np.fmax, np.fmin, np.logaddexp, np.logaddexp2, np.hypot, np.logical_xor]
INTEGERS = [np.bitwise_xor, np.bitwise_and, np.bitwise_or, np.gcd, np.lcm, np.subtract]
AXES = [None, (0, 1), (2, 0), (1, 2), ()]


@pytest.mark.parametrize("axis", AXES, ids=str)
def test_ufuncs_reduce_several_axes(ranks, axis):
    numbers = (STACKS[0] * 9).astype(int)

    def body():
        for ufuncs, values in ((FLOATS, STACKS[0]), (INTEGERS, numbers)):
            for ufunc in ufuncs:
                check(lambda x, ufunc=ufunc: ufunc.reduce(x, axis), values)
                check(lambda x, ufunc=ufunc: ufunc.reduce(x[:0], axis), values)
                check(
                    lambda x, ufunc=ufunc: ufunc.reduce(x, axis, keepdims=True), values
                )
        for places in ([Shard(0), Shard(1)], [Shard(2), Shard(0)]):
            x = distribute_tensor(STACKS[0], square(), places)
            got = whole(np.logaddexp.reduce(x, axis))
            assert np.allclose(got, np.logaddexp.reduce(STACKS[0], axis))

    ranks(body)


@pytest.mark.parametrize("ufunc", [np.fmax, np.logaddexp], ids=lambda f: f.__name__)
def test_a_reduction_to_a_number_sends_numbers_and_has_a_gradient(ranks, ufunc):
    def body():
        values = np.linspace(0, 1, 20_000).reshape(200, 100)
        for x in layouts(values):
            with CommDebugMode() as comm:
                ufunc.reduce(x, None)
            assert sum(comm.get_comm_bytes().values()) < 1000
            x.requires_grad_()
            ufunc.reduce(x, None).backward()
            top, parts = values == values.max(), np.exp(values)
            want = top if ufunc is np.fmax else parts / parts.sum()
            assert np.allclose(whole(x.grad), want)

    ranks(body)


COMPLEX = (STACKS[0] + 1j, STACKS[1, :, :3] - 2j)
PRODUCTS = {
    "matmul": lambda a, b: np.matmul(a, b, axes=[(1, 2), (1, 2), (0, 1)]),
    "elsewhere": lambda a, b: np.matmul(a, b, axes=[(0, 1), (2, 0), (0, 2)]),
    "a vector": lambda a, b: np.matmul(a, b[0, :, 0], axes=[(1, 2), (0,), (1,)]),
    "two vectors": lambda a, b: np.matmul(a[0, 0], b[0, 0], axes=[0, 0]),
    "lengths that differ": lambda a, b: np.matmul(a, b, axes=[(0, 1)] * 3),
    "no result": lambda a, b: np.matmul(a, b, axes=[(0, 1), (0, 1)]),
    "no such axis": lambda a, b: np.matmul(a, b, axes=[(0, 9), (0, 1), (0, 1)]),
    "no axes": lambda a, b: np.matmul(a, b, axes=3),
    "no axis": lambda a, b: np.matmul(a, b, axis=0),
    "kept dims": lambda a, b: np.matmul(a, b, keepdims=True),
    "dtype": lambda a, b: np.matmul(
        a, b, axes=[(1, 2), (1, 2), (0, 1)], dtype=complex, casting="no"
    ),
    "vecdot": lambda a, b: np.vecdot(a, a, axes=[0, 0]),
    "vecdot of others": lambda a, b: np.vecdot(a[0], b, axes=[(1,), (1,), ()]),
    "vecdot, kept": lambda a, b: np.vecdot(a, a, axis=1, keepdims=True),
    "vecdot, kept at": lambda a, b: np.vecdot(a, a, axes=[0, 0, 2], keepdims=True),
    "vecdot, kept last": lambda a, b: np.vecdot(a, a, axes=[0, 0], keepdims=True),
    "vecdot, both": lambda a, b: np.vecdot(a, a, axes=[0, 0], axis=1),
    "matvec": lambda a, b: np.matvec(a, b[:, 0, 0], axes=[(1, 0), 0, 1]),
    "vecmat": lambda a, b: np.vecmat(b[:, 0, 0], a, axes=[0, (0, 2), 0]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_take_the_axes_of_vectors_and_matrices(ranks, name):
    ranks(lambda: check(PRODUCTS[name], *COMPLEX))


def test_products_along_axes_have_gradients_and_are_written_into_out(ranks):
    def body():
        values = STACKS[0]
        for x in layouts(values):
            out = distribute_tensor(np.zeros((1, 4, 3)), line(), [Shard(1)])
            assert np.vecdot(x, x, axis=0, keepdims=True, out=out) is out
            assert np.allclose(whole(out)[0], (values**2).sum(0))
            x.requires_grad_()
            np.vecdot(x, x, axes=[1, 1]).sum().backward()
            assert np.allclose(whole(x.grad), 2 * values)

    ranks(body)


# --- what else was gathered, or refused in the wrong words ----------------------------


@pytest.mark.parametrize("axis", [-1, 0])
def test_lexsort_of_a_matrix_is_that_of_its_rows(ranks, axis):
    keys = np.random.default_rng(0).integers(0, 9, (3, 40_000))

    def body():
        for shape in ((3, 40_000), (2, 1), (3, 0), (3, 20_000, 2), (3, 2, 20_000)):
            check(
                lambda x: np.lexsort(x, axis),
                keys.ravel()[: np.prod(shape)].reshape(shape),
            )
        x = distribute_tensor(keys, line(), [Shard(1)])
        assert np.lexsort(x, axis).layout.is_cut(0) or line().size() == 1
        assert keys.shape[1] > routes.LEAST_SIZE

    ranks(body)


REFUSED = {
    "an operand is a str: tensors hold numbers, and no text": (
        lambda x: np.where(x > 0, "a", "b")
    ),
    "gives Python objects, which tensors do not hold": np.frompyfunc(str, 1, 1),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals_say_what_is_true(ranks, words):
    def body():
        for x in layouts(A):
            with pytest.raises(TypeError, match=words):
                REFUSED[words](x)

    ranks(body)


def test_functions_of_numbers_are_called_on_parts_also_of_sums(ranks):
    def body():
        function = np.vectorize(lambda number: number**2, otypes=[float])
        for x in layouts(A):
            assert np.array_equal(whole(map_overlap(function, x, {})), A**2)
            total = map_overlap(function, x.sum(0), {})
            assert np.array_equal(whole(total), A.sum(0) ** 2)
        x = distribute_tensor(A, line(), [Shard(0)])
        assert np.array_equal(halo(x.sum(0), {}), A.sum(0))

    ranks(body)
