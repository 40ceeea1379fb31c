"""delete and insert keep elements where they are; what they give is laid out as what
`take` gives of the same rows, and has its gradient."""

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

ROWS = {
    "one": 2,
    "the last": -1,
    "some": [4, 0, 0, -2],
    "none": [],
    "bytes": np.array([3, -1], np.int8),
    "a range": slice(1, 4),
    "every second, backwards": slice(None, None, -2),
    "all": slice(None),
    "a mask": [True, False, False, True, True],
}


def every_layout(array):
    for mesh in (line(), square()):
        for at in layouts(array.ndim, mesh.ndim):
            x, whole = placed(array.copy(), mesh, at)
            yield x, whole
            if x.layout.is_cut(0) and not x.layout.is_partial:
                yield x[1:], whole[1:]  # in parts of other lengths


@pytest.mark.parametrize("obj", ROWS.values(), ids=ROWS)
def test_what_is_left_is_laid_out_as_what_is_taken(ranks, obj):
    def body():
        for x, whole in every_layout(np.arange(18.0).reshape(6, 3)):
            x, whole = x[:5], whole[:5]
            if len(whole) != 5 and not isinstance(obj, int | slice):
                continue
            wanted = np.delete(whole, obj, 0)
            found = np.delete(x, obj, 0)
            np.testing.assert_array_equal(found.full_tensor(), wanted)
            kept = np.delete(np.arange(len(whole)), obj)
            same = found.layout == np.take(x, kept, 0).layout
            assert x.device_mesh.size() == 1 or same
            y = x.detach().requires_grad_()
            (np.delete(y, obj, 0) * wanted).sum().backward()
            there = np.zeros_like(whole)
            there[kept] = wanted
            np.testing.assert_array_equal(y.grad.full_tensor(), there)

    ranks(body)


@pytest.mark.parametrize("at", [0, 3, -1, 6, [5, 0, 0], [2], [], slice(0, 6, 2)])
def test_new_rows_go_to_the_part_of_the_row_before(ranks, at):
    def body():
        for x, whole in every_layout(np.arange(21.0).reshape(7, 3)):
            x, whole = x[:6], whole[:6]
            new = np.arange(3) + 0.5
            wanted = np.insert(whole, at, new, 0)
            found = np.insert(x, at, new, 0)
            np.testing.assert_array_equal(found.full_tensor(), wanted)
            numbers = np.insert(np.arange(len(whole)), at, -1)
            before = np.maximum(np.cumsum(numbers >= 0) - 1, 0)
            same = found.layout == np.take(x, before, 0).layout
            assert x.device_mesh.size() == 1 or same
            y = x.detach().requires_grad_()
            (np.insert(y, at, new, 0) * wanted).sum().backward()
            np.testing.assert_array_equal(y.grad.full_tensor(), whole)

    ranks(body)


def test_rows_that_do_not_exist_are_refused_as_by_numpy(ranks):
    array = np.arange(6.0)

    def body():
        for x, whole in every_layout(array):
            n = len(whole)
            for edit in (np.delete, lambda a, obj: np.insert(a, obj, 1.0)):
                for obj in (n + 1, -n - 1, [0, n + 1], [[0], [n + 1]], [0.5, 1.5], "a"):
                    with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
                        edit(whole, obj)
                    with pytest.raises(theirs.type) as ours:
                        edit(x, obj)
                    assert str(ours.value) == str(theirs.value)

    ranks(body)
