"""Lazy layers become those that fit their first input."""

import numpy as np
import pytest

import dtensor.torch as torch
from dtensor import nn as plain_nn

nn = torch.nn


def model():
    return nn.Sequential(
        nn.LazyConv2d(4, 3, padding=1),
        nn.LazyBatchNorm2d(),
        nn.Flatten(),
        nn.LazyLinear(5),
    )


def test_a_lazy_model_becomes_a_plain_one_and_keeps_its_parameters():
    net = model()
    given = list(net.parameters())
    assert all(isinstance(p, nn.UninitializedParameter) for p in given)
    assert isinstance(net[1].running_mean, nn.parameter.UninitializedBuffer)
    assert "LazyLinear(in_features=0, out_features=5" in repr(net)
    step = torch.optim.SGD(given, lr=0.1)
    net(torch.ones(2, 3, 4, 4)).sum().backward()
    assert [type(x) for x in net] == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert all(a is b for a, b in zip(net.parameters(), given, strict=True))
    assert not any(isinstance(p, nn.UninitializedParameter) for p in given)
    assert net[0].in_channels == 3 and net[3].in_features == 64
    assert net[1].running_mean.shape == (4,) and net[1].num_batches_tracked == 1
    before = net[3].bias.tolist()
    step.step()
    np.testing.assert_allclose(net[3].bias.tolist(), np.array(before) - 0.2, 1e-5)


def test_its_numbers_are_drawn_as_those_of_the_plain_layer():
    torch.manual_seed(3)
    want = nn.Linear(7, 2).weight
    torch.manual_seed(3)
    lazy = nn.LazyLinear(2)
    lazy(torch.ones(1, 7))
    assert torch.equal(lazy.weight, want)


def test_a_state_gives_shapes_too():
    full, lazy = nn.Linear(3, 2), nn.LazyLinear(2)
    assert lazy.has_uninitialized_params()
    lazy.load_state_dict(full.state_dict())
    assert not lazy.has_uninitialized_params() and lazy.weight.shape == (2, 3)
    x = torch.ones(3)
    assert torch.equal(lazy(x), full(x)) and type(lazy) is nn.Linear


@pytest.mark.parametrize(
    "make, shape, becomes",
    [
        (lambda n: n.LazyConvTranspose1d(6, 3, stride=2, groups=2), (4, 5), (6, 11)),
        (lambda n: n.LazyConv3d(2, 2, bias=False), (1, 3, 2, 2, 2), (1, 2, 1, 1, 1)),
        (lambda n: n.LazyInstanceNorm1d(), (2, 4, 5), (2, 4, 5)),
        (lambda n: n.LazyBatchNorm1d(affine=False), (2, 3), (2, 3)),
        (lambda n: n.LazyLinear(3, dtype="float64"), (2, 5), (2, 3)),
    ],
)
def test_other_arguments_are_those_of_the_layer(make, shape, becomes):
    for space in (nn, plain_nn):
        layer = make(space)
        x = torch.rand(*shape)
        x = x.double() if getattr(layer, "out_features", 0) else x
        x = x if space is nn else x.as_numpy()
        assert layer(x).shape == becomes
        assert (
            type(layer).__name__ == type(layer).__mro__[1].__name__ or space is plain_nn
        )
        assert type(layer).__name__.startswith("Lazy") is False
    assert nn.LazyInstanceNorm2d().track_running_stats


def test_an_input_that_fits_no_layer_is_refused():
    with pytest.raises(RuntimeError, match=r"Expected 2D \(unbatched\) or 3D"):
        nn.LazyConv1d(2, 3)(torch.ones(3))
    with pytest.raises(TypeError, match="in_features"):
        nn.LazyLinear(3, in_features=2)
