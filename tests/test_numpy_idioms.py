"""What NumPy accepts beside the usual arguments: ranges, the index of an item, booleans
in a histogram, a single choice; and shifts of frequencies, which stay in parts."""

import numpy as np
import pytest
from meshes import line, square

from dtensor import Partial, Replicate, Shard, distribute_tensor, strict
from dtensor.debug import CommDebugMode

R, P, S0, S1 = Replicate(), Partial(), Shard(0), Shard(1)
X = np.arange(12.0) / 2 - 2
A = np.arange(60.0).reshape(12, 5)


def placed(array, *placements):
    mesh = line() if len(placements) == 1 else square()
    return distribute_tensor(np.asarray(array), mesh, placements)


def same(got, want):
    got = got if isinstance(got, tuple) else (got,)
    want = want if isinstance(want, tuple) else (want,)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(one.full_tensor()), other)
        assert one.dtype == other.dtype


RANGES = {
    "digitize": lambda x: np.digitize(x, range(3, 9)),
    "searchsorted": lambda x: np.searchsorted(range(9), x),
    "interp": lambda x: np.interp(x, range(8), range(8, 0, -1)),
    "add": lambda x: x + range(12),
    "subtract": lambda x: range(12) - x,
    "clip": lambda x: np.clip(x, range(12), 9),
    "where": lambda x: np.where(x > 1, x, range(12)),
    "dot": lambda x: np.dot(x, range(12)),
    "outer": lambda x: np.outer(x, range(3)),
    "reduceat": lambda x: np.add.reduceat(x, range(0, 12, 4)),
    "heaviside": lambda x: np.heaviside(x, range(12)),
    "none": lambda x: x[:0] * range(0),
}


@pytest.mark.parametrize("function", RANGES.values(), ids=list(RANGES))
def test_a_range_is_an_array(ranks, function):
    def body():
        for placement in (S0, R):
            same(function(placed(X, placement)), function(X))

    ranks(body)


def test_one_choice(ranks):
    def body():
        index = np.zeros(12, int)
        for i in (index, placed(index, S0)):
            same(np.choose(i, [placed(X, S0)]), X)
        last = np.arange(12) % 3
        choices = [X, np.arange(12), X > 1]
        got = np.choose(placed(last, S0), [placed(c, S0) for c in choices])
        same(got, np.choose(last, choices))
        with pytest.raises(ValueError, match="invalid entry in choice array"):
            np.choose(placed(index + 1, S0), [placed(X, S0)])

    ranks(body)


@pytest.mark.parametrize("bins", [2, 5, [0, 1, 2], "auto"])
def test_booleans_are_counted(ranks, bins):
    def body():
        with pytest.warns(RuntimeWarning, match="Converting input from bool"):
            want = np.histogram(X > 1, bins)
        for placement in (S0, R):
            for function, expected in (
                (np.histogram, want),
                (np.histogram_bin_edges, want[1]),
            ):
                same(function(placed(X > 1, placement), bins), expected)

    ranks(body)


@pytest.mark.parametrize("shift", [np.fft.fftshift, np.fft.ifftshift])
def test_frequencies_are_shifted_in_parts(ranks, shift):
    def body():
        for at in ([S0], [S1], [R], [S0, S1], [S0, S0]):
            for axes in (None, 0, 1, (0,), [1, 0], -1):
                x = placed(A, *at)
                with CommDebugMode() as comm:
                    y = shift(x, axes)
                if x.device_mesh.size() > 1 and len(at) == 1:
                    assert y.placements == x.placements
                assert "all_gather" not in comm.get_comm_counts()
                same(y, shift(A, axes))
        same(shift(placed(X, S0)), shift(X))
        x = placed(A, P).requires_grad_()
        (shift(x) * placed(A, S0)).sum().backward()
        back = {np.fft.fftshift: np.fft.ifftshift, np.fft.ifftshift: np.fft.fftshift}
        same(x.grad, back[shift](A))
        with pytest.raises((ValueError, IndexError)):
            shift(placed(A, S0), 2)

    ranks(body)


def test_an_item_has_an_index(ranks):
    def body():
        for at in (S0, S1, R, P):
            x = placed(A, at)
            for args in ((7,), (-1,), (2, 3), (-1, -5), ((1, 4),), ((59,),)):
                assert x.item(*args) == A.item(*args)
                assert type(x.item(*args)) is float
            for args in ((60,), (-61,), (1, 2, 3), (12, 0), (1.5,), (True,), ((),)):
                with pytest.raises((IndexError, ValueError, TypeError)) as expected:
                    A.item(*args)
                with pytest.raises(type(expected.value)) as error:
                    x.item(*args)
                assert str(error.value).startswith(str(expected.value))
        assert placed(np.array(3), R).item(()) == 3
        assert placed(A, R).to_local().item(1, 2) == A.item(1, 2)
        with strict():
            assert placed(A, R).item(59) == 59

    ranks(body)
