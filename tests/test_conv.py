"""Convolutions are sums of products, whatever is cut; so are their gradients."""

import gradcheck
import numpy as np
import pytest
from meshes import line
from samples_training import convolved

from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor, strict
from dtensor.debug import CommDebugMode
from dtensor.ops.model import columns as _columns
from dtensor.ops.model.conv import conv1d, conv2d

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


STEPS = [
    {},
    {"kernel": (1, 1)},
    {"kernel": (1, 1), "padding": 1},
    {"kernel": (1, 1), "stride": 2},
    {"padding": 2},
    {"stride": (2, 3), "padding": (0, 1)},
    {"dilation": (2, 1), "padding": (1, 2), "stride": 2},
    {"padding": "same"},
    {"padding": "same", "dilation": (1, 2)},
    {"padding": "valid", "stride": 3},
]


@pytest.mark.parametrize("options", STEPS)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_a_convolution_is_a_sum_of_products_at_every_place(options, groups):
    kernel = options.get("kernel", (3, 2))
    options = {k: v for k, v in options.items() if k != "kernel"}
    x, w, b = arrays((3, 4, 7, 6), (8, 4 // groups, *kernel), (8,))
    given = {**options, "padding": 0 if options.get("padding") == "valid" else None}
    given = {k: v for k, v in {**options, **given}.items() if v is not None}
    given.setdefault("padding", options.get("padding", 0))
    out = conv2d(x, w, b, groups=groups, **options)
    expected = convolved(x, w, b, groups=groups, **given)
    np.testing.assert_allclose(np.asarray(out), expected, 1e-12, 1e-12)


def test_few_samples_at_a_time_give_the_same(monkeypatch):
    x, w = arrays((5, 4, 9), (6, 4, 3))
    whole_batch = np.asarray(conv1d(x, w, padding=1))
    monkeypatch.setattr(_columns, "_COLUMNS", 1)
    assert np.array_equal(np.asarray(conv1d(x, w, padding=1)), whole_batch)
    for kernel in (conv1d, conv2d):
        words = "d3,4,5 d6,4,3" if kernel is conv1d else "d3,2,4,3 d4,2,2,2"
        gradcheck.check(kernel, words, meshes=())


def test_an_input_may_lack_the_dim_of_samples():
    x, w, b = arrays((4, 7, 6), (6, 4, 3, 2), (6,))
    out = conv2d(x, w, b)
    np.testing.assert_allclose(np.asarray(out), convolved(x, w, b), 1e-12)
    assert conv1d(x[:, 0], w[..., 0]).shape == (6, 4)


def test_integers_and_no_samples_are_fine():
    x = np.arange(24).reshape(1, 2, 3, 4)
    w = np.ones((1, 2, 2, 2), int)
    out = np.asarray(conv2d(x, w))
    assert out.dtype == int and np.array_equal(out, convolved(x, w))
    assert conv2d(x[:0], w).shape == (0, 1, 2, 3)


# --- gradients ------------------------------------------------------------------------

CASES = {
    "2d": (lambda x, w, b: conv2d(x, w, b, padding=1), "d2,4,3,4 d6,4,2,3 d6"),
    "steps": (
        lambda x, w: conv2d(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
        "d2,3,4,5 d4,3,2,2",
    ),
    "groups": (lambda x, w, b: conv2d(x, w, b, groups=2), "d2,4,3,3 d4,2,2,2 d4"),
    "depthwise": (lambda x, w: conv2d(x, w, groups=4), "d2,4,3,3 d8,1,2,2"),
    "1d": (lambda x, w, b: conv1d(x, w, b, 2, "valid"), "d3,4,6 d5,4,3 d5"),
    "points": (lambda x, w, b: conv2d(x, w, b, groups=2), "d2,4,3,3 d4,2,1,1 d4"),
    "one sample": (lambda x, w: conv1d(x, w, padding="same"), "d4,5 d3,4,2"),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_first_and_second_order_are_those_of_differences(case):
    fn, words = CASES[case]
    gradcheck.check(fn, words, meshes=((2,), (2, 2)), most=4, second=True)


# --- layouts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, w, out",
    [(S0, R, S0), (R, S0, S1), (S1, S1, Partial()), (Partial(), R, Partial())],
)
def test_samples_filters_and_channels_that_are_cut_send_nothing(ranks, x, w, out):
    given = arrays((4, 6, 5, 4), (12, 6, 2, 2), (12,))

    def body():
        mesh = line()
        a = distribute_tensor(given[0], mesh, [R if x.is_partial() else x])
        if x.is_partial():
            part = a.to_local() if mesh.get_local_rank() == 0 else a.to_local() * 0
            a = DTensor.from_local(part, mesh, [x])
        b = distribute_tensor(given[1], mesh, [w])
        c = distribute_tensor(given[2], mesh, [S0 if w == S0 else R])
        with strict(), CommDebugMode() as comm:
            result = conv2d(a, b, c)
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(result.placements) == [out]
        np.testing.assert_allclose(whole(result), convolved(*given), 1e-12, 1e-12)

    ranks(body)


def test_groups_are_cut_between_each_other(ranks):
    given = arrays((2, 12, 4, 3), (24, 1, 2, 2))

    def body():
        mesh = line()
        x = distribute_tensor(given[0], mesh, [S1])
        w = distribute_tensor(given[1], mesh, [S0])
        if 12 % mesh.size() == 0:
            with strict():
                result = conv2d(x, w, groups=12)
            assert list(result.placements) == [S1]
        np.testing.assert_allclose(
            whole(conv2d(x, w, groups=12)), convolved(*given, groups=12), 1e-12, 1e-12
        )

    ranks(body)


# --- errors ---------------------------------------------------------------------------

X, W = (2, 4, 8, 9), (6, 4, 3, 3)
WRONG = [
    (X, W, {"padding": "same", "stride": 2}, "strided convolutions"),
    (X, W, {"padding": "full"}, "Invalid padding string: 'full'"),
    (X, W, {"padding": -1}, "negative padding"),
    (X, W, {"stride": 0}, "non-positive stride"),
    (X, W, {"dilation": 0}, "non-positive dilation"),
    (X, W, {"stride": (1, 2, 3)}, "a list of 2 values"),
    (X, W, {"groups": 0}, "non-positive groups"),
    (X, W, {"groups": 3}, "to have 12 channels, but got 4"),
    (X, (6, 1, 3, 3), {"groups": 4}, "divisible by 4"),
    (X, (0, 4, 3, 3), {}, "at least 1 at dimension 0"),
    ((2, 3, 8, 9), W, {}, "to have 4 channels, but got 3"),
    (X, (6, 4, 11, 3), {}, "can't be greater than actual input size"),
    ((8, 9), W, {}, "Expected 3D"),
    (X, (6, 4, 3), {}, "4-dimensional weight"),
    (X, W, {"bias": np.ones(5)}, "expected bias to be 1-dimensional with 6"),
    (X, W, {"bias": np.ones(6, "f")}, "should be the same"),
]


@pytest.mark.parametrize("x, w, options, words", WRONG)
def test_what_does_not_go_together_is_refused(x, w, options, words):
    with pytest.raises(RuntimeError, match=words):
        conv2d(np.ones(x), np.ones(w), **options)


def drawn_steps(rng, dims):
    """Lengths, a kernel, and stride, padding and dilation, with a place or more."""
    while True:
        lengths, kernel = (tuple(rng.integers(1, n, dims)) for n in (9, 4))
        stride, dilation = (tuple(rng.integers(1, 4, dims)) for _ in range(2))
        low, high = (tuple(rng.integers(0, 4, dims)) for _ in range(2))
        steps = (stride, low, high, dilation)
        if min(_columns.places_of(lengths, kernel, steps)) > 0:
            return lengths, kernel, steps


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_columns_and_their_sums_are_those_of_numpy(dims):
    rng = np.random.default_rng(dims)
    for _ in range(60):
        lengths, kernel, steps = drawn_steps(rng, dims)
        places = _columns.places_of(lengths, kernel, steps)
        x = rng.integers(-9, 10, (2, 4, *lengths))
        wide = _columns.columns_of(x, kernel, places, 2, steps)
        for dtype in (np.int8, np.int16, np.float32):  # of 1 byte: NumPy's windows
            found = _columns.columns_of(x.astype(dtype), kernel, places, 2, steps)
            np.testing.assert_array_equal(found, wide)
        wanted = _columns.from_columns(
            wide.astype(complex), x.shape, kernel, steps
        ).real
        for dtype in (np.float32, np.float64):
            found = _columns.from_columns(wide.astype(dtype), x.shape, kernel, steps)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, wanted)
