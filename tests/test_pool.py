"""Pools look at windows, whatever is cut; so do their gradients.

Values are compared with NumPy's in tests/samples_pool.py, for all placements."""

import gradcheck
import numpy as np
import pytest
from meshes import line
from samples_pool import largest, mean, shared

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    nn,
    strict,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.nn import functional as F

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def drawn(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


# --- values ---------------------------------------------------------------------------


def test_nan_is_the_largest_and_the_last_one_is_told():
    x = np.array([[[np.nan, 1, np.nan, 2, 3]]])
    values, index = F.max_pool1d(x, 3, 1, return_indices=True)
    assert np.array_equal(values, [[[np.nan, np.nan, np.nan]]], equal_nan=True)
    assert np.array_equal(index, [[[2, 2, 2]]])


def test_of_equal_elements_the_first_is_told():
    x = np.array([[[0.0, 7, 7], [7, 0, 0], [-np.inf, -np.inf, -np.inf]]])
    _, index = F.max_pool2d(x, 2, 1, return_indices=True)
    assert np.array_equal(index, [[[1, 1], [3, 4]]])
    values, index = F.max_pool2d(x[:, 2:], (1, 2), 1, return_indices=True)
    assert np.array_equal(values, [[[-np.inf, -np.inf]]])
    assert np.array_equal(index, [[[0, 1]]])


def test_a_window_that_lies_in_the_padding_has_no_element():
    x = tensor([[1.0, 2, 3, 4]], requires_grad=True)
    values, index = F.max_pool1d(x, 2, 1, 1, 5, return_indices=True)
    assert (values.item(), index.item()) == (-np.inf, -1)
    values.sum().backward()
    assert np.array_equal(x.grad, np.zeros((1, 4)))


def test_infinities_stay_in_their_windows():
    x = np.array([[[np.inf, 1, 2, -np.inf, np.inf, 5, 6]]])
    out = np.asarray(F.avg_pool1d(x, 2, 1))
    expected = [[[np.inf, 1.5, -np.inf, np.nan, np.inf, 5.5]]]
    assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(np.asarray(F.adaptive_avg_pool1d(x, 7)), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_added_in_single_precision(dtype):
    x = tensor(np.full((1, 1, 60, 60), 0.1), dtype=dtype)
    for out in (F.adaptive_avg_pool2d(x, 1), F.avg_pool2d(x, 60)):
        assert out.dtype == x.dtype
        assert out.item() == x[0, 0, 0, 0].item()


def test_integers_are_cut_off_towards_zero():
    x = np.array([[[-3, -4, 3, 4]]])
    assert np.array_equal(F.avg_pool1d(x, 2), [[[-3, 3]]])
    assert np.array_equal(F.avg_pool2d(x, 1, divisor_override=-2), [[[1, 2, -1, -2]]])
    assert np.array_equal(F.max_pool1d(x.astype("u1") % 8, 2), [[[5, 4]]])


def test_batches_without_samples_are_pooled():
    x = drawn(0, 2, 4, 5)
    assert F.max_pool2d(x, 2).shape == (0, 2, 2, 2)
    assert F.avg_pool2d(x, 2, ceil_mode=True).shape == (0, 2, 2, 3)
    assert F.adaptive_avg_pool2d(x, (None, 3)).shape == (0, 2, 4, 3)


# --- gradients ------------------------------------------------------------------------

STEPS = {"stride": (2, 1), "padding": (1, 0), "ceil_mode": True}
CASES = {
    "max": (lambda x: F.max_pool2d(x, (3, 2), **STEPS), "d2,3,5,4"),
    "max and where": (
        lambda x: F.max_pool2d(x, 2, 1, 1, (1, 2), return_indices=True)[0],
        "d2,3,4,3",
    ),
    "max of a line": (lambda x: F.max_pool1d(x, 3, 2, 1), "d4,6"),
    "mean": (lambda x: F.avg_pool2d(x, (3, 2), **STEPS), "d2,3,5,4"),
    "mean of what is inside": (
        lambda x: F.avg_pool2d(x, 2, 3, 1, True, False),
        "d2,3,4,3",
    ),
    "sum": (lambda x: F.avg_pool2d(x, 2, 1, divisor_override=1), "d2,3,3,3"),
    "mean of a line": (lambda x: F.avg_pool1d(x, 3, 1, 1), "d4,6"),
    "shares": (lambda x: F.adaptive_avg_pool2d(x, (3, None)), "d2,3,4,2"),
    "shares of a line": (lambda x: F.adaptive_avg_pool1d(x, 4), "d3,2,6"),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_first_and_second_order_are_those_of_differences(case):
    fn, words = CASES[case]
    gradcheck.check(
        lambda x: fn(x * x), words, meshes=((2,), (3,), (2, 2)), most=4, second=True
    )


# --- layouts --------------------------------------------------------------------------

POOLS = {
    "max": (lambda x: F.max_pool2d(x, 2), lambda x: largest(x, 2)),
    "mean": (lambda x: F.avg_pool2d(x, 2), lambda x: mean(x, 2)),
    "shares": (lambda x: F.adaptive_avg_pool2d(x, 3), lambda x: shared(x, 3)),
}
PASSING = [
    ("max", S0),
    ("max", S1),
    ("max", Partial("max")),
    ("mean", S0),
    ("mean", S1),
    ("mean", Partial()),
    ("mean", Partial("avg")),
    ("shares", S0),
    ("shares", Partial()),
]


@pytest.mark.parametrize("name, placement", PASSING)
def test_samples_channels_and_what_passes_send_nothing(ranks, name, placement):
    given = drawn(5, 7, 4, 6)
    act, expected = POOLS[name]

    def body():
        mesh = line()
        x = distribute_tensor(given, mesh, [R if placement.is_partial() else placement])
        if placement.is_partial():
            zero = placement.reduce_op == "sum" and mesh.get_local_rank() > 0
            x = DTensor.from_local(x.to_local() * (not zero), mesh, [placement])
        x = x.requires_grad_()
        with strict(), CommDebugMode() as comm:
            out = act(x)
            if not placement.is_partial():
                out.sum().backward()
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(out.placements) == [placement]
        np.testing.assert_allclose(whole(out), expected(given), 1e-12, 1e-12)

    ranks(body)


def test_one_rank_sends_nothing():
    mesh = line()
    if mesh.size() > 1:
        pytest.skip("for one rank")
    for placement in (R, Shard(2), Partial()):
        x = distribute_tensor(drawn(2, 3, 4, 6), mesh, [R])
        x = DTensor.from_local(x.to_local(), mesh, [placement]).requires_grad_()
        with CommDebugMode() as comm:
            for act, _ in POOLS.values():
                act(x).sum().backward()
        assert comm.get_total_counts() == 0


# --- errors ---------------------------------------------------------------------------

X = (2, 4, 8, 9)
WRONG = [
    ("max_pool2d", X, (2, None, 2), "pad should be at most half of effective kernel"),
    ("avg_pool2d", X, (2, None, -1), "pad must be non-negative, but got pad: -1"),
    ("max_pool2d", X, (2, 0), "stride should be greater than zero"),
    ("avg_pool1d", X[1:], (0, 1), "kernel size should be greater than zero"),
    ("max_pool2d", X, (2, 1, 0, 0), "dilation should be greater than zero"),
    ("max_pool2d", X, ((1, 2, 3),), "kernel_size must be a single int, or a tuple"),
    ("avg_pool1d", X[1:], ((1, 2),), "kernel_size must be an int"),
    ("max_pool2d", X[2:], (2,), "Expected 3D or 4D"),
    ("max_pool1d", X, (2,), "Expected 2D or 3D"),
    ("adaptive_avg_pool2d", X[2:], (2,), "Expected 3D or 4D"),
    ("max_pool2d", X, (9,), r"Given input size: \(4x8x9\). Calculated output size: "),
    ("avg_pool2d", (2, 0, 4, 4), (2,), "optional 0 dim batch size"),
    ("avg_pool2d", X, (2, None, 0, False, True, 0), "divisor must be not zero"),
    ("adaptive_avg_pool2d", X, ((1, 2, 3),), "output_size must be 2"),
    ("adaptive_avg_pool1d", X[1:], (-1,), "greater than or equal to 0 but received"),
    ("adaptive_avg_pool2d", (2, 1, 0, 3), (2,), "non-zero size for non-batch"),
]


@pytest.mark.parametrize("name, shape, arguments, words", WRONG)
def test_what_does_not_go_together_is_refused(name, shape, arguments, words):
    with pytest.raises(RuntimeError, match=words):
        getattr(F, name)(np.ones(shape), *arguments)


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("max_pool2d", bool),
        ("max_pool2d", complex),
        ("avg_pool2d", np.int32),
        ("adaptive_avg_pool2d", int),
    ],
)
def test_dtypes_without_such_a_pool_are_refused(name, dtype):
    with pytest.raises(NotImplementedError, match=f'"{name}" not implemented for'):
        getattr(F, name)(np.ones((1, 2, 4, 4), dtype), 2)


# --- modules --------------------------------------------------------------------------


def test_modules_call_the_functions_of_their_names():
    x, y = tensor(drawn(2, 3, 7, 6)), tensor(drawn(2, 3, 7))
    for module, name, given, arguments in (
        (nn.MaxPool2d, "max_pool2d", x, (3, 2, 1, 1)),
        (nn.MaxPool1d, "max_pool1d", y, (3, 2, 1, 1)),
        (nn.AvgPool2d, "avg_pool2d", x, ((3, 2), None, 1, True, False, 7)),
        (nn.AvgPool1d, "avg_pool1d", y, (3, None, 1, True, False)),
        (nn.AdaptiveAvgPool2d, "adaptive_avg_pool2d", x, ((None, 4),)),
        (nn.AdaptiveAvgPool1d, "adaptive_avg_pool1d", y, (4,)),
    ):
        got = module(*arguments)(given)
        assert np.array_equal(got, getattr(F, name)(given, *arguments))
    values, index = nn.MaxPool2d(2, return_indices=True, ceil_mode=True)(x)
    assert values.shape == index.shape == (2, 3, 4, 3)


def test_modules_tell_their_arguments_as_torch_does():
    assert [
        repr(module)
        for module in (
            nn.MaxPool2d((3, 2), padding=1),
            nn.AvgPool1d(2, 3),
            nn.AvgPool2d(2, divisor_override=3),
            nn.AdaptiveAvgPool2d((None, 2)),
        )
    ] == [
        "MaxPool2d(kernel_size=(3, 2), stride=(3, 2), padding=1, dilation=1, "
        "ceil_mode=False)",
        "AvgPool1d(kernel_size=(2,), stride=(3,), padding=(0,))",
        "AvgPool2d(kernel_size=2, stride=2, padding=0)",
        "AdaptiveAvgPool2d(output_size=(None, 2))",
    ]
