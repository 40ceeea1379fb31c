"""How parameters begin: the distributions of torch.nn.init, on every layout alike."""

import math

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import Replicate, Shard, as_tensor, distribute_tensor, nn
from dtensor.nn import init
from dtensor.nn._quantile import normal_quantile

SHAPE = (60, 40)
FAN_IN, FAN_OUT = 40, 60

# what draws -> the standard deviation, the bound (or None)
DRAWN = {
    "uniform_": (lambda x: init.uniform_(x, -2, 2), 2 / math.sqrt(3), 2),
    "normal_": (lambda x: init.normal_(x, 0, 3), 3, None),
    "xavier_uniform_": (
        lambda x: init.xavier_uniform_(x, 2),
        2 * math.sqrt(2 / (FAN_IN + FAN_OUT)),
        2 * math.sqrt(6 / (FAN_IN + FAN_OUT)),
    ),
    "xavier_normal_": (init.xavier_normal_, math.sqrt(2 / (FAN_IN + FAN_OUT)), None),
    "kaiming_uniform_": (
        lambda x: init.kaiming_uniform_(x, a=math.sqrt(5)),
        math.sqrt(1 / 3 / FAN_IN),
        math.sqrt(1 / FAN_IN),
    ),
    "kaiming_normal_": (
        lambda x: init.kaiming_normal_(x, mode="fan_out", nonlinearity="relu"),
        math.sqrt(2 / FAN_OUT),
        None,
    ),
    "trunc_normal_": (init.trunc_normal_, 0.8796, 2),
    "orthogonal_": (init.orthogonal_, math.sqrt(1 / 60), None),
    "sparse_": (lambda x: init.sparse_(x, 0.1, 1.0), math.sqrt(0.9), None),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_has_its_spread_and_depends_on_no_layout(ranks, name):
    draw, std, bound = DRAWN[name]

    def body():
        values = []
        for placement in (Replicate(), Shard(0), Shard(1)):
            dtensor.random.manual_seed(1)
            x = nn.Parameter(distribute_tensor(np.empty(SHAPE), line(), [placement]))
            assert draw(x) is x and x.is_leaf
            values.append(np.asarray(x.detach().full_tensor()))
        dtensor.random.manual_seed(1)
        values.append(draw(as_tensor(np.empty(SHAPE))).numpy())
        for value in values[1:]:
            assert np.array_equal(value, values[0])
        assert abs(values[0].std() / std - 1) < 0.06 and abs(values[0].mean()) < std / 9
        assert bound is None or abs(values[0]).max() <= bound

    ranks(body)


def test_values_that_are_not_drawn(ranks):
    def body():
        def made(fill, *shape):
            x = distribute_tensor(np.empty(shape), line(), [Shard(0)])
            return fill(nn.Parameter(x)).detach().full_tensor().numpy()

        assert np.array_equal(made(init.zeros_, 3, 2), np.zeros((3, 2)))
        assert np.array_equal(made(init.ones_, 3), np.ones(3))
        assert np.array_equal(made(lambda x: init.constant_(x, 5), 3), np.full(3, 5))
        assert np.array_equal(made(init.eye_, 5, 3), np.eye(5, 3))
        assert np.array_equal(
            made(lambda x: init.dirac_(x, 2), 4, 2, 3)[:, :, 1],
            np.tile(np.eye(2), (2, 1)),
        )

    ranks(body)


def test_orthogonal_rows_or_columns():
    for shape in ((5, 3), (3, 5), (4, 2, 3)):
        x = init.orthogonal_(as_tensor(np.empty(shape)), gain=2).numpy()
        x = x.reshape(shape[0], -1)
        small = x @ x.T if x.shape[0] < x.shape[1] else x.T @ x
        np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-12)


def test_sparse_columns_have_so_many_zeros():
    x = init.sparse_(as_tensor(np.empty((10, 6))), 0.25)
    assert ((x.numpy() == 0).sum(0) == 3).all()


def test_gains_and_bad_input_are_torchs():
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    vector, cube = as_tensor(np.empty(3)), as_tensor(np.empty((3, 3, 3)))
    for words, call in (
        ("Unsupported nonlinearity x", lambda: init.calculate_gain("x")),
        ("not a valid number", lambda: init.calculate_gain("leaky_relu", True)),
        ("fewer than 2 dimensions", lambda: init.xavier_normal_(vector)),
        ("Mode x not supported", lambda: init.kaiming_normal_(cube, mode="x")),
        ("Only tensors with 2 dimensions", lambda: init.eye_(cube)),
        ("Only tensors with 2 dimensions", lambda: init.sparse_(cube, 0.1)),
        ("2 or more dimensions", lambda: init.orthogonal_(vector)),
        ("3, 4, or 5 dimensions", lambda: init.dirac_(vector)),
        ("divisible by groups", lambda: init.dirac_(cube, 2)),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(as_tensor(np.empty((0, 3))))


def test_layers_draw_their_parameters_as_torch_does():
    dtensor.random.manual_seed(0)
    layer = nn.Linear(100, 200)
    for parameter in (layer.weight, layer.bias):
        values = parameter.detach().numpy()
        assert 0.09 < abs(values).max() <= 0.1
    assert nn.Embedding(50, 4, padding_idx=3).weight.detach().numpy()[3].sum() == 0
    conv = nn.Conv2d(4, 8, 5, groups=2)
    assert 0.12 < abs(conv.weight.detach().numpy()).max() <= 1 / math.sqrt(50)
    attention = nn.MultiheadAttention(8, 2)
    bound = math.sqrt(6 / (8 + 24))
    assert abs(attention.in_proj_weight.detach().numpy()).max() <= bound
    assert not attention.in_proj_bias.detach().numpy().any()
    assert not attention.out_proj.bias.detach().numpy().any()


def test_quantiles_of_the_normal_distribution():
    x = np.linspace(-8, 8, 161)
    p = np.array([math.erfc(-v / math.sqrt(2)) / 2 for v in x])
    np.testing.assert_allclose(normal_quantile(p[:81]), x[:81], 1e-9, 1e-14)
    np.testing.assert_allclose(normal_quantile(p[80:121]), x[80:121], 1e-9, 1e-14)
