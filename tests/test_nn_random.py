"""Layers that draw random numbers draw the same on every layout."""

import math

import numpy as np
import pytest
from layer_rows import drawn
from meshes import line, square

from dtensor import DTensor, Replicate, Shard, distribute_tensor, nn, tensor
from dtensor.random import manual_seed

F = nn.functional
R, S0, S1, S2 = Replicate(), Shard(0), Shard(1), Shard(2)
X = drawn(6, 5, 4)

CALLS = {
    "dropout1d": lambda x: F.dropout1d(x, 0.4),
    "dropout2d": lambda x: F.dropout2d(x.reshape(6, 5, 2, 2), 0.4),
    "dropout3d": lambda x: F.dropout3d(x.reshape(6, 5, 2, 2, 1), 0.4),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.3, True),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x, 0.3, True),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, 0.7, dim=1),
    "hard gumbel_softmax": lambda x: F.gumbel_softmax(x, hard=True),
}


def whole(x):
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def run(name, x):
    """The result and the gradient, with the same random numbers each time."""
    manual_seed(3)
    out = CALLS[name](x)
    (out * np.cos(np.arange(math.prod(out.shape))).reshape(out.shape)).sum().backward()
    return whole(out.detach()), whole(x.grad)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_drawn_does_not_depend_on_the_layout(ranks, name):
    def body():
        want = run(name, tensor(X, requires_grad=True))
        for mesh, places in (
            *((line(), [p]) for p in (R, S0, S1, S2)),
            (square(), [S0, S2]),
            (square(), [S1, S1]),
        ):
            x = distribute_tensor(X, mesh, places, src_data_rank=None).requires_grad_()
            for have, value in zip(run(name, x), want, strict=True):
                np.testing.assert_allclose(have, value, 1e-12, 1e-14)

    ranks(body)


def test_channels_are_dropped_whole():
    x = tensor(np.ones((40, 30, 2, 3)))
    for layer in (nn.Dropout2d(0.25), nn.Dropout1d(0.25), nn.Dropout3d(0.25)):
        y = x.reshape(40, 30, 6) if isinstance(layer, nn.Dropout1d) else x
        y = y[:, :, None] if isinstance(layer, nn.Dropout3d) else y
        out = np.asarray(layer(y)).reshape(40, 30, -1)
        assert np.array_equal(out.min(2), out.max(2))
        assert set(np.unique(out)) == {0, 1 / 0.75}
        assert 0.15 < (out == 0).mean() < 0.35
        assert layer.eval()(y) is y
    one = np.asarray(F.dropout1d(tensor(np.ones((50, 3))), 0.5))
    assert np.array_equal(one.min(1), one.max(1)) and 0 < one.mean() < 2


def test_mean_and_variance_remain_behind_alpha_dropout():
    x = tensor(np.random.default_rng(0).standard_normal((400, 300)))
    for layer in (nn.AlphaDropout(0.2), nn.FeatureAlphaDropout(0.2)):
        out = np.asarray(layer(x))
        assert abs(out.mean()) < 0.02 and abs(out.var() - 1) < 0.03
        _, counts = np.unique(out, return_counts=True)
        assert abs(counts.max() / out.size - 0.2) < 0.04
        assert np.array_equal(layer.eval()(x), x)
    assert not np.asarray(F.alpha_dropout(x, 1.0, True)).any()


def test_slopes_are_between_the_ends():
    x = tensor(np.linspace(-2, 2, 1001))
    slopes = np.asarray(nn.RReLU(0.1, 0.3)(x))[:500] / np.asarray(x)[:500]
    assert 0.1 <= slopes.min() < 0.11 and 0.29 < slopes.max() <= 0.3
    assert np.array_equal(nn.RReLU(0.1, 0.3)(x)[501:], x[501:])


def test_samples_have_the_probabilities_of_their_logits():
    p = np.array([0.5, 0.3, 0.2])
    logits = tensor(np.log(np.broadcast_to(p, (20_000, 3))), requires_grad=True)
    sample = F.gumbel_softmax(logits, hard=True)
    found = np.asarray(sample.detach())
    assert np.allclose(found.sum(1), 1) and np.allclose(found.max(1), 1)
    assert np.allclose(found.mean(0), p, atol=0.02)
    sample[:, 0].sum().backward()
    assert np.abs(np.asarray(logits.grad)).max() > 0.1


def test_random_layers_write_into_their_input():
    for layer in (nn.Dropout1d, nn.AlphaDropout, nn.FeatureAlphaDropout, nn.RReLU):
        x, y = tensor(X), tensor(X)
        manual_seed(1)
        want = layer()(x)
        manual_seed(1)
        assert layer(inplace=True)(y) is y and np.array_equal(y, want)


def test_random_layers_refuse_what_torch_refuses():
    x = tensor(X)
    for kind, words, call in (
        (ValueError, "between 0 and 1, but got 1.5", lambda: nn.Dropout2d(1.5)),
        (ValueError, "between 0 and 1, but got -1", lambda: F.alpha_dropout(x, -1)),
        (RuntimeError, "Expected 2D or 3D input", lambda: F.dropout1d(x[0, 0])),
        (RuntimeError, "less than or equal to the upper", lambda: F.rrelu(x, 2, 1)),
        (
            RuntimeError,
            "at least 2 dimensions",
            lambda: F.feature_alpha_dropout(x[0, 0], 0.5, True),
        ),
    ):
        with pytest.raises(kind, match=words):
            call()
    with pytest.warns(UserWarning, match="dropout2d: Received a 3D input"):
        F.dropout2d(x)
    with pytest.warns(UserWarning, match="received a 6-D|Received a 6-D"):
        F.dropout3d(tensor(np.ones((1,) * 6)))
