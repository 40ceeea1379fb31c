"""Operators in front of functions of PyTorch's dialect give what these functions give:
elements by an index, in order, padded, turned, added up."""

import numpy as np
import pytest

import dtensor.torch as torch
import dtensor.torch.nn.functional as F

RNG = np.random.default_rng(5)
SHAPES = [(5, 6), (3, 4, 5), (7,), (1, 1)]
DTYPES = ["float32", "float64", "int64", "complex64", "int8"]


def some(shape, dtype="float64"):
    x = 4 * RNG.normal(size=shape) + (1j if dtype.startswith("c") else 0)
    return torch.tensor(x.astype(dtype))


def index_of(shape, length, least=0):
    return torch.tensor(RNG.integers(least, length, shape))


def by_index(shape, dim, dtype):
    """Calls (operator, arguments): first those that are differentiated."""
    n = shape[dim]
    less = tuple(max(1, k - 1) if d != dim else k + 2 for d, k in enumerate(shape))
    same = (*shape[:dim], 3, *shape[dim + 1 :])
    x, values, slices = some(shape, dtype), some(less, dtype), some(same, dtype)
    at, along, row = index_of(less, n), index_of(same, n, -n), index_of((3,), n)
    yield torch.gather, x, dim, at
    yield torch.take_along_dim, x, along, dim
    yield torch.index_select, x, dim, row
    yield torch.take, x, index_of((2, 3), x.numel(), -x.numel())
    yield torch.scatter_add, x, dim, at, values
    yield torch.index_add, x, dim, row, slices
    once = torch.tensor(np.argsort(RNG.random(shape), dim))
    yield torch.scatter, x, dim, once, some(shape, dtype)
    if dtype.startswith("f"):
        yield torch.scatter, x, dim, once, 2.5
    if not dtype.startswith("c"):
        for reduce in ("sum", "prod", "amax", "amin"):
            yield torch.scatter_reduce, x, dim, at, values, reduce


def in_order(shape, dim, dtype):
    if dtype.startswith("c"):
        return
    x = torch.round(some(shape, dtype)) if dtype.startswith("f") else some(shape, dtype)
    for least in (False, True):
        yield torch.sort, x, dim, least
        yield torch.topk, x, max(1, shape[dim] - 1), dim, least
        yield torch.kthvalue, x, shape[dim], dim, least
        yield torch.median, x, dim, least
        yield torch.mode, x, dim, least
    yield torch.median, x


def totals(shape, dim, dtype):
    if not dtype.startswith("f"):
        return
    x = some(shape, dtype)
    for operator in (torch.cumsum, torch.cumprod, torch.cummax, torch.cummin):
        yield operator, x, dim
    for operator in (torch.sum, torch.mean, torch.prod, torch.std_mean, torch.var_mean):
        yield operator, x, dim
    for p in (1, 2, "fro"):
        yield torch.norm, x, p, dim, True
        yield torch.norm, x, p
    if len(shape) == 2:
        yield (
            torch.addmm,
            some(shape, dtype),
            some((shape[0], 3), dtype),
            some((3, shape[1]), dtype),
        )
        yield torch.addmv, some(shape[:1], dtype), x, some(shape[1:], dtype)
    yield torch.addcmul, x, some(shape, dtype), some(shape, dtype)
    yield torch.addcdiv, x, some(shape, dtype), some(shape, dtype)


def turned(shape, dim, dtype):
    x = some(shape, dtype)
    yield torch.flip, x, [dim]
    yield torch.roll, x, -2, dim
    yield F.pad, x, (1, 2)
    yield F.pad, x, (0, 1) * len(shape), "constant", 3
    if len(shape) == 3:
        for mode in ("reflect", "replicate", "circular"):
            yield F.pad, x, (2, 1), mode
    if len(shape) > 1:
        yield torch.tril, x, dim - 1
        yield torch.triu, x, dim


def pools(shape, dim, dtype):
    if len(shape) < 3 or not dtype.startswith("f"):
        return
    x, image = some((2, *shape[1:]), dtype), some((2, 3, *shape[1:]), dtype)
    for step in (1, 2):
        yield F.avg_pool1d, x, 2, step, 1
        yield F.max_pool1d, x, 2, step, 1
        yield F.avg_pool2d, image, (2, 3), step, 1, True, False
        yield F.max_pool2d, image, 3, step, 1, 1, True
        yield F.conv1d, x, some((4, x.shape[1], 2), dtype), some((4,), dtype), step, 1
        yield F.conv2d, image, some((4, 3, 2, 2), dtype), some((4,), dtype), step, 1
        volume, weight = some((1, 2, *shape), dtype), some((2, 2, 2, 2, 2), dtype)
        yield F.conv3d, volume, weight, None, step, 1
    yield F.adaptive_avg_pool2d, image, (3, 2)


KINDS = [by_index, in_order, totals, turned, pools]


def operators():
    """The names of all that is called."""
    return {
        operator.__name__
        for calls in KINDS
        for shape in SHAPES
        for operator, *_ in calls(shape, 0, "float32")
    }


def results(found):
    return found if isinstance(found, tuple) else (found,)


def gradients(function, args):
    """The results of a call, and the gradients of its operands."""
    given = [
        x.clone().requires_grad_() if torch.is_tensor(x) and x.dtype.kind == "f" else x
        for x in args
    ]
    found = results(function(*given))
    weights = np.random.default_rng(1)
    parts = [
        (x * torch.tensor(weights.normal(size=tuple(x.shape))).to(x.dtype)).sum()
        for x in found
        if x.requires_grad
    ]
    if parts:
        sum(parts).backward()
    grads = [x.grad for x in given if torch.is_tensor(x) and x.requires_grad]
    return [x.detach() for x in found], [x for x in grads if x is not None]


@pytest.mark.parametrize("calls", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_operators_give_what_their_functions_give(calls, dtype):
    single = dtype in ("float32", "complex64")
    near = {"rtol": 2e-4, "atol": 2e-3} if single else {"rtol": 1e-9, "atol": 1e-9}
    for shape in SHAPES:
        for dim in range(len(shape)):
            for operator, *args in calls(shape, dim, dtype):
                ours, theirs = (
                    gradients(f, args) for f in (operator, operator.otherwise)
                )
                assert len(ours[1]) == len(theirs[1])
                for a, b in zip(sum(ours, []), sum(theirs, []), strict=True):
                    assert (a.dtype, a.shape) == (b.dtype, b.shape), operator
                    np.testing.assert_allclose(a, b, err_msg=repr(operator), **near)


@pytest.mark.parametrize("dtype", [*"fdeibBhHlL", "?"])
@pytest.mark.parametrize("length", [1, 24, 25, 300, 4000])
def test_the_order_is_that_of_a_stable_sort(dtype, length):
    array = (40 * RNG.normal(size=(2, length))).astype(dtype)
    if dtype in "fde":
        array[:, ::7], array[:, 1::11], array[:, 2::11] = np.nan, -0.0, 0.0
    for largest in (False, True):
        order = np.argsort(array, 1, kind="stable")  # NaN is larger than every number
        if largest:
            order = np.argsort(array[:, ::-1], 1, kind="stable")
            order = length - 1 - order[:, ::-1]
        x = torch.tensor(array)
        assert np.array_equal(torch.sort(x, 1, largest).indices, order)
        for count in {1, min(5, length), length // 2, length}:
            found = torch.topk(x, count, 1, largest)
            assert np.array_equal(found.indices, order[:, :count])
            taken = np.take_along_axis(array, order[:, :count], 1)
            assert np.array_equal(found.values, taken, equal_nan=dtype in "fde")


def test_methods_in_place_write_into_the_tensor():
    x, mask = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([True, False, False])
    for change in (
        lambda x: x.clamp_(-1, 1),
        lambda x: x.masked_fill_(mask, 9.0),
        lambda x: x.scatter_add_(0, torch.tensor([1, 1]), torch.tensor([1.0, 2.0])),
        lambda x: x.exp_(),
        lambda x: x.copy_(torch.tensor([3.0, 4.0, 5.0])),
        lambda x: x.fill_(2),
        lambda x: x.zero_(),
    ):
        memory = x.numpy()
        assert change(x) is x
        assert x.numpy().base is memory.base or np.shares_memory(x.numpy(), memory)
    assert not x.any()


def test_what_backward_needs_is_not_overwritten_unnoticed():
    a = torch.ones(3, requires_grad=True)
    kept = torch.ones(3)
    out = (a * kept).sum()
    kept.clamp_(0, 0.5)
    with pytest.raises(RuntimeError):
        out.backward()


def test_windows_are_a_view():
    x = torch.arange(6.0)
    x.unfold(0, 2, 2)[1, 0] = 9
    assert x[2] == 9
    x.unfold(0, 3, 1)[0, 0] = 1
    assert x[0] == 1
    with pytest.raises(RuntimeError, match="single memory location"):
        x.unfold(0, 3, 1).add_(1)
    y = torch.ones(5, requires_grad=True)
    y.unfold(0, 3, 1).sum().backward()
    assert y.grad.tolist() == [1, 2, 3, 2, 1]


def test_a_wrong_index_is_refused_in_words():
    x, one = torch.ones(3, 3), torch.ones(1, 1)
    for place in (9, -1):  # PyTorch counts none of these from the end
        far = torch.tensor([[place]])
        calls = (
            lambda far: torch.gather(x, 1, far),
            lambda far: torch.scatter(x, 1, far, 2.0),
            lambda far: torch.scatter_add(x, 1, far, one),
            lambda far: torch.scatter_reduce(x, 1, far, one, "amax"),
            lambda far: torch.index_add(x, 0, far[0], x[:1]),
        )
        for call in calls:
            words = f"^index {place} is out of bounds for dimension . with size 3"
            with pytest.raises(RuntimeError, match=words) as raised:
                call(far)
            assert isinstance(raised.value, IndexError)
        with pytest.raises(IndexError, match="^index out of range in self"):
            torch.index_select(x, 1, far[0])
        with pytest.raises(IndexError, match=f"index {place} is out of bounds"):
            torch.index_copy(x, 0, far[0], x[:1])


def test_new_tensors_heed_the_device_and_the_dtype():
    with torch.device("meta"):
        assert torch.zeros(2).device == torch.eye(2).device == "meta"
    assert torch.ones(2, dtype=torch.int64).dtype == torch.int64
    assert torch.full((2,), 3).dtype == torch.int64
    assert torch.eye(3, 1).tolist() == [[1], [0], [0]]
    assert torch.zeros_like(torch.ones(2, 3).t()).shape == (3, 2)
    for function in (torch.zeros, torch.ones, torch.empty):
        assert function([2, 3]).shape == function(2, 3).shape == (2, 3)
        with pytest.raises(RuntimeError):
            function(-1)


def test_determinants_of_tensors_differentiate():
    a = torch.tensor(np.diag([1.0, 2.0, 4.0]), requires_grad=True)
    torch.det(a).backward()
    assert np.allclose(a.grad, np.diag([8, 4, 2]))
