"""Gradients of convolutions as functions: torch.nn.grad."""

import itertools

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.torch.nn import grad

RNG = np.random.default_rng(4)
OPTIONS = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "padding": 1, "stride": 3},
]


def arrays(dims, options):
    x = RNG.normal(size=(2, 4, *(7, 6, 5)[:dims]))
    w = RNG.normal(size=(6, 4 // options.get("groups", 1), *(3, 2, 2)[:dims]))
    out = getattr(F, f"conv{dims}d")(torch.tensor(x), torch.tensor(w), **options)
    return x, w, RNG.normal(size=tuple(out.shape))


def written_out(x, w, g, stride=1, padding=0, dilation=1, groups=1):
    """Gradients of input and weight, product by product."""
    dims = x.ndim - 2
    pad = [(0, 0), (0, 0), *[(padding, padding)] * dims]
    padded = np.pad(x, pad)
    dx, dw = np.zeros_like(padded), np.zeros_like(w)
    inner = x.shape[1] // groups
    for at in itertools.product(*map(range, g.shape[2:])):
        for k in itertools.product(*map(range, w.shape[2:])):
            place = tuple(i * stride + j * dilation for i, j in zip(at, k, strict=True))
            for f in range(len(w)):
                first = f // (len(w) // groups) * inner
                of = (slice(None), slice(first, first + inner), *place)
                dx[of] += g[(slice(None), f, *at)][:, None] * w[(f, slice(None), *k)]
                dw[(f, slice(None), *k)] += g[(slice(None), f, *at)] @ padded[of]
    cut = [slice(padding, n - padding or None) for n in padded.shape[2:]]
    return dx[(slice(None), slice(None), *cut)], dw


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("options", OPTIONS)
def test_gradients_are_sums_of_products(dims, options):
    x, w, g = arrays(dims, options)
    of_input, of_weight = (
        getattr(grad, f"conv{dims}d_{what}") for what in ("input", "weight")
    )
    dx, dw = written_out(x, w, g, **options)
    got = of_input(x.shape, torch.tensor(w), torch.tensor(g), **options)
    assert isinstance(got, torch.Tensor) and np.allclose(got, dx)
    got = of_weight(torch.tensor(x), w.shape, torch.tensor(g), **options)
    assert np.allclose(got, dw)


def test_they_have_gradients_themselves():
    x, w, g = arrays(2, OPTIONS[1])
    given = [torch.tensor(v, requires_grad=True) for v in (w, g)]
    assert torch.autograd.gradcheck(
        lambda w, g: grad.conv2d_input(x.shape, w, g, stride=2, padding=1), given
    )


def test_samples_and_filters_may_be_cut(ranks):
    x, w, g = arrays(2, {})
    dx, dw = written_out(x, w, g)

    def body():
        mesh, cut = line(), [Shard(0)]
        xs, gs = (distribute_tensor(v, mesh, cut).as_torch() for v in (x, g))
        ws = distribute_tensor(w, mesh, [Replicate()]).as_torch()
        got = grad.conv2d_input(x.shape, ws, gs)
        assert got.placements == tuple(cut) and np.allclose(got.full_tensor(), dx)
        assert np.allclose(grad.conv2d_weight(xs, w.shape, gs).full_tensor(), dw)

    ranks(body)


def test_what_does_not_go_together_is_refused():
    x, w, g = (torch.tensor(v) for v in arrays(2, {}))
    with pytest.raises(RuntimeError, match="is not the gradient of a convolution"):
        grad.conv2d_input(x.shape, w, g[:, :, 1:])
    with pytest.raises(RuntimeError, match="Expected 3-dimensional weight"):
        grad.conv1d_input((2, 4, 7), w, g)
    with pytest.raises(RuntimeError, match="to have 2 channels"):
        grad.conv2d_weight(x, (6, 2, 3, 2), g)
    with pytest.raises(RuntimeError, match="non-positive stride"):
        grad.conv2d_weight(x, w.shape, g, stride=0)
    with pytest.raises(RuntimeError, match="the convolution of"):
        grad.conv2d_weight(x, w.shape, g.float())
