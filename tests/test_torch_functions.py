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


def test_tile_takes_numbers_and_lists():
    x = torch.arange(4.0).view(2, 2)
    wanted = np.tile(np.asarray(x), (2, 3))
    for found in (x.tile(2, 3), x.tile((2, 3)), x.tile([2, 3]), x.tile(dims=(2, 3))):
        np.testing.assert_array_equal(found, wanted)
    assert x.tile(3).shape == (2, 6) and x.tile(2, 1, 3).shape == (2, 2, 6)
    assert x.tile(()).tolist() == x.tolist()
    with pytest.raises(TypeError, match="missing 1 required"):
        x.tile()


def test_functions_of_python_map_elements():
    x = torch.ones(2, 2)
    assert x.map_(torch.arange(2.0), lambda a, b: a * 10 + b) is x
    assert x.tolist() == [[10, 11], [10, 11]]
    x.map2_(torch.ones(2), torch.ones(2, 1), lambda a, b, c: a - b - c)
    assert x.tolist() == [[8, 9], [8, 9]]
    y = torch.ones(2, 3)
    y.T.map_(torch.arange(6.0).view(3, 2), lambda a, b: b)
    assert y.tolist() == [[0, 2, 4], [1, 3, 5]]
    whole = torch.ones(2, dtype=torch.int64)
    assert whole.map_(whole, lambda a, b: 1.5).tolist() == [1, 1]
    halves = torch.ones(1, dtype=torch.bfloat16)
    assert halves.map_(halves, lambda a, b: a + b).tolist() == [2]


def test_map_refuses_what_pytorch_does():
    x, leaf = torch.ones(2), torch.ones(2, requires_grad=True)
    for call, text in (
        (lambda: leaf.map_(x, max), "map_"),
        (lambda: x.map_(leaf, max), "map_"),
        (lambda: x.map2_(x, leaf, max), "map2_"),
        (lambda: leaf.apply_(abs), "apply_"),
    ):
        with pytest.raises(RuntimeError, match=f"^Can't call {text}\\(\\) on Variable"):
            call()
    with pytest.raises(TypeError, match="expected torch.FloatTensor for 'other' .got"):
        x.map_(x.double(), max)
    with pytest.raises(TypeError, match="expected torch.FloatTensor for argument 'y'"):
        x.map2_(x, x.double(), max)
    with pytest.raises(TypeError, match="'other' .position 1. must be Tensor, not int"):
        x.map_(3, max)
    with pytest.raises(RuntimeError, match="number of sizes provided"):
        x.map_(torch.ones(2, 2), max)
    with pytest.raises(TypeError, match="must be real number, not str"):
        x.map_(x, lambda a, b: "3")
    assert x.tolist() == [1, 1]


def test_elements_of_dtensors_are_mapped_where_they_are(ranks):
    def body():
        x = distribute_tensor(torch.arange(6.0).view(3, 2), line(), [Shard(0)])
        other = distribute_tensor(torch.tensor([1.0, 2.0]), line(), [Shard(0)])
        third = distribute_tensor(torch.ones(3, 1), line(), [Shard(0)])
        x.map_(other, lambda a, b: 10 * a + b)
        first = x.full_tensor().tolist()
        x.map2_(other, third, lambda a, b, c: a + b + c)
        assert x.placements == (Shard(0),)
        assert x.tile(1, 2).full_tensor().shape == (3, 4)
        with pytest.raises(TypeError, match="mixed Tensor and DTensor"):
            x.map_(torch.ones(2), max)
        return first, x.full_tensor().tolist()

    for first, second in ranks(body):
        assert first == [[1, 12], [21, 32], [41, 52]]
        assert second == [[3, 15], [23, 35], [43, 55]]


def test_complex_numbers_have_no_order(ranks):
    def body():
        x = torch.tensor([[1 + 2j, 3j], [1, 2]])
        for z in (x, distribute_tensor(x, line(), [Shard(0)])):
            for name in ("argmax", "argmin"):
                for call in (
                    lambda z=z, name=name: getattr(torch, name)(z),
                    lambda z=z, name=name: getattr(torch, name)(z, 1, True),
                    lambda z=z, name=name: getattr(z, name)(dim=0),
                ):
                    with pytest.raises(RuntimeError, match="support complex input$"):
                        call()
            for name in ("amax", "amin"):
                with pytest.raises(NotImplementedError, match="'ComplexFloat'"):
                    getattr(z, name)(0)
        assert np.argmax(np.asarray(x)) == 3 and np.argmax(x) == 3

    ranks(body)


def test_empty_complex_tensors_are_refused_for_being_complex():
    for z in (torch.zeros(0, dtype=torch.complex64), torch.tensor(1j)):
        with pytest.raises(
            RuntimeError, match=r"^argmax\(\): does not support complex"
        ):
            torch.argmax(z)
