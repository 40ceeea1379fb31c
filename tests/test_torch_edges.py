"""Functions of PyTorch's dialect at the edges of what they take: NaN, ties, nothing."""

import math

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor.torch.distributed.tensor import Shard, distribute_tensor
from dtensor.torch.nn import functional as F

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


def test_the_median_of_nothing_is_nan_the_least_integer_or_true():
    for function in (torch.median, torch.nanmedian):
        assert np.isnan(function(torch.zeros(0)).item())
        assert function(torch.zeros(0, dtype=torch.int32)).item() == -(2**31)
        assert function(torch.zeros((0, 4), dtype=torch.bool)).item() is True


def test_masks_fill_integers_with_whole_parts_and_booleans_with_any_number():
    x = torch.tensor([3, 4, 5])
    assert x.masked_fill(x > 3, 2.7).tolist() == [3, 2, 2]
    assert x.clone().masked_fill_(x > 3, -2.7).tolist() == [3, -2, -2]
    assert (x > 3).masked_fill_(x == 3, 7).tolist() == [True] * 3


def test_what_negative_padding_removes_is_repeated_before():
    x = torch.arange(4.0).reshape(1, 1, 4)
    assert F.pad(x, (-1, 3), mode="reflect").tolist() == [[[1, 2, 3, 2, 1, 0]]]
    assert F.pad(x, (3, -2), mode="reflect").tolist() == [[[3, 2, 1, 0, 1]]]
    assert F.pad(x, (-4, 2), mode="replicate").tolist() == [[[3, 3]]]
    assert F.pad(x, (-1, 1)).tolist() == [[[1, 2, 3, 0]]]
    for mode in ("constant", "replicate"):
        with pytest.raises(RuntimeError, match="non-negative"):
            F.pad(x, (-3, -2), mode=mode)


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


def test_medians_and_running_extremes_of_bfloat16_see_nan():
    x = torch.tensor([[NAN, 1.0, 2.0], [NAN, NAN, 1.0]]).bfloat16()
    assert torch.median(x).isnan()
    assert torch.median(x, 1).values.isnan().all()
    assert torch.median(x, 1).indices.tolist() == [0, 0]
    assert torch.nanmedian(torch.zeros(0, dtype=torch.bfloat16)).isnan()
    assert torch.cummax(x, 1).indices.tolist() == [[0, 0, 0], [0, 1, 1]]
    torch.median(x.requires_grad_()).backward()
    third = torch.tensor(1 / 3).bfloat16().item()
    assert x.grad.tolist() == [[third, 0.0, 0.0], [third, third, 0.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_each_nan_is_distinct(dtype):
    x = torch.tensor([NAN, 1.0, NAN, 0.0]).to(dtype)
    found, counts = torch.unique(x, return_counts=True)
    assert found[:2].tolist() == [0.0, 1.0] and found[2:].isnan().all()
    assert counts.tolist() == [1, 1, 1, 1]


# What PyTorch 2.13 gives.
DTYPES = {
    "vander": (lambda: torch.vander(torch.tensor([True, False])), torch.int64),
    "vander8": (lambda: torch.vander(torch.ones(2, dtype=torch.int8)), torch.int64),
    "einsum": (lambda: torch.einsum("ij->j", torch.ones(2, 3).int()), torch.int64),
    "einsum of two": (
        lambda: torch.einsum("ij,kl->", *[torch.ones(2, 3).int()] * 2),
        torch.int64,
    ),
    "product": (
        lambda: torch.einsum("ij,jk->ik", *[torch.ones(2, 2).int()] * 2),
        torch.int32,
    ),
    "diagonal": (lambda: torch.einsum("ii->i", torch.ones(2, 2).int()), torch.int32),
    "ldexp": (
        lambda: torch.ldexp(torch.ones(2), torch.ones(2).double()),
        torch.float64,
    ),
    "ldexp16": (
        lambda: torch.ldexp(torch.ones(2).half(), torch.ones(2).int()),
        torch.float16,
    ),
}


@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name):
    call, dtype = DTYPES[name]
    assert call().dtype == dtype


def grad(call, *tensors):
    leaves = [x.clone().requires_grad_() for x in tensors]
    call(*leaves).sum().backward()
    return [x.grad.tolist() for x in leaves]


def test_gradients_at_infinities_and_zeros():
    x, y = torch.tensor([1.0, -math.inf]), torch.tensor([math.inf, 1.0])
    assert grad(torch.logaddexp, x, y) == [[0.0, 0.0], [1.0, 1.0]]
    assert grad(torch.logaddexp2, x, y) == [[0.0, 0.0], [1.0, 1.0]]
    assert grad(torch.nextafter, x, y) == [[1.0, 1.0], [0.0, 0.0]]
    image = torch.tensor([[[[0.0, 1.0], [2.0, 0.0]]]])
    assert grad(lambda x: F.lp_pool2d(x, 2, 1), image) == [[[[[0.0, 1.0], [1.0, 0.0]]]]]
    assert grad(torch.vander, torch.tensor([2.0, 3.0])) == [[1.0, 1.0]]


def test_an_infinity_that_nothing_is_scattered_to_has_its_gradient():
    x = torch.tensor([3.0, math.inf, 1.0])
    index, src = torch.tensor([0, 2, 2]), torch.tensor([1.0, 1.0, 5.0])
    for how, own, given in (
        ("amin", [0.0, 1.0, 0.5], [1.0, 0.5, 0.0]),
        ("amax", [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    ):
        found = grad(lambda x, src: x.scatter_reduce(0, index, src, how), x, src)  # noqa: B023
        assert found == [own, given]


def test_the_logarithm_of_no_sum():
    x = torch.zeros(2, 0, 3)
    assert torch.logsumexp(x, 1).tolist() == [[-math.inf] * 3] * 2
    assert torch.logsumexp(x, 0, keepdim=True).shape == (1, 0, 3)


def test_numbers_below_0_wrap_where_integers_have_no_sign():
    x = torch.tensor([1, 2], dtype=torch.uint8)
    assert x.index_fill(0, torch.tensor([0]), -1).tolist() == [255, 2]
    assert x.masked_fill(x > 1, -2).tolist() == [1, 254]
    assert torch.tensor([-1], dtype=torch.uint8).tolist() == [255]
    assert torch.where(x > 1, x, -1).tolist() == [255, 2]
    assert x.scatter(0, torch.tensor([0]), -1).tolist() == [255, 2]
    assert torch.full_like(x, -1).tolist() == [255, 255]
    assert torch.full((1,), -1, dtype=torch.uint16).tolist() == [65535]
    assert x.fill_(-3).tolist() == [253, 253]


WIDE = {
    "masked_fill": lambda x, n: x.masked_fill(x > 1, n),
    "masked_fill_": lambda x, n: x.masked_fill_(x > 1, n),
    "index_fill": lambda x, n: x.index_fill(0, torch.tensor([0]), n),
    "fill_": lambda x, n: x.fill_(n),
    "scatter": lambda x, n: x.scatter(0, torch.tensor([0]), n),
    "full_like": torch.full_like,
    "where": lambda x, n: torch.where(x > 1, x, n),
    "tensor": lambda x, n: torch.tensor([n], dtype=x.dtype),
    "tensor of none": lambda x, n: torch.tensor(n, dtype=x.dtype),
}


@pytest.mark.parametrize("number", [-256, 300, 2**40, -1.5, NAN, math.inf])
@pytest.mark.parametrize("name", WIDE)
def test_a_number_out_of_range_is_refused(name, number):
    x = torch.tensor([1, 2], dtype=torch.uint8)
    if name == "where" and isinstance(number, float):
        assert WIDE[name](x, number).dtype == torch.float32
        return
    with pytest.raises(RuntimeError, match=r"type uint8(_t)? without overflow"):
        WIDE[name](x, number)
    assert x.tolist() == [1, 2]


REFUSED = {
    "rot90": (lambda x: x[None, None].rot90(1, [0, 2]), IndexError, "out of range"),
    "trace": (lambda x: x.reshape(1, 1, 1).trace(), RuntimeError, "with dim 3"),
    "add": (lambda x: torch.add(x > 0, x > 0, alpha=0.5), RuntimeError, "integral"),
    "split": (lambda x: x.split(1), RuntimeError, "split expects at least a 1-dim"),
    "chunk": (lambda x: x.chunk(2), RuntimeError, "chunk expects at least a 1-dim"),
    "tensor_split": (lambda x: x.tensor_split(2), RuntimeError, "with 0 dims"),
    "unbind": (lambda x: x.unbind(), IndexError, "tensor has no dimensions"),
    "narrow": (lambda x: x.narrow(0, 0, 1), RuntimeError, "0-dim tensor"),
    "diagonal": (lambda x: torch.diagonal(x[None]), IndexError, "but got 1"),
    "amin": (lambda x: x.new_zeros(0, 2).amin((0,)), IndexError, "non-zero size"),
    "quantile": (lambda x: x.new_zeros(0).quantile(0.5), RuntimeError, "non-empty"),
    "lcm": (lambda x: torch.lcm(x > 0, x > 0), NotImplementedError, '"lcm_cpu".*Bool'),
    "rad2deg": (
        lambda x: torch.complex(x, x).rad2deg(),
        NotImplementedError,
        "ComplexFloat",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    call, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        call(torch.tensor(1.0))


# --- places ---------------------------------------------------------------------------


def test_what_is_outside_of_an_image_is_0_whatever_is_in_it():
    image = torch.tensor([[[[math.inf, 1.0], [2.0, NAN]]]])
    grid = torch.tensor([[[[3.0, 0.0], [-5.0, math.inf], [NAN, 0.0], [1.0, -1.0]]]])
    found = F.grid_sample(image, grid, "nearest", align_corners=True)
    assert found.tolist() == [[[[0.0, 0.0, 0.0, 1.0]]]]
    found = F.grid_sample(image, grid[:, :, :1], align_corners=True)
    assert found.tolist() == [[[[0.0]]]]


def test_places_of_a_number():
    assert torch.nonzero(torch.tensor(3), as_tuple=True)[0].tolist() == [0]
    assert torch.where(torch.tensor(False))[0].tolist() == []


def test_chunks_of_nothing_are_as_many_as_asked_for(ranks):
    def body():
        x = torch.zeros(2, 0, 3)
        for given in (x, distribute_tensor(x, line(), [Shard(0)])):
            assert [part.shape for part in given.chunk(3, 1)] == [(2, 0, 3)] * 3

    ranks(body)


# --- gradients ------------------------------------------------------------------------


def test_the_logarithm_of_a_base_has_the_dtype_of_the_power():
    y = torch.tensor([-1.7, 2.1], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([2.1, 6.6], dtype=torch.float16)
    torch.float_power(x, y).sum().backward()
    base = np.float64(np.float16([2.1, 6.6]))
    assert np.allclose(y.grad, base ** [-1.7, 2.1] * np.log(base), rtol=1e-12)


def test_exponents_that_are_booleans():
    x = torch.tensor([2.0, 3.0, 0.0])
    found = grad(lambda x: x ** torch.tensor([True, False, True]), x)
    assert found == [[1.0, 0.0, 1.0]]


def test_a_margin_that_is_kept_exactly_has_no_gradient():
    x, target = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([0])
    assert grad(lambda x: F.multi_margin_loss(x, target), x) == [[[0.0, 0.0, 0.0]]]


def test_a_number_that_is_there_already_goes_nowhere():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])
    assert grad(torch.nextafter, x, y) == [[0.0, 1.0], [0.0, 0.0]]


def test_powers_of_cut_vectors(ranks):
    def body():
        x = distribute_tensor(torch.tensor([2.0, 3.0]), line(), [Shard(0)])
        torch.vander(x.requires_grad_(), 3).sum().backward()
        assert x.grad.full_tensor().tolist() == [5.0, 7.0]

    ranks(body)


def test_distinct_rows_have_no_derivative(ranks):
    def body():
        x = distribute_tensor(torch.ones(2, 3), line(), [Shard(0)]).requires_grad_()
        with pytest.raises(NotImplementedError, match="derivative"):
            torch.unique(x, dim=1).sum().backward()

    ranks(body)
