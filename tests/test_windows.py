"""Pools over three dims and of shares, sampling at places, labels without times."""

import itertools

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import Shard, distribute_tensor
from dtensor.debug import CommDebugMode

RNG = np.random.default_rng(0)
CUBE = RNG.normal(size=(2, 3, 5, 6, 7))
PLANE = CUBE[:, :, 0]


def shares(length, places):
    return [
        slice(p * length // places, -(-(p + 1) * length // places))
        for p in range(places)
    ]


def over_shares(x, places, reduce):
    out = np.empty((*x.shape[:2], *places))
    windows = [
        list(enumerate(shares(*pair))) for pair in zip(x.shape[2:], places, strict=True)
    ]
    for window in itertools.product(*windows):
        at, where = zip(*window, strict=True)
        dims = tuple(range(2, x.ndim))
        out[(..., *at)] = reduce(x[(..., *where)], axis=dims)
    return out


def values(x):
    return np.asarray(x.detach())


def test_pools_of_shares_are_the_means_and_maxima_of_their_windows():
    x, places = torch.tensor(CUBE, requires_grad=True), (2, 4, 7)
    found = F.adaptive_avg_pool3d(x, (2, 4, None))
    np.testing.assert_allclose(values(found), over_shares(CUBE, places, np.mean))
    maxima, index = F.adaptive_max_pool3d(x, (2, 4, None), return_indices=True)
    np.testing.assert_array_equal(values(maxima), over_shares(CUBE, places, np.max))
    flat = np.take_along_axis(
        CUBE.reshape(2, 3, -1), values(index).reshape(2, 3, -1), 2
    )
    np.testing.assert_array_equal(flat, values(maxima).reshape(2, 3, -1))
    maxima.sum().backward()
    counts = np.zeros((2, 3, 5 * 6 * 7))
    for n, c in np.ndindex(2, 3):
        np.add.at(counts[n, c], values(index)[n, c].ravel(), 1)
    np.testing.assert_array_equal(x.grad, counts.reshape(CUBE.shape))
    one = F.adaptive_max_pool1d(torch.tensor(CUBE[:, :, 0, 0].astype("f")), 3)
    np.testing.assert_array_equal(
        values(one), over_shares(CUBE[:, :, 0, 0], (3,), np.max).astype("f")
    )


def test_pools_over_three_dims_are_those_over_two_of_each_plane():
    deep = torch.tensor(CUBE)
    flat = deep.transpose(1, 2).flatten(0, 1)
    for pool3, pool2 in ((F.max_pool3d, F.max_pool2d), (F.avg_pool3d, F.avg_pool2d)):
        got = pool3(deep, (1, 3, 2), padding=(0, 1, 1), ceil_mode=True)
        want = pool2(flat, (3, 2), padding=1, ceil_mode=True).unflatten(0, (2, 5))
        np.testing.assert_allclose(values(got), values(want.transpose(1, 2)))
    layer = torch.nn.MaxPool3d(2, return_indices=True)
    maxima, index = layer(deep)
    back = torch.nn.MaxUnpool3d(2)(maxima, index, output_size=deep.shape)
    np.testing.assert_array_equal(values(back), np.where(values(back) == 0, 0, CUBE))
    assert values(back != 0).sum() == maxima.numel() == 2 * 3 * 2 * 3 * 3


def test_norms_of_windows():
    got = F.lp_pool2d(torch.tensor(np.abs(PLANE)), 3.0, (2, 3))
    parts = np.abs(PLANE)[:, :, :6, :6].reshape(2, 3, 3, 2, 2, 3)
    np.testing.assert_allclose(values(got), (parts**3).sum((3, 5)) ** (1 / 3))
    one = torch.nn.LPPool1d(2, 3)(torch.ones(1, 2, 7))
    np.testing.assert_allclose(values(one), np.full((1, 2, 2), 3**0.5), 1e-6)


def test_what_cannot_be_put_back_is_refused():
    x = torch.ones(1, 2, 2)
    with pytest.raises(RuntimeError, match="invalid max index: 4"):
        F.max_unpool1d(x, torch.full((1, 2, 2), 4), 2)
    with pytest.raises(ValueError, match="between 2 and 6"):
        F.max_unpool1d(x, torch.zeros(1, 2, 2, dtype=torch.int64), 2, output_size=[7])
    with pytest.raises(RuntimeError, match="shape of indices"):
        F.max_unpool1d(x, torch.zeros(1, 2, 3, dtype=torch.int64), 2)
    with pytest.raises(RuntimeError, match="invalid max index: -1"):
        F.max_unpool1d(x, torch.full((1, 2, 2), -1), 2)
    with pytest.raises(RuntimeError, match="Expected 2D or 3D input"):
        F.max_unpool1d(x[0, 0], torch.zeros(2, dtype=torch.int64), 2)


# --- sampling -------------------------------------------------------------------------

# What PyTorch 2.13 gives for the input 0 ... 11 in a 3 x 4 plane at these places.
PLACES = [[-1.2, -0.5], [0.3, 0.45], [1.6, -1.4]]
SAMPLED = {
    ("bilinear", "zeros", True): [1.4, 7.75, 0.18],
    ("bilinear", "border", False): [1.0, 8.8, 3.0],
    ("bilinear", "reflection", True): [2.3, 7.75, 3.7],
    ("nearest", "border", False): [0.0, 10.0, 3.0],
    ("bicubic", "zeros", False): [
        0.0553193359375021,
        10.3355445625,
        0.00861131250000024,
    ],
}


@pytest.mark.parametrize("mode, padding, align", SAMPLED)
def test_places_are_sampled_as_pytorch_does(mode, padding, align):
    x = torch.arange(12.0, dtype=torch.float64).view(1, 1, 3, 4)
    grid = torch.tensor([[PLACES]], dtype=torch.float64)
    got = F.grid_sample(x, grid, mode, padding, align)
    want = SAMPLED[mode, padding, align]
    np.testing.assert_allclose(values(got).ravel(), want, atol=1e-9)


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("x", [PLANE, CUBE], ids=["plane", "cube"])
def test_the_grid_of_the_identity_samples_the_input(x, align):
    count = x.ndim - 2
    same = torch.eye(count, count + 1, dtype=torch.float64).repeat(2, 1, 1)
    grid = F.affine_grid(same, x.shape, align_corners=align)
    for mode in ("bilinear", "nearest", *["bicubic"] * (count == 2)):
        got = F.grid_sample(torch.tensor(x), grid, mode, "border", align)
        np.testing.assert_allclose(values(got), x, atol=1e-12)


def test_gradients_of_samples_are_those_of_differences():
    x = torch.tensor(PLANE, requires_grad=True)
    places = RNG.uniform(-1.2, 1.2, size=(2, 2, 3, 2))
    weights = torch.tensor(RNG.normal(size=(2, 3, 2, 3)))
    for mode in ("bilinear", "bicubic"):
        grid = torch.tensor(places, requires_grad=True)
        total = (F.grid_sample(x, grid, mode, "reflection") * weights).sum()
        total.backward()
        for at in ((0, 0, 0, 0), (1, 1, 2, 1)):
            ends = []
            for step in (1e-6, -1e-6):
                moved = places.copy()
                moved[at] += step
                found = F.grid_sample(x, torch.tensor(moved), mode, "reflection")
                ends.append(float((found * weights).sum()))
            slope = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(float(grid.grad[at]), slope, 1e-5, 1e-7)


# --- labels without times -------------------------------------------------------------


def likelihood(probs, labels, blank):
    """The sum over all paths that, without repetitions and blanks, are the labels."""
    total = 0.0
    for path in itertools.product(range(probs.shape[1]), repeat=len(probs)):
        short = [k for k, _ in itertools.groupby(path) if k != blank]
        if short == list(labels):
            total += np.prod(probs[np.arange(len(path)), path])
    return total


LOGITS = RNG.normal(size=(4, 3, 3))
TARGETS = np.array([[1, 2], [2, 2], [1, 0]])
TIMES, LENGTHS = [4, 4, 3], [2, 2, 1]


def test_the_loss_of_labels_is_the_likelihood_of_all_paths():
    probs = torch.tensor(LOGITS).softmax(2)
    want = [
        -np.log(likelihood(values(probs)[:time, n], TARGETS[n, :length], 0))
        for n, (time, length) in enumerate(zip(TIMES, LENGTHS, strict=True))
    ]
    for targets in (TARGETS, np.array([1, 2, 2, 2, 1])):
        args = probs.log(), torch.tensor(targets), TIMES, LENGTHS
        none = F.ctc_loss(*args, reduction="none")
        np.testing.assert_allclose(values(none), want, 1e-12)
        mean = np.mean(np.array(want) / LENGTHS)
        np.testing.assert_allclose(float(F.ctc_loss(*args)), mean, 1e-12)
        total = torch.nn.CTCLoss(reduction="sum")(*args)
        np.testing.assert_allclose(float(total), np.sum(want), 1e-12)


def test_gradients_of_the_loss_of_labels_are_those_of_differences():
    def loss(x):
        return F.ctc_loss(x.log_softmax(2), torch.tensor(TARGETS), TIMES, LENGTHS)

    x = torch.tensor(LOGITS, requires_grad=True)
    loss(x).backward()
    for at in np.ndindex(LOGITS.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = LOGITS.copy()
            moved[at] += step
            ends.append(float(loss(torch.tensor(moved))))
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(float(x.grad[at]), slope, 1e-5, 1e-8)


def test_labels_that_do_not_fit_have_an_infinite_loss_or_none():
    x = torch.tensor(LOGITS, requires_grad=True)
    args = torch.tensor(TARGETS), [2, 2, 2], LENGTHS  # 2, 2 needs three times
    plain = F.ctc_loss(x.log_softmax(2), *args, reduction="none")
    assert np.isinf(values(plain)).tolist() == [False, True, False]
    zero = F.ctc_loss(x.log_softmax(2), *args, reduction="none", zero_infinity=True)
    zero.sum().backward()
    assert zero[1] == 0 and not x.grad[:, 1].any() and x.grad[:2, 0].all()
    with pytest.raises(RuntimeError, match="at most 4"):
        F.ctc_loss(x, torch.tensor(TARGETS), [5, 4, 4], LENGTHS)
    with pytest.raises(RuntimeError, match="every batch element"):
        F.ctc_loss(x, torch.tensor(TARGETS), [4, 4], LENGTHS)
    with pytest.raises(RuntimeError, match="label range"):
        F.ctc_loss(x, torch.tensor(TARGETS), TIMES, LENGTHS, blank=3)


def test_samples_that_are_cut_stay_cut_and_send_nothing(ranks):
    places = RNG.uniform(-1, 1, size=(2, 2, 3, 2))
    calls = [
        (lambda x: F.max_pool3d(x, 2), CUBE),
        (lambda x: F.adaptive_max_pool3d(x, 2), CUBE),
        (lambda x: F.adaptive_avg_pool3d(x, (1, 2, 3)), CUBE),
        (
            lambda x: F.ctc_loss(x, torch.tensor(TARGETS), TIMES, LENGTHS, 0, "none"),
            LOGITS,
        ),
        (lambda x: F.grid_sample(x, places), PLANE),
    ]

    def body():
        for call, array in calls:
            cut = 1 if array is LOGITS else 0
            x = distribute_tensor(torch.tensor(array), line(), [Shard(cut)])
            with CommDebugMode() as mode:
                got = call(x.requires_grad_())
                got.sum().backward()
            assert line().size() == 1 or got.placements == (Shard(0),)
            assert set(mode.get_comm_counts()) <= {"all_reduce"}  # of the sum
            plain = torch.tensor(array, requires_grad=True)
            want = call(plain)
            want.sum().backward()
            np.testing.assert_allclose(got.detach().full_tensor(), values(want))
            np.testing.assert_allclose(x.grad.full_tensor(), plain.grad, atol=1e-12)

    ranks(body)
