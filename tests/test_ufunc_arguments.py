"""What calls of ufuncs were wrong in once: out=, where=, initial=, dtype=, lists."""

import numpy as np
import pytest
from meshes import line

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.testing import run_ranks

R, S0 = Replicate(), Shard(0)
A = np.arange(6.0)


def placed(array, *placements):
    return distribute_tensor(np.asarray(array), line(), placements or [S0])


def whole(x):
    return np.asarray(x.full_tensor() if hasattr(x, "full_tensor") else x)


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(whole(found), expected, equal_nan=expected.dtype.kind == "f")


def as_numpy(ranks, call, *arrays):
    """Compare a call with NumPy's, in two layouts of all its arrays."""
    try:
        expected = call(*(x.copy() for x in arrays))
    except Exception as error:
        kinds = type(error).__mro__  # NumPy has private ones
        expected = next(k for k in kinds if not k.__module__.startswith("numpy._core"))

    def body():
        for p in (S0, R):
            xs = [placed(x.copy(), p if x.ndim else R) for x in arrays]
            if isinstance(expected, type):
                with pytest.raises(expected):
                    call(*xs)
            else:
                same(call(*xs), expected)

    ranks(body)


TWOS = np.full(70, 2)
PAIR = np.array([1.5, 2.5])
INTO = {
    "prod of integers into floats": (
        lambda x, out: np.prod(x, out=out),
        (TWOS, np.zeros(())),
    ),
    "multiply.reduce of integers into floats": (
        lambda x, out: np.multiply.reduce(x, out=out),
        (TWOS, np.zeros(())),
    ),
    "cumprod of integers into floats": (
        lambda x, out: np.cumprod(x, out=out),
        (np.full(6, 2**40), np.zeros(6)),
    ),
    "multiply.accumulate of integers into floats": (
        lambda x, out: np.multiply.accumulate(x, out=out),
        (np.full(6, 2**40), np.zeros(6)),
    ),
    "sum of floats into integers": (
        lambda x, out: np.sum(x, out=out),
        (PAIR, np.zeros((), int)),
    ),
    "add.reduceat of floats into integers": (
        lambda x, out: np.add.reduceat(x, [0, 1], out=out),
        (PAIR, np.zeros(2, int)),
    ),
    "sum of floats into booleans": (
        lambda x, out: np.add.reduce(x, out=out),
        (PAIR, np.zeros((), bool)),
    ),
    "sum of float32 into float64": (
        lambda x, out: np.sum(x, out=out),
        (np.array([1, 2.0**-30], "f"), np.zeros(())),
    ),
}


@pytest.mark.parametrize("name", INTO)
def test_reductions_compute_and_cast_as_their_out_says(ranks, name):
    call, arrays = INTO[name]
    as_numpy(ranks, call, *arrays)


WHERE = {
    "out larger than the operands": (
        lambda x, out: np.multiply(x, 3, where=np.array(False), out=out),
        (np.array(2), np.arange(6)),
    ),
    "mask smaller than out": (
        lambda x, out: np.add(x, 1, where=[True, False, True], out=out),
        (np.arange(3), np.zeros((2, 3), int)),
    ),
    "outer with a mask": (
        lambda x, out: np.add.outer(x, x, where=[True, False, True], out=out),
        (np.arange(3), np.full((3, 3), -1)),
    ),
    "outer of a mask that is distributed": (
        lambda x, mask, out: np.multiply.outer(x, x, where=mask, out=out),
        (np.arange(3), np.eye(3, dtype=bool), np.full((3, 3), -1)),
    ),
    "a mask of an empty list": (
        lambda x, out: np.cosh(x, where=[[], []], out=out),
        (np.zeros((2, 0)), np.zeros((2, 0))),
    ),
    "a mask of integers": (
        lambda x: np.sum(x, where=[1, 0, 2, 0, 1, 0]),
        (A,),
    ),
    "too wide a result": (
        lambda x, out: np.add(x, 1, where=[True, False, True], out=out),
        (np.zeros((2, 3)), np.zeros(3)),
    ),
}


@pytest.mark.parametrize("name", WHERE)
def test_a_mask_leaves_out_what_it_says_whatever_its_shape(ranks, name):
    call, arrays = WHERE[name]
    as_numpy(ranks, call, *arrays)


def test_what_a_mask_leaves_of_addends_stays(ranks):
    def body():
        out = DTensor.from_local(np.arange(4) + 1, line(), [Partial()])
        expected = whole(out).copy()
        np.multiply(placed(np.array(3), R), True, out=out, where=np.array(False))
        assert np.array_equal(whole(out), expected)

    ranks(body)


def addends(total):
    """Arrays of which each rank has one, of either sign, as a sum that is pending."""
    mesh = line()
    rank, last = mesh.get_local_rank(), mesh.size() - 1
    part = (rank == 0) * (total + 1) - (rank == last) * 1.0
    return DTensor.from_local(np.asarray(part), mesh, [Partial()])


ZEROS = {
    "a number": lambda: 0,
    "a float": lambda: -0.0,
    "a scalar": lambda: np.float32(0),
    "a plain array": lambda: np.zeros((), int),
    "replicated": lambda: placed(np.zeros(()), R),
    "a sum": lambda: addends(np.zeros(())),
}


@pytest.mark.parametrize("name", ZEROS)
def test_addends_are_summed_before_they_are_divided_by_zero(ranks, name):
    def body():
        zero, total = whole(ZEROS[name]()), np.array([0.5, -0.5, 0.0])
        with np.errstate(all="ignore"):
            x = addends(total)
            same(x / ZEROS[name](), total / zero)
            same(np.divide.outer(x, ZEROS[name]()), np.divide.outer(total, zero))
            x /= ZEROS[name]()
            same(x, total / zero)

    ranks(body)


def test_addends_that_are_divided_by_another_number_stay_addends(ranks):
    def body():
        x = addends(np.arange(3.0))
        for two in (2, 2.0, np.array(2.0), placed(np.array(2.0), R)):
            assert (x / two).placements == x.placements
            same(x / two, np.arange(3.0) / 2)

    ranks(body)


MASK = A % 2 == 0
SEVERAL = {
    "modf": lambda x, a, b: np.modf(x, where=MASK, out=(a, b)),
    "frexp": lambda x, a, b: np.frexp(x, where=MASK, out=(a, b)),
    "divmod": lambda x, a, b: np.divmod(x, x, where=x > 0, out=(a, b)),
    "a list": lambda x, a, b: np.modf(x, where=[True, False] * 3, out=(a, b)),
    "another dtype": lambda x, a, b: np.frexp(
        x, where=MASK, out=(a.astype("f4"), b.astype("i8"))
    ),
    "an unsafe cast": lambda x, a, b: np.modf(
        x, where=MASK, out=(a.astype("i4"), b.astype("i4")), casting="unsafe"
    ),
    "a cast that is refused": lambda x, a, b: np.modf(
        x, where=MASK, out=(a.astype("i4"), b.astype("i4"))
    ),
    "a cast that is refused, and a mask that does not fit": lambda x, a, b: np.modf(
        x, where=[], out=(a.astype("i4"), b.astype("i4"))
    ),
    "a mask that does not fit": lambda x, a, b: np.modf(x, where=[], out=(a, b)),
    "out larger than the operands": lambda x, a, b: np.modf(
        x, where=MASK, out=(np.stack([a, b]), np.stack([b, a]))
    ),
    "a mask of integers": lambda x, a, b: np.modf(x, where=[1, 0] * 3, out=(a, b)),
    "an operand as out": lambda x, a, b: np.divmod(a, 2.5, where=MASK, out=(b, a)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_a_mask_holds_for_each_of_several_results(ranks, name):
    def call(*arrays):
        """All results, and what was written into."""
        with np.errstate(all="raise"):
            return np.stack([*SEVERAL[name](*arrays), *arrays][:2]), arrays[1]

    outs = (A - 9, (A + 20).astype("i4" if name == "frexp" else "f8"))
    as_numpy(ranks, lambda *xs: call(*xs)[0], A + 0.75, *outs)
    as_numpy(ranks, lambda *xs: call(*xs)[1], A, *outs)


def test_of_several_results_one_may_be_written(ranks):
    def body():
        x, out = placed(A + 0.75), placed(A - 9)
        fraction, _ = np.modf(x, where=MASK)
        assert np.array_equal(whole(fraction)[MASK], [0.75] * 3)
        fraction, more = np.modf(x, where=MASK, out=(None, out))
        assert more is out
        assert np.array_equal(whole(fraction)[MASK], [0.75] * 3)
        assert np.array_equal(whole(out), np.where(MASK, A, A - 9))

    ranks(body)


CALLS = {
    "reduceat of no indices": (lambda x: np.add.reduceat(x, []), (A,)),
    "accumulate of a number": (lambda x: np.add.accumulate(x), (np.array(1.0),)),
    "reduceat of a number": (lambda x: np.add.reduceat(x, [0]), (np.array(1.0),)),
    "vecdot of a number": (lambda x: np.vecdot(x, np.array(2.0)), (A,)),
    "initial None of nothing": (lambda x: np.sum(x, initial=None), (A[:0],)),
    "initial None and a mask": (
        lambda x: np.add.reduce(x, initial=None, where=[True] * 6),
        (A,),
    ),
    "initial None": (lambda x: np.sum(x, initial=None), (A,)),
    "outer of an array and a number": (
        lambda x: np.hypot.outer(x, -1),
        (A.astype("e"),),
    ),
    "outer of several results": (lambda x: np.divmod.outer(x, x + 1)[1], (A,)),
    "outer of a ufunc of one": (lambda x: np.negative.outer(x, x), (A,)),
    "outer of vectors": (lambda x: np.vecdot.outer(x, x), (A,)),
    "at, dtypes before indices": (lambda x: np.fabs.at(x, 99), (A.astype("D"),)),
    "casting of several results": (
        lambda x, y, z: np.divmod(x, 2, casting="no", out=(y, z))[0],
        (np.arange(3), np.zeros(3), np.arange(3)),
    ),
    "casting into a wider out": (
        lambda x, out: np.add(x, 1, casting="no", out=out),
        (np.arange(3), np.zeros((2, 3))),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_ufuncs_are_answered_or_refused_as_numpys(ranks, name):
    call, arrays = CALLS[name]
    as_numpy(ranks, call, *arrays)


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecmat", "vecdot"])
def test_products_compute_in_the_dtype_that_is_given(ranks, name):
    square = np.ones((3, 3), "f")
    vector = np.ones(3, "f")
    pairs = {"matvec": (square, vector), "vecmat": (vector, square)}
    x, y = pairs.get(name, (square, square))
    call = getattr(np, name)
    as_numpy(ranks, lambda a, b: call(a, b, dtype=np.dtype("d")), x, y)


@pytest.mark.parametrize("ufunc", [np.hypot, np.gcd, np.logaddexp, np.bitwise_xor])
def test_a_reduction_that_starts_with_nothing_leaves_one_element_as_it_is(ufunc):
    array = np.array([-2.0 if ufunc in (np.hypot, np.logaddexp) else -2])

    def body():
        mesh = init_device_mesh("cpu", (2,))
        for placement in (Shard(0), Replicate()):
            x = distribute_tensor(array, mesh, [placement])
            assert ufunc.reduce(x, initial=None).full_tensor() == array[0]

    run_ranks(2, body)
