"""Elements and rows of tensors are views in PyTorch's dialect, however they are cut."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as functional
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.torch.distributed.tensor import distribute_tensor as spread

WRITES = {
    "x[1]": lambda x: x[1].fill_(9),
    "x[-1]": lambda x: x[-1].mul_(2),
    "x[tensor]": lambda x: x[torch.tensor(2)].zero_(),
    "x[np.int64]": lambda x: x[np.int64(0)].add_(1),
    "for": lambda x: [k.neg_() for k in x],
    "unbind": lambda x: x.unbind()[2].fill_(5),
    "torch.unbind": lambda x: torch.unbind(x)[0].fill_(5),
    "select": lambda x: x.select(0, 3).fill_(7),
    "swap": lambda x: x[0].copy_(x[1].clone()),
}


R, S1 = Replicate(), Shard(1)


def whole(x):
    return np.asarray(x.full_tensor() if hasattr(x, "full_tensor") else x)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("shape", [(5,), (5, 2)])
def test_what_is_written_to_an_element_or_a_row_is_in_the_tensor(ranks, name, shape):
    def body():
        array = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        expected = torch.tensor(array[:, None] if len(shape) == 1 else array)
        WRITES[name](expected)  # of rows
        want = np.asarray(expected).reshape(shape)
        assert not np.array_equal(want, array)
        x = torch.tensor(array)
        WRITES[name](x)
        assert np.array_equal(x, want)
        for placement in (Shard(0), Replicate()):
            x = spread(torch.tensor(array), line(), [placement])
            WRITES[name](x)
            assert np.array_equal(whole(x), want)

    ranks(body)


def test_an_element_shows_what_is_written_to_the_tensor():
    x = torch.tensor([1.0, 2.0])
    first, second = x[0], x.unbind()[1]
    x.mul_(10)
    assert (first.item(), second.item()) == (10, 20)
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    z = y * 1
    z[0].mul_(3)
    z[1] *= z[0].clone()
    z.sum().backward()
    assert y.grad.tolist() == [3 + 3 * 2, 3]


def test_rows_of_a_cut_dim_are_written_back_and_recorded(ranks):
    """A recorded write into elements that had to move counts for the tensor."""

    def body():
        array = np.arange(1.0, 13).reshape(4, 3)
        for placement in (Shard(0), Shard(1), Replicate()):
            leaf = distribute_tensor(array, line(), [placement]).requires_grad_()
            x = leaf * 1
            x[0] *= 2
            x[3] += x[1]
            if placement == Shard(0) and line().size() > 1:
                x[1][1] = 0
                row = x[2]
                row *= row.copy()
            else:
                x[1, 1] = 0
                x[2] = x[2].copy() ** 2
            x.sum().backward()
            want = [[2, 2, 2], [2, 1, 2], 2 * array[2], [1, 1, 1]]
            assert np.array_equal(whole(leaf.grad), want)

    ranks(body)


def test_writes_to_what_is_turned_around_are_in_the_array(ranks):
    def body():
        array = np.arange(12.0).reshape(4, 3)
        for placement in (Shard(0), S1, R):
            for axis in (0, 1, None):
                x, want = distribute_tensor(array, line(), [placement]), array.copy()
                np.flip(x, axis)[:1] *= 5
                np.flip(want, axis)[:1] *= 5
                assert np.array_equal(whole(x), want)

    ranks(body)


def test_writes_to_the_slices_of_unstack_are_in_the_array(ranks):
    def body():
        array = np.arange(6.0).reshape(3, 2)
        for placement in (Shard(0), Shard(1), Replicate()):
            for axis in (0, 1):
                x, want = distribute_tensor(array, line(), [placement]), array.copy()
                np.unstack(x, axis=axis)[1][...] = 7
                np.unstack(want, axis=axis)[1][...] = 7
                assert np.array_equal(whole(x), want)

    ranks(body)


COPIES = {
    "flip": lambda x: x.flip(0),
    "fliplr": lambda x: torch.fliplr(x),
    "flipud": lambda x: x.flipud(),
    "rot90": lambda x: torch.rot90(x, 2),
    "diag": lambda x: torch.diag(x),
}


@pytest.mark.parametrize("name", COPIES)
def test_what_pytorch_copies_is_no_view(ranks, name):
    def body():
        array = np.arange(12.0).reshape(4, 3)
        want = np.asarray(COPIES[name](torch.tensor(array)))
        plain = torch.tensor(array)
        spreads = [spread(torch.tensor(array), line(), [p]) for p in (Shard(0), S1, R)]
        for x in (plain, *spreads):
            y = COPIES[name](x)
            y.mul_(2)
            assert np.array_equal(whole(x), array)
            assert np.array_equal(whole(y), 2 * want)

    ranks(body)


def test_other_writes_into_rows_that_had_to_move_reach_the_tensor(ranks):
    def body():
        array = np.arange(12.0).reshape(4, 3)
        for placement in (Shard(0), S1, R):
            x, want = spread(torch.tensor(array), line(), [placement]), array.copy()
            x[1].masked_fill_(x[1] > 4, -1)
            x[:1].squeeze(0).fill_(7)
            x[:, :1].squeeze(1).mul_(2)
            np.copyto(want[1], -1, where=want[1] > 4)
            want[0] = 7
            want[:, 0] *= 2
            assert np.array_equal(whole(x), want)
            y = distribute_tensor(array, line(), [placement])
            np.put_along_axis(y[2], np.array([1]), 9, 0)
            np.squeeze(y[:, 2:], 1)[...] = 3
            assert whole(y)[2].tolist() == [6, 9, 3] and whole(y)[:, 2].sum() == 12

    ranks(body)


# --- NumPy's integers, as arithmetic with shapes gives them ---------------------------

DIMS = {
    "view": lambda x, n: x.view(n(12)),
    "view in rows": lambda x, n: x.view(n(3), n(4)),
    "argmax": lambda x, n: x.argmax(n(1)),
    "max": lambda x, n: x.max(n(1)).values,
    "sum": lambda x, n: x.sum(n(1)),
    "squeeze": lambda x, n: x[None].squeeze(n(0)),
    "flip": lambda x, n: torch.flip(x, n(0)),
    "split": lambda x, n: x.split(n(3))[0],
    "chunk": lambda x, n: x.chunk(n(2))[1],
    "softmax": lambda x, n: x.softmax(n(0)),
    "layer_norm": lambda x, n: functional.layer_norm(x, (n(3),)),
    "pool": lambda x, n: functional.max_pool1d(x, n(3)),
}


@pytest.mark.parametrize("name", DIMS)
def test_numpys_integers_are_dims_and_lengths(ranks, name):
    def body():
        array = np.arange(12.0).reshape(4, 3) % 7
        for x in (torch.tensor(array), spread(torch.tensor(array), line(), [R])):
            want = DIMS[name](x, int)
            for kind in (np.int64, np.int32):
                got = DIMS[name](x, kind)
                assert got.dtype == want.dtype
                assert np.array_equal(whole(got), whole(want))

    ranks(body)


def test_numpys_integers_are_lengths_of_layers():
    x = torch.ones(1, 2, 6, 6)
    two = np.int64(2)
    assert torch.nn.Conv2d(two, two, two, stride=two)(x).shape == (1, 2, 3, 3)
    assert torch.nn.ConvTranspose2d(2, 2, two, two)(x).shape == (1, 2, 12, 12)
    assert torch.nn.ZeroPad2d(two)(torch.nn.MaxPool2d(two)(x)).shape == (1, 2, 7, 7)
    assert torch.nn.LayerNorm(np.int64(6))(x).shape == x.shape
