"""Functions of lines and of chosen elements, and rows in another order, in parts."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed
from slow import slow

import dtensor
from dtensor import Replicate, Shard, distribute_tensor, random
from dtensor.debug import CommDebugMode

LINES = {
    "sum": (np.sum, "f8"),
    "sort": (np.sort, "f8"),
    "first two": (lambda u: u[:2], "f8"),
    "outer": (lambda u: np.outer(u[:2], u[:2]), "f8"),
    "dtype of the first": (lambda u: (u > 0).astype("i4"), "f8"),
    "shift": (lambda u: u + 1.5, "i8"),
}
QUICK = ("sum", "outer", "shift")


@pytest.mark.parametrize("name", [n if n in QUICK else slow(n) for n in LINES])
def test_functions_of_lines_are_those_of_numpy_in_all_layouts(ranks, name):
    function, dtype = LINES[name]

    def body():
        array = (np.random.default_rng(1).normal(size=(5, 3, 4)) * 9).astype(dtype)
        for mesh in (line(), square()):
            for placements in layouts(3, mesh.ndim):
                x, whole = placed(array, mesh, placements)
                for axis in (0, 1, -1):
                    got = np.apply_along_axis(function, axis, x)
                    want = np.apply_along_axis(function, axis, whole)
                    assert (got.shape, got.dtype) == (want.shape, want.dtype)
                    np.testing.assert_allclose(got.full_tensor(), want, 1e-12)

    ranks(body)


def test_whole_lines_stay_where_they_are(ranks):
    def body():
        x = distribute_tensor(np.ones((400, 6)), line(), [Shard(0)])
        with CommDebugMode() as comm:
            y = np.apply_along_axis(np.cumsum, 1, x)
        assert y.placements == (Shard(0),)
        assert sum(comm.get_comm_bytes().values()) <= 6 * 8 * line().size()

    ranks(body)


def test_a_function_that_raises_on_one_rank_raises_on_all(ranks):
    def body():
        x = distribute_tensor(np.arange(12.0).reshape(6, 2), line(), [Shard(0)])

        def refuse(u):
            if u[0] == 10:
                raise KeyError("ten")
            return u

        with pytest.raises(KeyError, match="ten"):
            np.apply_along_axis(refuse, 1, x)
        with pytest.raises(ValueError, match="iteration dimensions are 0"):
            np.apply_along_axis(np.sum, 1, x[:0])
        assert float(np.sum(x)) == 66

    ranks(body)


def test_functions_over_axes(ranks):
    def body():
        array = np.arange(24.0).reshape(2, 3, 4)
        for placement in (Shard(0), Shard(2), Replicate()):
            x = distribute_tensor(array, line(), [placement])
            got = np.apply_over_axes(np.sum, x, [0, -1])
            want = np.apply_over_axes(np.sum, array, [0, -1])
            assert np.array_equal(got.full_tensor(), want)
            assert np.apply_over_axes(np.max, x, 1).shape == (2, 1, 4)

    ranks(body)


PIECES = {
    "numbers": lambda x: np.piecewise(x, [x < 0, x >= 1], [-1, 1.5]),
    "functions": lambda x: np.piecewise(x, [x < 0, x > 0], [np.negative, np.sqrt]),
    "the rest": lambda x: np.piecewise(x, [x < 0], [lambda u: -u, 7]),
    "one condition": lambda x: np.piecewise(x, x > 0, [2, lambda u: u * 3]),
    "the last counts": lambda x: np.piecewise(x, [x > -1, x > 0], [1, 2, 3]),
    "all of them": lambda x: np.piecewise(x, [x > 0], [lambda u: u - u.mean(), 0]),
    "more arguments": lambda x: np.piecewise(x, [x > 0], [lambda u, k: u * k, 1], 4),
    "none": lambda x: np.piecewise(x, [x > 99], [lambda u: u * 3, 2]),
}


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("dtype", ["f8", slow("i4")])
def test_pieces_are_those_of_numpy_in_all_layouts(ranks, name, dtype):
    def body():
        for shape in ((9,), (4, 3)):
            if name == "one condition" and len(shape) > 1:
                continue  # its rows would be conditions
            array = (np.random.default_rng(2).normal(size=shape) * 4).astype(dtype)
            for mesh in (line(), square()):
                for placements in layouts(len(shape), mesh.ndim):
                    x, whole = placed(array, mesh, placements)
                    got, want = PIECES[name](x), PIECES[name](whole)
                    assert got.dtype == want.dtype
                    np.testing.assert_allclose(got.full_tensor(), want, 1e-12)

    ranks(body)


def test_pieces_send_nothing_and_have_gradients(ranks):
    def body():
        array = np.random.default_rng(3).normal(size=30)
        x = distribute_tensor(array, line(), [Shard(0)]).requires_grad_()
        with CommDebugMode() as comm:
            y = np.piecewise(x, [x < 0, x > 1], [lambda u: u**2, lambda u: u * 3, 5])
        assert sum(comm.get_comm_bytes().values()) == 0
        y.sum().backward()
        want = np.where(array < 0, 2 * array, np.where(array > 1, 3, 0))
        np.testing.assert_allclose(x.grad.full_tensor(), want)
        with pytest.raises(ValueError, match="functions are expected"):
            np.piecewise(x, [x < 0], [1, 2, 3])

    ranks(body)


@pytest.mark.parametrize("shape", [(23,), (7, 3), (2, 2), (0, 4)])
def test_permutations_are_those_of_the_whole(ranks, shape):
    def body():
        array = np.arange(float(np.prod(shape))).reshape(shape)
        for mesh in (line(), square()):
            for placements in layouts(len(shape), mesh.ndim):
                x, whole = placed(array, mesh, placements)
                got = random.Generator(4).permutation(x)
                want = random.Generator(4).permutation(whole)
                assert np.array_equal(got.full_tensor(), want)

    ranks(body)


def test_a_permutation_sends_each_row_once(ranks):
    def body():
        array = np.random.default_rng(5).normal(size=(400, 2))
        x = distribute_tensor(array, line(), [Shard(0)]).requires_grad_()
        with CommDebugMode() as comm:
            y = random.Generator(5).permutation(x)
        assert y.layout.is_cut(0) == (line().size() > 1)
        assert sum(comm.get_comm_bytes().values()) <= x.to_local().detach().nbytes
        order = np.asarray(random.Generator(5).permutation(400))
        (y * np.arange(800.0).reshape(400, 2)).sum().backward()
        want = np.empty((400, 2))
        want[order] = np.arange(800.0).reshape(400, 2)
        assert np.array_equal(x.grad.full_tensor(), want)

    ranks(body)


def test_what_is_chosen_of_a_cut_array_is_sent_alone(ranks):
    def body():
        array = np.random.default_rng(6).normal(size=3000)
        x = distribute_tensor(array, line(), [Shard(0)])
        for options in ({}, {"replace": False}):
            with CommDebugMode() as comm:
                y = random.Generator(6).choice(x, 20, **options)
            want = random.Generator(6).choice(array, 20, **options)
            assert np.array_equal(y.full_tensor(), want)
            assert sum(comm.get_comm_bytes().values()) <= 20 * 8 * 2 * line().size()
        assert isinstance(y, dtensor.DTensor)

    ranks(body)
