"""What scripts in PyTorch's idiom met: each is as PyTorch 2.13 has it."""

import collections
import math

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn as nn
import dtensor.torch.nn.functional as F
from dtensor import Shard, distribute_tensor
from dtensor.torch.autograd import functional

X = torch.arange(6.0).view(2, 3)
BOTH = """
    cumprod cumsum cummax cummin logcumsumexp sum mean prod std var amax amin aminmax
    max min argmax argmin all any softmax log_softmax sort argsort squeeze median
    nanmedian nansum mode diff
""".split()
KEEP = "sum mean std var amax amin max min argmax all median nansum prod mode".split()


def same(found, want):
    one = isinstance(found, torch.Tensor)
    pairs = [(found, want)] if one else zip(found, want, strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("name", BOTH)
def test_axis_is_another_name_of_dim(name):
    function = getattr(torch, name)
    want = function(X, dim=1)
    assert same(function(X, axis=1), want)
    if hasattr(torch.Tensor, name):
        assert same(getattr(X, name)(axis=1), want)
    with pytest.raises(TypeError):
        function(X, dim=1, axis=1)


@pytest.mark.parametrize("name", KEEP)
def test_keepdims_is_another_name_of_keepdim(name):
    function = getattr(torch, name)
    assert same(function(X, axis=1, keepdims=True), function(X, dim=1, keepdim=True))


@pytest.mark.parametrize("limit", [-256, 300])
def test_limits_of_integers_are_numbers_of_their_dtype(limit):
    x = torch.arange(5, dtype=torch.uint8)
    assert x.clamp(min=-1).tolist() == [255] * 5
    assert x.clamp(1, 3).tolist() == [1, 1, 2, 3, 3]
    assert x.clamp(max=2.5).tolist() == [0, 1, 2, 2.5, 2.5]
    for options in ({"min": limit}, {"max": limit}):
        with pytest.raises(RuntimeError, match="type uint8_t without overflow"):
            x.clamp(**options)


def test_integers_without_a_dtype_are_int64():
    assert torch.tensor([-(2**63), 2**63 - 1]).dtype == torch.int64
    for data in ([2**63], [[1], [2**64]], -(2**63) - 1, [1, 2**63], [2**63, -1]):
        for make in (torch.tensor, torch.as_tensor, torch.asarray):
            with pytest.raises(ValueError, match="Overflow when unpacking"):
                make(data)
    assert torch.tensor(np.array([2**63])).dtype == torch.uint64
    assert torch.tensor([2**63], dtype=torch.uint64).item() == 2**63


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8])
@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0, 1)])
def test_nothing_may_be_divided_by_zero(dtype, shape):
    x = torch.zeros(shape, dtype=dtype)
    found = [x // 0, x % 0, x.fmod(0), x.floor_divide_(0)]
    found += [torch.div(x, 0, rounding_mode=mode) for mode in ("floor", "trunc")]
    assert all(y.shape == shape and y.dtype == dtype for y in found)
    for mode in ("floor", "trunc"):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            torch.div(torch.ones(3, dtype=dtype), 0, rounding_mode=mode)


def test_truncated_quotients_of_integers_by_numbers_that_they_cannot_hold():
    x = torch.arange(5, dtype=torch.uint8)
    assert torch.div(x, -1, rounding_mode="trunc").tolist() == [0] * 5
    x = torch.tensor([-7, 7, -128], dtype=torch.int8)
    assert torch.div(x, 2, rounding_mode="trunc").tolist() == [-3, 3, -64]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_erfc_has_its_digits_where_it_is_small(dtype):
    x = torch.tensor([-2.0, 0, 0.5, 3, 9], dtype=dtype)
    wanted = torch.tensor([math.erfc(each) for each in x.tolist()], dtype=dtype)
    assert torch.allclose(torch.erfc(x), wanted, rtol=4 * torch.finfo(dtype).eps)
    assert torch.erfc(torch.tensor([math.inf, -math.inf])).tolist() == [0, 2]


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logcumsumexp"])
def test_a_dim_that_is_not_there_is_told_before_the_dtype(name):
    function = getattr(torch, name)
    with pytest.raises(IndexError, match="got 2"):
        function(X.int(), 2)
    with pytest.raises(NotImplementedError, match="'(Int|Long)'"):
        function(X.int(), 1)


def test_axis_of_lists_matrices_and_spectra():
    assert torch.cat([X, X], axis=1).shape == (2, 6)
    assert torch.stack([X, X], axis=1).shape == (2, 2, 3)
    assert same(torch.linalg.norm(X, axis=1), torch.linalg.norm(X, dim=1))
    assert same(torch.fft.fft(X, axis=0), torch.fft.fft(X, dim=0))


def test_numbers_in_a_deque_are_of_the_default_dtype():
    given = collections.deque([1.5, 2.0])
    assert torch.tensor(given).dtype == torch.as_tensor(given).dtype == torch.float32
    assert torch.tensor(collections.deque([1, 2])).dtype == torch.int64


def test_windows_take_their_numbers_by_name():
    kaiser = torch.kaiser_window(21, False, 8.0)
    assert same(torch.kaiser_window(21, periodic=False, beta=8.0), kaiser)
    named = torch.hamming_window(9, periodic=False, alpha=0.5, beta=0.5)
    assert same(named, torch.hamming_window(9, False, 0.5, 0.5))
    assert same(named, torch.hann_window(9, False))
    with pytest.raises(TypeError):
        torch.hann_window(9, beta=1.0)


def test_linspace_has_pytorchs_bits():
    assert (torch.linspace(0, 1, 4) * 9 + 2).floor().tolist() == [2, 5, 7, 11]
    steps = (torch.linspace(0, 1, 13) * 12).long()
    assert steps.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7, 9, 10, 11, 12]
    assert float(torch.linspace(-1, 1, 7)[3]) == -(2.0**-25)
    assert (
        torch.linspace(3, 4, 1).tolist() == [3] and torch.linspace(3, 4, 0).numel() == 0
    )
    wide = torch.linspace(0, 1, 11, dtype=torch.float64)
    np.testing.assert_allclose(wide, np.linspace(0, 1, 11), 1e-15)


def test_counts_and_repeats():
    places = torch.tensor([0, 1, 1])
    for dtype, want in [("float32",) * 2, ("float16", "float64"), ("int64", "float64")]:
        weights = torch.ones(3, dtype=getattr(torch, dtype))
        found = torch.bincount(places, weights=weights)
        assert found.dtype == getattr(torch, want) and found.tolist() == [1, 2]
    want = [0, 0, 1, 1, 1, 2]
    assert torch.repeat_interleave(torch.tensor([2, 3, 1])).tolist() == want


def test_parts_are_tuples():
    x = torch.ones(2, 4, 2)
    for name in ("hsplit", "vsplit", "dsplit"):
        assert type(getattr(torch, name)(x, 2)) is type(getattr(x, name)(2)) is tuple


def test_parameters_of_a_plain_dict_are_sorted():
    given = {"w": torch.ones(2), "b": torch.ones(3)}
    assert list(nn.ParameterDict(given)) == ["b", "w"]
    kept = nn.ParameterDict(list(given.items()))
    assert list(kept) == list(kept.copy()) == ["w", "b"]
    assert list(nn.ParameterDict(collections.OrderedDict(given))) == ["w", "b"]


ZERO = [
    F.relu,
    F.leaky_relu,
    F.relu6,
    F.hardtanh,
    F.softshrink,
    lambda x: F.threshold(x, 0.1, 0.2),
    lambda x: F.prelu(x, torch.tensor([0.25])),
]


@pytest.mark.parametrize("function", ZERO)
def test_second_gradients_that_are_zero_are_there(function):
    model = nn.Linear(2, 3)
    x = torch.ones(4, 2, requires_grad=True)
    (grad,) = torch.autograd.grad(function(model(x)).sum(), x, create_graph=True)
    (grad**2).sum().backward()
    assert model.bias.grad.tolist() == [0, 0, 0]


def test_what_nested_gradients_made_is_not_recorded():
    grad = torch.func.grad

    def u(x, t):
        return torch.sin(x) * torch.exp(-t)

    mixed = torch.vmap(grad(grad(u, 0), 1))(torch.ones(3), torch.zeros(3))
    np.testing.assert_allclose(mixed.numpy(), -math.cos(1), 1e-6)
    for jac in (torch.func.jacrev, torch.func.jacfwd):
        found = jac(grad(lambda q, p: (q.sin() * p.sin()).sum(), 1), 0)
        assert not found(torch.ones(2), torch.ones(2)).requires_grad
    inner = grad(lambda a: grad(lambda b: a * b**2)(a))
    assert inner(torch.tensor(3.0)).item() == 12
    w = torch.tensor(2.0, requires_grad=True)
    assert grad(lambda x: x**2 * w)(torch.tensor(3.0)).requires_grad


def test_functional_derivatives_are_recorded_if_they_are_to_be():
    x = torch.tensor([1.0, 2.0])
    for function in (functional.jacobian, functional.hessian):
        for create in (True, False):
            found = function(lambda x: (x**3).sum(), x, create_graph=create)
            assert found.requires_grad is create
    for function in (functional.vjp, functional.jvp):
        with pytest.raises(RuntimeError, match="v can only be None if"):
            function(lambda x: x * 2, x)


def test_eigenvalues_of_the_upper_triangle_have_a_gradient():
    x = torch.eye(2, requires_grad=True)
    torch.linalg.eigvalsh(x, UPLO="U").sum().backward()
    assert x.grad.tolist() == [[1, 0], [0, 1]]


def test_a_function_may_save_for_a_forward_mode():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return 2 * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * grad

    x = torch.ones(2, requires_grad=True)
    Twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_tensor_of_one_element_is_assigned_as_a_number(ranks):
    x = torch.zeros(2, 2, requires_grad=True)
    y, one = x * 1, torch.ones(1, 1, requires_grad=True)
    y[0, 1] = one
    (y * torch.tensor([[2.0, 3.0], [4.0, 5.0]])).sum().backward()
    assert y.tolist() == [[0, 1], [0, 0]]
    assert one.grad.tolist() == [[3]] and x.grad.tolist() == [[2, 0], [4, 5]]

    def body():
        z = distribute_tensor(torch.zeros(4), line(), [Shard(0)])
        z[2] = torch.ones(1)
        z[1] = distribute_tensor(torch.full((1,), 2.0), line(), [Shard(0)])
        assert z.full_tensor().tolist() == [0, 2, 1, 0]

    ranks(body)


PLACED = {
    "index_add": lambda x, at, y: x.index_add(0, at, y),
    "index_copy": lambda x, at, y: x.index_copy_(0, at, source=y),
    "index_reduce": lambda x, at, y: x.index_reduce_(0, at, y, "amax"),
    "index_put": lambda x, at, y: torch.index_put(x, (at,), y),
    "put": lambda x, at, y: x.put_(at, y),
    "masked_scatter": lambda x, at, y: x.masked_scatter(x == 0, y),
}


@pytest.mark.parametrize("name", PLACED)
def test_what_is_put_by_an_index_has_the_dtype_of_what_it_is_put_into(name):
    x, at, y = torch.zeros(1), torch.tensor([0]), torch.ones(1)
    assert PLACED[name](x.clone(), at, y).tolist() == [1]
    with pytest.raises(RuntimeError, match="Float.*Double"):
        PLACED[name](x, at, y.double())
    assert x.item() == 0


def test_what_backward_does_not_read_may_be_written_to():
    x = torch.randn(3, 4, 5, requires_grad=True)
    norm = nn.BatchNorm1d(4)
    norm(x).relu().sum().backward()
    want, x.grad = x.grad, None
    F.relu(norm(x), inplace=True).sum().backward()
    assert torch.equal(x.grad, want)
    for pick in ("sort", "topk", "kthvalue", "mode"):
        options = {"k": 2} if pick in ("topk", "kthvalue") else {}
        x = torch.tensor([[3.0, 1.0, 2.0]], requires_grad=True)
        y = x * 1
        found = getattr(y, pick)(**options).values
        y -= 1
        found.sum().backward()
        assert x.grad.sum() == found.numel()
