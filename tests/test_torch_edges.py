"""Functions of PyTorch's dialect at the edges of what they take: NaN, ties, nothing."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Shard, distribute_tensor
from dtensor.torch.nn.functional import pad

NAN = float("nan")


def test_running_extremes_stay_nan():
    x = torch.tensor([1.0, NAN, 0.0, NAN, 2.0])
    for function in (torch.cummax, torch.cummin):
        values, indices = function(x, 0)
        assert np.array_equal(values, [1, NAN, NAN, NAN, NAN], equal_nan=True)
        assert indices.tolist() == [0, 1, 1, 3, 3]


@pytest.mark.parametrize("function", [torch.median, torch.nanmedian])
def test_those_equal_to_the_median_of_all_share_its_gradient(ranks, function):
    def body():
        for array, expected in (
            ([[2.0, 2.0, 3.0], [1.0, 5.0, 2.0]], [[1 / 3, 1 / 3, 0], [0, 0, 1 / 3]]),
            ([[4.0, 1.0, 3.0], [1.0, 5.0, 2.0]], [[0, 0, 0], [0, 0, 1]]),
        ):
            plain = torch.tensor(array, requires_grad=True)
            cut = distribute_tensor(torch.tensor(array), line(), [Shard(1)])
            for x in (plain, cut.requires_grad_()):
                function(x).backward()
                grad = x.grad if x is plain else x.grad.full_tensor()
                assert np.allclose(grad, expected)

    ranks(body)


def test_the_median_of_nothing_is_nan_or_the_least_integer():
    for function in (torch.median, torch.nanmedian):
        assert np.isnan(function(torch.zeros(0)).item())
        assert function(torch.zeros(0, dtype=torch.int32)).item() == -(2**31)


def test_masks_fill_integers_with_whole_parts_and_booleans_with_any_number():
    x = torch.tensor([3, 4, 5])
    assert x.masked_fill(x > 3, 2.7).tolist() == [3, 2, 2]
    assert x.clone().masked_fill_(x > 3, -2.7).tolist() == [3, -2, -2]
    assert (x > 3).masked_fill_(x == 3, 7).tolist() == [True] * 3


def test_what_negative_padding_removes_is_repeated_before():
    x = torch.arange(4.0).reshape(1, 1, 4)
    assert pad(x, (-1, 3), mode="reflect").tolist() == [[[1, 2, 3, 2, 1, 0]]]
    assert pad(x, (3, -2), mode="reflect").tolist() == [[[3, 2, 1, 0, 1]]]
    assert pad(x, (-4, 2), mode="replicate").tolist() == [[[3, 3]]]
    assert pad(x, (-1, 1)).tolist() == [[[1, 2, 3, 0]]]
    for mode in ("constant", "replicate"):
        with pytest.raises(RuntimeError, match="non-negative"):
            pad(x, (-3, -2), mode=mode)


def test_scattered_parts_and_what_is_gathered_of_nothing_have_gradients(ranks):
    def body():
        x, src = (
            distribute_tensor(torch.ones(n, 6), line(), [Shard(0)]).requires_grad_()
            for n in (5, 3)
        )
        index = torch.tensor([[0, 1, 2]] * 3)
        index = distribute_tensor(index, line(), [Shard(0)])
        (torch.scatter(x, 1, index, src) * 2).sum().backward()
        expected = np.full((5, 6), 2)
        expected[:3, :3] = 0
        assert np.array_equal(x.grad.full_tensor(), expected)
        assert np.array_equal(src.grad.full_tensor()[:, :3], np.full((3, 3), 2))
        x.grad = None
        nothing = torch.zeros(5, 0, dtype=torch.int64)
        nothing = distribute_tensor(nothing, line(), [Shard(0)])
        torch.gather(x, 1, nothing).sum().backward()
        assert not x.grad.full_tensor().any()

    ranks(body)


def test_methods_of_ufuncs_keep_the_dialect(ranks):
    def body():
        x = distribute_tensor(torch.rand(4, 5), line(), [Shard(1)])
        y = np.arange(5.0)
        for found in (
            np.maximum.accumulate(x, axis=1),
            np.add.reduce(x, axis=1),
            np.multiply.outer(x, y),
            np.add.reduceat(x, [0, 2], axis=1),
        ):
            assert isinstance(found, torch.Tensor)

    ranks(body)


def test_integers_are_not_divided_by_zero():
    x, zero = torch.tensor([3, 4]), torch.tensor([1, 0])
    for divided in (
        lambda: x // zero,
        lambda: x % zero,
        lambda: x // 0,
        lambda: torch.fmod(x, zero),
        lambda: x.clone().remainder_(zero),
        lambda: torch.div(x, zero, rounding_mode="floor"),
    ):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divided()
    assert (x // 2).tolist() == [1, 2]
    assert np.isnan((x % 0.0).numpy()).all()
