"""Views that show elements more than once: what may be written to, as in PyTorch."""

import numpy as np
import pytest
from meshes import line

import dtensor as dt
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor

ARRAY = np.arange(6.0).reshape(2, 3)
WHOLE = {
    "expand": lambda x: x.expand(2, 3),
    "expand by -1": lambda x: x.expand(-1, -1),
    "expand by ones": lambda x: x.expand(1, 1, 2, 3)[0, 0],
    "expand_as": lambda x: x.expand_as(x),
    "broadcast_to": lambda x: x.broadcast_to((2, 3)),
    "function": lambda x: torch.broadcast_to(x, (2, 3)),
}
# A view, and the elements of `ARRAY` that it shows.
PARTS = {
    "row of a column": (lambda x: x[:, :1].expand(2, 3)[:, 1], np.s_[:, 0]),
    "element of a column": (lambda x: x[:, :1].expand(2, 3)[1, 2], np.s_[1, 0]),
    "one of many": (lambda x: x.expand(4, 2, 3)[3], np.s_[:]),
    "slice of many": (lambda x: x.expand(4, 2, 3)[1:2], np.s_[None]),
    "windows": (lambda x: x.unfold(1, 2, 1)[:, 1], np.s_[:, 1:]),
    "ends of windows": (lambda x: x.unfold(1, 2, 1)[..., 1], np.s_[:, 1:]),
    "element of windows": (lambda x: x.unfold(1, 2, 1)[1, 0, 1], np.s_[1, 1]),
    "windows apart": (lambda x: x.unfold(1, 1, 2)[..., 0], np.s_[:, ::2]),
}
SHARED = {
    "column": lambda x: x[:, :1].expand(2, 3),
    "many": lambda x: x.expand(4, 2, 3),
    "rows of many": lambda x: x.expand(4, 2, 3)[1:3],
    "windows": lambda x: x.unfold(1, 2, 1),
    "turned windows": lambda x: x.unfold(1, 2, 1).T,
    "tensors": lambda x: torch.broadcast_tensors(x, torch.zeros(4, 2, 3))[0],
}
WRITES = {
    "add_": lambda x: x.add_(1),
    "operator": lambda x: x.__iadd__(1),
    "setitem": lambda x: x.__setitem__(..., x + 1),
    "copy_": lambda x: x.copy_(x + 1),
    "out": lambda x: torch.add(x, 1, out=x),
}


def more(shown):
    array = ARRAY.copy()
    array[shown] += 1
    return array


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("view", WHOLE.values(), ids=WHOLE)
def test_a_view_of_the_same_shape_is_written_through(view, write):
    x = torch.tensor(ARRAY)
    write(view(x))
    np.testing.assert_array_equal(x, ARRAY + 1)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(("view", "shown"), PARTS.values(), ids=PARTS)
def test_a_part_that_shows_no_element_twice_is_written_through(view, shown, write):
    x = torch.tensor(ARRAY)
    write(view(x))
    np.testing.assert_array_equal(x, more(shown))
    y = torch.tensor(ARRAY, requires_grad=True)
    z = y * 2
    part = view(z)
    part.mul_(3)
    (z * torch.tensor(ARRAY)).sum().backward()
    np.testing.assert_array_equal(y.grad, 2 * ARRAY + 4 * ARRAY * (more(shown) - ARRAY))


def test_an_index_of_a_view_is_written_through():
    x = torch.tensor(ARRAY)
    x.expand(4, 2, 3)[2] = 7.0
    np.testing.assert_array_equal(x, np.full((2, 3), 7))
    x = torch.tensor(ARRAY)
    windows = x[0].unfold(0, 2, 1)
    windows[1] += 10
    np.testing.assert_array_equal(x, ARRAY + [[0, 10, 10], [0, 0, 0]])
    windows[0, 0] = 5.0
    assert x[0, 0] == 5


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("view", SHARED.values(), ids=SHARED)
def test_writes_to_shared_elements_are_refused(view, write):
    x = torch.tensor(ARRAY)
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        write(view(x))
    np.testing.assert_array_equal(x, ARRAY)


def test_what_was_read_only_stays_so():
    array = np.broadcast_to(np.frombuffer(b"\1\2\3\4", np.uint8), (2, 4))
    with pytest.raises(ValueError, match=r"read-only|single memory location"):
        torch.from_numpy(array)[0].add_(1)
    view = np.broadcast_to(dt.tensor(ARRAY), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        view += 1
    with pytest.raises(ValueError, match="read-only"):
        np.broadcast_to(dt.tensor(ARRAY), (4, 2, 3))[0] += 1


def test_views_of_the_same_shape_are_written_through_on_ranks(ranks):
    def body():
        for at in (Replicate(), Shard(0), Shard(1)):
            for view in WHOLE.values():
                x = distribute_tensor(torch.tensor(ARRAY), line(), [at])
                view(x).add_(1)
                np.testing.assert_array_equal(x.full_tensor(), ARRAY + 1)

    ranks(body)
