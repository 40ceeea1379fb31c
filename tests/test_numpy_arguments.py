"""Arguments that NumPy takes are taken; what it refuses has the same type of error."""

import operator

import numpy as np
import pytest
from meshes import line

from dtensor import Replicate, Shard, distribute_tensor
from dtensor.nn.functional import one_hot

R, S0 = Replicate(), Shard(0)
A = np.arange(6.0)
MASK = [True, False] * 3


def placed(array, *placements):
    return distribute_tensor(np.asarray(array), line(), placements or [S0])


def whole(x):
    return np.asarray(x.full_tensor() if hasattr(x, "full_tensor") else x)


LISTS = {
    "choose of plain numbers": lambda np_, a: np_.choose([0, 1] * 3, [0, a]),
    "choose among lists": lambda np_, a: np_.choose([0, 1] * 3, [[9] * 6, a]),
    "select": lambda np_, a: np_.select([MASK, a > 3], [a, [0] * 6], [7] * 6),
    "add where": lambda np_, a: np_.add(a, 1, out=0 * a, where=MASK),
    "sum where": lambda np_, a: np_.sum(a, where=MASK),
    "method where": lambda np_, a: a.sum(where=MASK),
    "mean where": lambda np_, a: np_.mean(a, where=MASK),
    "std where": lambda np_, a: np_.std(a, where=MASK),
    "any where": lambda np_, a: np_.any(a, where=MASK),
    "max where": lambda np_, a: np_.max(a, where=MASK, initial=0),
    "reduce where": lambda np_, a: np_.add.reduce(a, where=MASK),
    "nansum where": lambda np_, a: np_.nansum(a, where=MASK),
    "power where": lambda np_, a: np_.power(a, 2, out=0 * a, where=tuple(MASK)),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_arrays_where_numpy_takes_them_for_arrays(ranks, name):
    def body():
        for x in (placed(A), placed(A, R)):
            assert np.array_equal(whole(LISTS[name](np, x)), LISTS[name](np, A))

    ranks(body)


def test_a_mask_written_as_a_list_has_a_gradient(ranks):
    def body():
        x = placed(A).requires_grad_()
        x.sum(where=MASK).backward()
        assert np.array_equal(whole(x.grad), np.asarray(MASK, float))

    ranks(body)


# What has another shape than the result: broadcast by ufuncs, refused by the others.
OUT = {
    "sum": lambda np_, a, zeros: np_.sum(a, 0, out=zeros((4, 3))),
    "sum of all": lambda np_, a, zeros: np_.sum(a, out=zeros((1,))),
    "sum too small": lambda np_, a, zeros: np_.sum(a, 0, out=zeros((4,))),
    "mean": lambda np_, a, zeros: np_.mean(a, 0, out=zeros((4, 3))),
    "std": lambda np_, a, zeros: np_.std(a, 0, out=zeros((4, 3))),
    "max": lambda np_, a, zeros: np_.max(a, 0, out=zeros((4, 3))),
    "method": lambda np_, a, zeros: a.sum(0, out=zeros((4, 3))),
    "ptp": lambda np_, a, zeros: np_.ptp(a, 0, out=zeros((4, 3))),
    "argmax": lambda np_, a, zeros: np_.argmax(a, 0, out=zeros((4, 3), int)),
    "median": lambda np_, a, zeros: np_.median(a, 0, out=zeros((4, 3))),
    "nansum": lambda np_, a, zeros: np_.nansum(a, 0, out=zeros((4, 3))),
    "nanmean": lambda np_, a, zeros: np_.nanmean(a, 0, out=zeros((4, 3))),
    "all": lambda np_, a, zeros: np_.all(a, 0, out=zeros((4, 3), bool)),
    "trace": lambda np_, a, zeros: np_.trace(a, out=zeros((3,))),
    "round": lambda np_, a, zeros: np_.round(a, 1, out=zeros((4, 2, 3))),
    "cumsum": lambda np_, a, zeros: np_.cumsum(a, 0, out=zeros((4, 2, 3))),
    "accumulate": lambda np_, a, zeros: np_.add.accumulate(a, out=zeros((4, 2, 3))),
    "reduceat": lambda np_, a, zeros: np_.add.reduceat(a, [0], out=zeros((4, 1, 3))),
    "take": lambda np_, a, zeros: np_.take(a, [0], 0, out=zeros((4, 1, 3))),
    "compress": lambda np_, a, zeros: np_.compress([1, 0], a, 0, zeros((4, 1, 3))),
    "dot": lambda np_, a, zeros: np_.dot(a, a.T, out=zeros((4, 2, 2))),
    "concatenate": lambda np_, a, zeros: np_.concatenate([a, a], out=zeros((2, 4, 3))),
    "stack": lambda np_, a, zeros: np_.stack([a, a], out=zeros((4, 2, 2, 3))),
    "einsum": lambda np_, a, zeros: np_.einsum("ij->ij", a, out=zeros((4, 2, 3))),
    "fft": lambda np_, a, zeros: np_.fft.fft(a, out=zeros((4, 2, 3), complex)),
    "choose": lambda np_, a, zeros: np_.choose(a > 9, [a, a], out=zeros((4, 2, 3))),
    "add": lambda np_, a, zeros: np_.add(a, a, out=zeros((4, 2, 3))),
    "add too small": lambda np_, a, zeros: np_.add(a, a, out=zeros((3,))),
    "clip": lambda np_, a, zeros: np_.clip(a, 0, 1, out=zeros((4, 2, 3))),
    "fix": lambda np_, a, zeros: np_.fix(a, out=zeros((4, 2, 3))),
    "isposinf": lambda np_, a, zeros: np_.isposinf(a, out=zeros((4, 2, 3), bool)),
    "matmul": lambda np_, a, zeros: np_.matmul(a, a.T, out=zeros((4, 2, 2))),
    "vecdot": lambda np_, a, zeros: np_.vecdot(a, a, out=zeros((4, 2))),
    "outer": lambda np_, a, zeros: np_.outer(a, a, out=zeros((4, 6, 6))),
    "add.outer": lambda np_, a, zeros: np_.add.outer(a, a, out=zeros((4, 2, 3, 2, 3))),
    "quantile": lambda np_, a, zeros: np_.quantile(a, 0.5, 0, out=zeros((4, 3))),
    "nanmedian": lambda np_, a, zeros: np_.nanmedian(a, 0, out=zeros((4, 3))),
}


@pytest.mark.parametrize("name", OUT)
def test_an_out_of_another_shape_is_broadcast_or_refused_as_numpy_does(ranks, name):
    array = A.reshape(2, 3)
    try:
        expected = OUT[name](np, array, np.zeros)
    except (TypeError, ValueError) as error:
        expected = error

    def body():
        for placement in (S0, R):

            def zeros(*args, like=placement):
                return placed(np.zeros(*args), like)

            x = placed(array, placement)
            if isinstance(expected, Exception):
                with pytest.raises(type(expected)):
                    OUT[name](np, x, zeros)
            else:
                assert np.allclose(whole(OUT[name](np, x, zeros)), expected)

    ranks(body)


def test_many_elements_are_no_number(ranks):
    def body():
        whole_numbers = placed(np.arange(6))
        for x in (placed(A), placed(A[:0]), placed(A).to_local(), whole_numbers):
            if x.size == 1:
                continue
            for kind in (float, int, complex, operator.index):
                with pytest.raises(TypeError):
                    kind(x)
            with pytest.raises(ValueError, match="size"):
                x.item()
        assert (
            float(placed(A)[2]),
            int(whole_numbers[3]),
            range(6)[whole_numbers[4]],
        ) == (
            2.0,
            3,
            4,
        )

    ranks(body)


def test_plain_arrays_are_averaged_with_weights_that_are_cut(ranks):
    def body():
        weights = placed(np.arange(1.0, 6))
        for array in (np.arange(5), np.arange(5, dtype=np.float32), [0, 1, 2, 3, 4]):
            expected = np.average(array, weights=np.arange(1.0, 6))
            assert np.isclose(float(np.average(array, weights=weights)), expected)

    ranks(body)


def test_the_average_over_nothing_is_a_division_by_zero(ranks):
    def body():
        x = placed(np.ones((0, 3)))
        for array in (np.ones((0, 3)), x):
            with pytest.raises(ZeroDivisionError):
                np.average(array, axis=1)
            with pytest.raises(ZeroDivisionError):
                np.average(array, axis=0, weights=np.ones(0))
        assert np.array_equal(whole(np.average(placed(A))), np.average(A))

    ranks(body)


def test_tolist_gives_all_ranks_the_whole_list(ranks):
    def body():
        nested = A.reshape(2, 3).tolist()
        for placement in (S0, Shard(1), R):
            assert placed(A.reshape(2, 3), placement).tolist() == nested
        assert placed(A).sum().tolist() == 15.0
        assert placed(A).requires_grad_().tolist() == A.tolist()
        assert placed(A, R).to_local().tolist() == A.tolist()
        assert placed(A[:0]).tolist() == []

    ranks(body)


def test_one_hot_refuses_what_is_no_class(ranks):
    def body():
        for numbers, count in (([0, 1, -1], 3), ([0, 2, -3], -1), ([-1], 1)):
            with pytest.raises(
                RuntimeError, match="Class values must be non-negative."
            ):
                one_hot(placed(numbers), count)
        for numbers, count in (([0, 1, 3], 3), ([1], 1)):
            with pytest.raises(RuntimeError, match="must be smaller than num_classes."):
                one_hot(placed(numbers), count)
        with pytest.raises(RuntimeError, match="from empty tensor"):
            one_hot(placed(np.empty(0, int)))
        with pytest.raises(RuntimeError, match="num_classes should be positive"):
            one_hot(placed([0]), 0)
        assert one_hot(placed(np.empty(0, int)), 2).shape == (0, 2)
        assert np.array_equal(whole(one_hot(placed([2, 0]))), np.eye(3)[[2, 0]])

    ranks(body)


# --- axes, levels and dtypes in other forms -------------------------------------------

ROWS = np.random.default_rng(0).integers(-9, 9, (6, 5)).astype(float)
FORMS = {
    "median of one axis": lambda a: np.median(a, axis=np.int64(-2)),
    "nanmedian of one axis": lambda a: np.nanmedian(a, np.int64(1), keepdims=True),
    "quantile of one axis": lambda a: np.quantile(a, 0.3, axis=np.int8(0)),
    "average of one axis": lambda a: np.average(a, np.int64(0), np.arange(1.0, 7)),
    "nanquantile, levels in rows": lambda a: np.nanquantile(a, [[0.1], [0.9]], axis=1),
    "quantile of NaN": lambda a: np.quantile(a * np.nan, np.array([0.5])),
    "partition by an array": lambda a: np.partition(a, np.arange(5), axis=1),
    "argpartition by an array": lambda a: np.argpartition(a.T, np.arange(6))[:, :1] * 0,
    **{
        f"{name} in float16": lambda a, name=name: getattr(np, name)(a, 0, dtype="e")
        for name in "sum mean std nansum nanmean nanvar cumsum".split()
    },
    "a product in float16": lambda a: np.prod(a > -9, axis=1, dtype=np.float16),
    "add.reduce of integers in float16": lambda a: np.add.reduce(
        a.astype(int), axis=1, dtype="e", where=[True] * 5
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_axes_levels_and_dtypes_in_other_forms_are_taken(ranks, name):
    def body():
        want = np.asarray(FORMS[name](ROWS))
        for placement in (S0, Shard(1), R):
            got = whole(FORMS[name](placed(ROWS, placement)))
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=5e-3)

    ranks(body)


def test_levels_in_rows_come_first_along_any_axes(ranks):
    def body():
        for axis in ((), (0, 1), (1,), None):
            levels = np.array([[0.1, 0.5], [0.9, 1.0]])
            want = np.quantile(ROWS, levels, axis=axis)
            for placement in (S0, R):
                got = np.nanquantile(placed(ROWS, placement), levels, axis=axis)
                np.testing.assert_allclose(whole(got), want)

    ranks(body)


def test_an_axis_that_is_no_integer_is_a_type_error(ranks):
    def body():
        for axis in (1.0, np.array(0.0), "0"):
            with pytest.raises(TypeError, match="integer"):
                np.sum(placed(ROWS), axis=axis)

    ranks(body)


NO_ARRAYS = {
    "None is added": (lambda a: np.add(a, None), "operand is None"),
    "dot": (lambda a: np.dot(a, None), "dot: argument 2 is None, and no array"),
    "kron": (lambda a: np.kron("b", a), "kron: argument 1 is of type str, and no"),
    "interp": (lambda a: np.interp(a, None, None), "interp: argument 2 is None"),
    "searchsorted": (lambda a: np.searchsorted(a, "b"), "argument 2 is of type str"),
    "where": (lambda a: np.where(None, a, 2), "where: argument 1 is None"),
    "an array of shape": (lambda a: np.reshape(a, np.array([3.0, 2])), "integer"),
    "an array as decimals": (
        lambda a: a.round(np.array(1.0)),
        "round: 2 arguments are",
    ),
    "a length": (lambda a: np.tile(a, 1.5), "interpreted as an integer"),
}


@pytest.mark.parametrize("name", NO_ARRAYS)
def test_what_is_no_array_or_no_number_is_named(ranks, name):
    def body():
        act, words = NO_ARRAYS[name]
        for x in (placed(A), placed(A, R), placed(A, R).to_local()):
            if name != "an array as decimals" or hasattr(x, "full_tensor"):
                with pytest.raises(TypeError, match=words):
                    act(x)
        assert np.array_equal(whole(placed(A) + 1), A + 1)

    ranks(body)


def test_counts_that_are_booleans_are_0_and_1(ranks):
    def body():
        for x in (placed(A), placed(A, R)):
            for counts in (True, MASK, np.array(MASK), placed(MASK)):
                want = np.repeat(A, whole(counts))
                assert np.array_equal(whole(np.repeat(x, counts)), want)
            assert np.array_equal(whole(np.tile(x, [True, 2])), np.tile(A, [1, 2]))

    ranks(body)


def test_lists_sort_and_what_is_no_number_is_in_no_tensor(ranks):
    def body():
        a = np.array([3.0, 1.0, 2.0])
        x = distribute_tensor(a, line(), [Shard(0)])
        for sorter in ([1, 2, 0], (1, 2, 0), np.array([1, 2, 0])):
            found = np.searchsorted(x, [1.5, 2.5], sorter=sorter).full_tensor()
            assert np.array_equal(found, np.searchsorted(a, [1.5, 2.5], sorter=sorter))
        assert 3.0 in x and 7 not in x and "a" not in x and None not in x

    ranks(body)
