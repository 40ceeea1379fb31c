"""`out=` of another dtype than the result: in which dtype it is computed."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor

BYTES = np.array([[100, 200, 3], [250, 15, 9], [30, 101, 255], [77, 45, 128]], "u1")
SMALL = np.array([[-100, 127, 3], [100, 15, -9], [30, -128, 55], [77, 45, 127]], "i1")
HALVES = np.array(
    [[0.1, 2.7, 0.35], [-1.4, 5.5, 3.6], [7.7, -3.8, 25.35], [0.3, 0.2, 11.25]], "f2"
)
BOOLS = BYTES > 99
HOLES = np.where(BOOLS, HALVES, np.nan).astype("f2")
MASK = np.array([True, False, True])


def placed(array, placement):
    """The array so placed; with Partial, as addends of which each rank has its own."""
    if placement != Partial():
        return distribute_tensor(array, line(), [placement], src_data_rank=None)
    rank = line().get_rank()
    first = array // 2 if line().size() > 1 else array
    mine = {0: first, 1: array - first}.get(rank, np.zeros_like(array))
    return DTensor.from_local(mine, line(), [Partial()])


def written(call, array, blank, placement, into):
    out = distribute_tensor(blank, line(), [into], src_data_rank=None)
    call(placed(array, placement), out)
    return np.array(out.full_tensor())


# --- pending addends ------------------------------------------------------------------


def total(x):
    return np.add.reduce(x, 0, dtype=x.dtype)


# call(x, out), x, dtype of out
PENDING = {
    "add": (lambda x, y: np.add(total(x), total(x), y, casting="same_kind"), "i8"),
    "where": (lambda x, y: np.add(total(x), total(x), y, where=True), "i8"),
    "mask": (lambda x, y: np.add(total(x), 1, y, where=MASK), "i8"),
    "mask cast": (
        lambda x, y: np.add(total(x), 1, y, where=MASK, casting="unsafe"),
        "f4",
    ),
    "safe": (lambda x, y: np.multiply(total(x), 1, y, casting="safe"), "f8"),
    "extreme": (lambda x, y: np.multiply(x.max(0), 1, y, casting="unsafe"), "i1"),
    "in place": (lambda x, y: np.add(y, total(x), y, casting="unsafe"), "f4"),
    "vecdot": (lambda x, y: np.vecdot(x.T, x.T, y, casting="same_kind"), "i8"),
    "matmul": (lambda x, y: np.matmul(x.T, x, y, casting="same_kind"), "i8"),
    "unsafe": (lambda x, y: np.matmul(x.T, x, y, casting="unsafe"), "i1"),
}


def test_addends_are_added_before_they_are_cast(ranks):
    def body():
        for name, (call, dtype) in PENDING.items():
            for array in (BYTES, BOOLS):
                shape = (3, 3) if name in ("matmul", "unsafe") else (3,)
                want = np.zeros(shape, dtype)
                call(array, want)
                for into in (Replicate(), Shard(0)):
                    blank = np.zeros(shape, dtype)
                    found = written(call, array, blank, Shard(0), into)
                    np.testing.assert_array_equal(found, want, f"{name} {into}")

    ranks(body)


def test_what_is_rounded_is_rounded_once(ranks):
    def body():
        x = np.full((6, 4), 0.3)

        def call(x, out):
            np.negative(x.sum(0), out=out, casting="unsafe")

        found = written(call, x, np.zeros(4, "i8"), Shard(0), Replicate())
        np.testing.assert_array_equal(found, [-1] * 4)

    ranks(body)


# --- computed in the dtype of `out` ---------------------------------------------------

ONE_DIM = {
    "sum": lambda x, y: np.sum(x, 0, out=y),
    "prod": lambda x, y: np.prod(x, 0, out=y),
    "max": lambda x, y: np.max(x, 0, out=y),
    "mean": lambda x, y: np.mean(x, 0, out=y),
    "mean of": lambda x, y: np.mean(a=x, axis=0, out=y),
    "x.mean": lambda x, y: x.mean(0, None, y),
    "nanmean": lambda x, y: np.nanmean(x, 0, out=y),
    "nansum": lambda x, y: np.nansum(x, 0, out=y),
    "nanprod": lambda x, y: np.nanprod(x, 0, out=y),
    "median": lambda x, y: np.median(x, 0, out=y),
    "median of": lambda x, y: np.median(a=x, axis=0, out=y),
    "ptp": lambda x, y: np.ptp(x, 0, out=y),
    "einsum": lambda x, y: np.einsum("ij->j", x, out=y),
    "three": lambda x, y: np.einsum("ij,ij,ij->j", x, x, x, out=y),
    "add.reduce": lambda x, y: np.add.reduce(x, 0, out=y),
}
TWO_DIMS = {
    "round": lambda x, y: np.round(x, -1, out=y),
    "round to 1": lambda x, y: np.round(x, 1, out=y),
    "x.round": lambda x, y: x.round(1, y),
    "cumsum": lambda x, y: np.cumsum(x, 0, out=y),
    "nancumsum": lambda x, y: np.nancumsum(x, 0, out=y),
    "nancumprod": lambda x, y: np.nancumprod(x, 0, out=y),
    "cumulative_sum": lambda x, y: np.cumulative_sum(x, axis=0, out=y),
    "cumulative_prod": lambda x, y: np.cumulative_prod(x, axis=0, out=y),
}
OF_FLOATS = ("mean", "median", "round")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*ONE_DIM, *TWO_DIMS])
def test_it_is_computed_in_the_dtype_of_out(ranks, name):
    def body():
        call = (ONE_DIM | TWO_DIMS)[name]
        shape = (3,) if name in ONE_DIM else (4, 3)
        for array in (BYTES, SMALL, HALVES, BOOLS, HOLES):
            floats = any(word in name for word in OF_FLOATS)
            dtype = "f8" if floats or array.dtype == "f2" else "i8"
            want = np.zeros(shape, dtype)
            call(array, want)
            near = 1e-6 if array.dtype == "f2" else 1e-13
            places = [Replicate(), Shard(0), Shard(1)]
            for place in places + [Partial()] * (array is BYTES):
                found = written(call, array, np.zeros(shape, dtype), place, Replicate())
                np.testing.assert_allclose(found, want, near, near, err_msg=str(place))

    ranks(body)


@pytest.mark.parametrize("name", ["std", "var", "nanstd", "nanvar", "quantile"])
def test_halves_are_not_rounded_on_the_way(ranks, name):
    def body():
        def call(x, out):
            function = getattr(np, name)
            function(x, 0.3, 0, out=out) if name == "quantile" else function(
                x, 0, out=out
            )

        want = np.zeros(3)
        call(HALVES.astype("f8"), want)
        for place in (Replicate(), Shard(0), Shard(1)):
            found = written(call, HALVES, np.zeros(3), place, Replicate())
            np.testing.assert_allclose(found, want, 1e-12)

    ranks(body)


def test_a_dtype_that_is_told_counts():
    x, out = dtensor.tensor(HALVES), dtensor.tensor(np.zeros(3))
    want = np.zeros(3)
    for call in (np.sum, np.mean, np.nansum, np.cumulative_sum):
        into = (np.zeros((4, 3)), dtensor.tensor(np.zeros((4, 3))))
        theirs, mine = into if call is np.cumulative_sum else (want, out)
        call(HALVES, axis=0, dtype="f4", out=theirs)
        call(x, axis=0, dtype="f4", out=mine)
        np.testing.assert_allclose(mine, theirs, 1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*ONE_DIM, *TWO_DIMS])
def test_arrays_of_one_rank_do_the_same(name):
    call = (ONE_DIM | TWO_DIMS)[name]
    for array in (BYTES, SMALL) if "round" in name else (BYTES, HALVES):
        want = np.zeros((3,) if name in ONE_DIM else (4, 3))
        out = dtensor.tensor(want.copy())
        call(array, want)
        call(dtensor.tensor(array), out)
        np.testing.assert_allclose(out, want, 1e-6)


# --- refused --------------------------------------------------------------------------

# call(x, out), x, shape and dtype of out, exception
REFUSED = {
    "argmax": (lambda x, y: np.argmax(x, 0, out=y), BYTES, 3, "f8", TypeError),
    "argmin": (lambda x, y: np.argmin(x, 0, out=y), BYTES, 3, "f4", TypeError),
    "nanargmax": (lambda x, y: np.nanargmax(x, 0, out=y), BYTES, 3, "f8", TypeError),
    "take": (lambda x, y: np.take(x, [1], 0, out=y), BYTES, (1, 3), "i8", TypeError),
    "compress": (
        lambda x, y: np.compress([False, True], x, 0, out=y),
        BYTES,
        (1, 3),
        "f8",
        TypeError,
    ),
    "round": (lambda x, y: np.round(x, -1, out=y), BYTES, (4, 3), "i8", TypeError),
    "same": (lambda x, y: np.round(x, -1, out=y), BYTES, (4, 3), "u1", TypeError),
    "dot": (lambda x, y: np.dot(x, x.T, out=y), BYTES, (4, 4), "i8", ValueError),
    "multi_dot": (
        lambda x, y: np.linalg.multi_dot([x, x.T, x], out=y),
        BYTES,
        (4, 3),
        "f8",
        ValueError,
    ),
    "einsum": (lambda x, y: np.einsum("ij->j", x, out=y), HALVES, 3, "i8", TypeError),
    "narrow": (
        lambda x, y: np.einsum("ij->j", x, out=y),
        HALVES.astype("f8"),
        3,
        "f4",
        TypeError,
    ),
    "casting": (
        lambda x, y: np.add(x, x, out=y, casting="safe"),
        HALVES.astype("f8"),
        (4, 3),
        "f4",
        TypeError,
    ),
}


SINCE_2_5 = ("take", "compress")  # NumPy 2.5 casts what it takes


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_where_numpy_refuses_it(ranks, name):
    def body():
        call, array, shape, dtype, error = REFUSED[name]
        try:
            expected = call(array, np.zeros(shape, dtype))
        except error:
            expected = None
        assert expected is None or name in SINCE_2_5
        for place in (Replicate(), Shard(0), Shard(1)):
            out = placed(np.full(shape, 7, dtype), Replicate())
            if expected is not None:
                call(placed(array, place), out)
                assert np.array_equal(np.array(out.full_tensor()), expected)
                continue
            with pytest.raises(error):
                call(placed(array, place), out)
            assert (np.array(out.full_tensor()) == 7).all()

    ranks(body)


def test_narrower_positions_are_written():
    x, out = dtensor.tensor(BYTES), dtensor.tensor(np.zeros(3, "i4"))
    np.argmax(x, 0, out=out)
    assert np.array_equal(out, np.argmax(BYTES, 0))
