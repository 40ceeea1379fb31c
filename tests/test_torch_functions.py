"""Functions and methods in PyTorch's dialect that are not as NumPy's."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Shard, distribute_tensor

nan, inf, pi = float("nan"), float("inf"), np.float32(np.pi)


def test_the_angle_of_zero_is_zero_whatever_its_sign():
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = torch.tensor([-0.0, 0, 1, -1, nan, -inf, inf], dtype=dtype)
        found = torch.angle(x)
        assert found.dtype == x.angle().dtype == dtype
        found = np.asarray(found.float())
        np.testing.assert_allclose(found, [0, 0, 0, pi, nan, pi, 0], rtol=1e-3)
        assert not np.signbit(found[:3]).any()
    whole = torch.angle(torch.tensor([0, 1, -1]))
    assert whole.dtype == torch.float32 and whole.tolist() == [0, 0, pi]
    of_complex = torch.angle(torch.tensor([complex(-0.0, 0), complex(-1, -0.0), 1j]))
    np.testing.assert_array_equal(of_complex, [pi, -pi, pi / 2])
    x = torch.tensor([-1.0, 2, -0.0], requires_grad=True)
    torch.angle(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    out = torch.empty(1)
    assert torch.angle(torch.tensor([-0.0]), out=out) is out and out.tolist() == [0]


def test_it_is_so_on_all_ranks(ranks):
    def body():
        x = distribute_tensor(torch.tensor([-0.0, -1, 2, 0, nan]), line(), [Shard(0)])
        return np.asarray(torch.angle(x).full_tensor())

    for found in ranks(body):
        np.testing.assert_array_equal(found, [0, pi, 0, 0, nan])


def test_positive_is_the_tensor_itself(ranks):
    def body():
        leaf = torch.ones(3, requires_grad=True)
        cut = distribute_tensor(torch.ones(3), line(), [Shard(0)])
        for x in (leaf, leaf * 2, torch.tensor([1, 2]), cut):
            assert x.positive() is x and torch.positive(x) is x and +x is x
            assert np.positive(x.detach()) is not x
        with pytest.raises(RuntimeError, match="^The `\\+` operator, on a bool tensor"):
            torch.positive(torch.tensor([True]))
        with pytest.raises(TypeError, match="must be Tensor, not int"):
            torch.positive(3)

    ranks(body)
