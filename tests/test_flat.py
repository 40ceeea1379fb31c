"""x.flat, x.tobytes() and x.choose(), against NumPy."""

import numpy as np
import pytest
from meshes import square
from placed import layouts, placed

import dtensor
from dtensor import Replicate, distribute_tensor

INDICES = [3, -1, slice(None), slice(2, 9, 3), slice(None, None, -2), [0, 5, 5], ...]


def test_elements_are_those_of_numpys_flat(ranks):
    def body():
        mesh = square()
        for placements in layouts(2, mesh.ndim):
            x, whole = placed(np.arange(12.0).reshape(3, 4), mesh, placements)
            whole = whole.copy()
            assert len(x.flat) == 12 and list(x.flat) == list(whole.flat)
            assert x.tobytes() == whole.tobytes()
            assert x.tobytes("F") == whole.tobytes("F")
            for index in INDICES:
                found = x.flat[index].full_tensor()
                np.testing.assert_array_equal(found, whole.flat[index])
            for index in INDICES:
                for value in (7.5, [1, 2], np.arange(3.0)):
                    if isinstance(index, int) and np.ndim(value):
                        continue
                    x.flat[index] = value
                    whole.flat[slice(None) if index is ... else index] = value
                    np.testing.assert_array_equal(x.full_tensor(), whole)
            x.flat, whole.flat = 3, 3
            np.testing.assert_array_equal(x.full_tensor(), whole)
            x.flat = distribute_tensor(np.arange(5.0), mesh, [Replicate()] * mesh.ndim)
            whole.flat = np.arange(5.0)
            np.testing.assert_array_equal(x.full_tensor(), whole)
            with pytest.raises(IndexError):
                x.flat[12]

    ranks(body)


def test_a_tensor_of_one_rank_has_them_too():
    t = dtensor.tensor(np.arange(6.0).reshape(2, 3))
    t.flat[1:3] = 0
    assert t.flat[5] == 5 and list(t.flat) == [0, 0, 0, 3, 4, 5]
    assert np.array_equal(np.asarray(t.flat), np.asarray(t).ravel())
    assert t.tobytes() == np.asarray(t).tobytes() and t.flat.base is t
    copy = t.flat.copy()
    copy[0] = 8
    assert t[0, 0] == 0


def test_choose_is_a_method(ranks):
    def body():
        mesh = square()
        a = np.array([[0, 1, 2], [2, 1, 0]])
        choices = [10, np.arange(3), [[20], [30]]]
        for placements in layouts(2, mesh.ndim):
            if any(p.is_partial() for p in placements):
                continue
            x, _ = placed(a, mesh, placements)
            found = x.choose(choices).full_tensor()
            np.testing.assert_array_equal(found, a.choose(choices))

    ranks(body)
