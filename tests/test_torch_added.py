"""PyTorch's dialect: factors that may fail, spectra, draws, and layers as functions."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Partial, Replicate, Shard, distribute_tensor
from dtensor.testing import run_ranks
from dtensor.torch import nn
from dtensor.torch.distributed.tensor import DTensor
from dtensor.torch.nn import functional as F
from dtensor.torch.nn.utils import parametrizations, prune

RNG = np.random.default_rng(7)
L = torch.linalg


def some(*shape):
    return torch.tensor(RNG.normal(size=shape))


def near(x, y, off=1e-9):
    x, y = (each.detach() if hasattr(each, "detach") else each for each in (x, y))
    np.testing.assert_allclose(np.asarray(x), np.asarray(y), off, off)


# --- linear algebra -------------------------------------------------------------------


def test_what_has_no_cholesky_factor_says_so():
    good = np.array([[4.0, 2, 0], [2, 5, 1], [0, 1, 3]])
    bad = good - np.diag([0, 8.0, 0])
    a = torch.tensor(np.stack([good, bad])).requires_grad_()
    low, info = L.cholesky_ex(a)
    near(low[0], np.linalg.cholesky(good))
    assert info.tolist() == [0, 2] and info.dtype == torch.int32
    near(L.cholesky_ex(a[0], upper=True).L, np.linalg.cholesky(good).T)
    (slope,) = torch.autograd.grad(L.cholesky_ex(a[0]).L.sum(), a)
    (want,) = torch.autograd.grad(L.cholesky(a[0]).sum(), a)
    near(slope, want)
    with pytest.raises(np.linalg.LinAlgError, match=r"\(Batch element 1\): .* 2 is"):
        L.cholesky_ex(a, check_errors=True)
    with pytest.raises(RuntimeError, match="batches of square matrices"):
        L.inv_ex(torch.ones(2, 3))


def test_singular_matrices_are_told_and_the_others_solved():
    a = some(2, 3, 3)
    a[1] = 0
    inverse, info = L.inv_ex(a)
    near(inverse[0], np.linalg.inv(a[0]))
    assert info.tolist() == [0, 1] and torch.isnan(inverse[1]).all()
    b = some(2, 3)
    near(L.solve_ex(a, b).result[0], np.linalg.solve(a[0], b[0]))
    right = some(4, 3)
    near(L.solve_ex(a[0], right, left=False).result @ a[0], right)
    assert L.lu_factor_ex(a).info.tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="singular"):
        L.solve_ex(a[1], b[1], check_errors=True)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 9])
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
def test_indefinite_matrices_are_solved_by_their_factors(n, hermitian, dtype):
    random = np.random.default_rng(n)
    a = random.normal(size=(2, n, n)).astype(dtype)
    a = a + 1j * random.normal(size=a.shape) if dtype is complex else a
    turned = np.swapaxes(a, -2, -1)
    a = a + (turned.conj() if hermitian else turned)
    a[1, :1, :1] = 0  # a block of two
    packed, pivots = L.ldl_factor(torch.tensor(a), hermitian=hermitian)
    b = random.normal(size=(2, n, 2)).astype(a.dtype)
    if n > 1:
        found = L.ldl_solve(packed, pivots, torch.tensor(b), hermitian=hermitian)
        near(a @ np.asarray(found), b)
    assert L.ldl_factor_ex(torch.zeros(2, 2)).info == 1


def test_reflections_multiply_to_q():
    a = some(2, 5, 3)
    packed, tau = torch.geqrf(a)
    q = torch.orgqr(packed, tau)
    near(q @ packed[..., :3, :].triu(), a)
    near(q.mT @ q, np.broadcast_to(np.eye(3), (2, 3, 3)))
    other = some(2, 5, 4)
    near(torch.ormqr(packed, tau, other, transpose=True)[..., :3, :], q.mT @ other)
    near(torch.ormqr(packed, tau, other.mT, left=False)[..., :3], other.mT @ q)
    values = torch.svd_lowrank(a, 3)[1]
    near(values, np.linalg.svd(a.numpy(), compute_uv=False))
    b = some(9, 9)
    values, vectors = torch.lobpcg(b @ b.T, 2)
    near(b @ b.T @ vectors, values * vectors, 1e-8)


# --- spectra --------------------------------------------------------------------------


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_a_signal_is_that_of_its_spectra(center, normalized):
    x, window = some(3, 50), torch.hamming_window(8, dtype=torch.float64)
    how = {"n_fft": 10, "hop_length": 2, "win_length": 8, "window": window}
    how |= {"center": center, "normalized": normalized}
    found = torch.stft(x, return_complex=True, **how)
    whole = np.pad(x, ((0, 0), (5, 5)), "reflect") if center else np.asarray(x)
    piece = whole[:, 4:14] * np.pad(window, 1)
    near(found[..., 2], np.fft.rfft(piece) / (10**0.5 if normalized else 1))
    if center:
        near(torch.istft(found, **how, length=50), x)
    pairs = torch.stft(x[0], return_complex=False, **how)
    assert torch.equal(torch.view_as_complex(pairs), found[0])
    with pytest.raises(RuntimeError, match="return_complex parameter"):
        x.stft(10)
    with pytest.raises(RuntimeError, match="overlap add min: 1"):
        torch.istft(found, 10, 8, window=torch.zeros(10))


def test_windows_of_a_length_have_their_middles():
    windows = torch.signal.windows
    for name in windows.__all__:
        options = {"a": [0.5, 0.5]} if name == "general_cosine" else {}
        made = getattr(windows, name)(9, dtype=torch.float64, **options)
        near(made, made.flip(0))
        assert abs(made[4].item() - 1) < 1e-6
        assert getattr(windows, name)(0, **options).shape == (0,)
    with pytest.raises(ValueError, match="non-negative window length"):
        windows.hann(-1)


# --- draws and layers -----------------------------------------------------------------


def test_draws_depend_on_the_seed_and_not_on_the_layout(ranks):
    rates = torch.linspace(0.1, 60, 30).reshape(5, 6)
    torch.manual_seed(5)
    want = torch.poisson(rates), torch.binomial(rates.round(), rates / 70)

    def body():
        for placement in (Replicate(), Shard(0), Shard(1)):
            x = distribute_tensor(rates, line(), [placement])
            torch.manual_seed(5)
            drawn = torch.poisson(x), torch.binomial(x.round(), x / 70)
            for found, each in zip(drawn, want, strict=True):
                assert torch.equal(found.full_tensor(), each)

    ranks(body)
    many = torch.poisson(torch.full((20_000,), 3.5, requires_grad=True))
    assert abs(many.mean().item() - 3.5) < 0.06 and abs(many.var().item() - 3.5) < 0.2
    with pytest.raises(RuntimeError, match="expected rate to be non-negative"):
        torch.poisson(-rates)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_recurrent_functions_are_what_the_layers_compute(kind):
    made = nn.RNN if "_" in kind else getattr(nn, kind.upper())
    more = {"nonlinearity": kind[4:]} if "_" in kind else {}
    layer = made(4, 3, 2, bidirectional=True, batch_first=True, **more)
    x, h = torch.randn(2, 5, 4), torch.randn(4, 2, 3)
    states = (h, h + 1) if kind == "lstm" else h
    how = [*layer.parameters()], True, 2, 0.0, False, True
    out, *last = getattr(torch, kind)(x, states, *how, True)
    want, ends = layer(x, states)
    near(out, want.detach(), 1e-6)
    near(last[0], (ends[0] if kind == "lstm" else ends).detach(), 1e-6)
    packed = nn.utils.rnn.pack_padded_sequence(x, [5, 3], batch_first=True)
    data = getattr(torch, kind)(packed.data, packed.batch_sizes, states, *how)[0]
    near(data, layer(packed, states)[0].data.detach(), 1e-6)


def test_pools_in_drawn_places_have_their_gradients():
    x = some(2, 3, 7, 8).requires_grad_()
    samples = torch.rand(2, 3, 2, dtype=torch.float64)
    values, index = F.fractional_max_pool2d(
        x, (2, 3), output_size=(3, 4), return_indices=True, _random_samples=samples
    )
    assert torch.equal(x.flatten(2).gather(2, index.flatten(2)), values.flatten(2))
    values.sum().backward()
    assert x.grad.sum() == values.numel()
    pool = nn.FractionalMaxPool3d(2, output_ratio=0.5)
    assert pool(torch.rand(2, 6, 6, 6)).shape == (2, 3, 3, 3)
    with pytest.raises(RuntimeError, match="pool height 3 too large"):
        F.fractional_max_pool2d(x, 3, output_size=6)


def test_adaptive_softmax_adds_up_to_one():
    loss = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0)
    x, target = torch.randn(6, 8), torch.tensor([0, 3, 4, 9, 19, 12])
    log = loss.log_prob(x)
    near(log.exp().sum(1), np.ones(6), 1e-5)
    output, mean = loss(x, target)
    near(output, log.gather(1, target[:, None])[:, 0].detach(), 1e-5)
    assert abs(mean.item() + output.mean().item()) < 1e-6
    assert torch.equal(loss.predict(x), log.argmax(1))
    with pytest.raises(RuntimeError, match="should be in"):
        loss(x, target + 5)


def test_pruned_parameters_are_trained_where_they_are_left():
    layer = nn.Linear(6, 4)
    prune.l1_unstructured(layer, "weight", 0.5)
    prune.ln_structured(layer, "weight", 1, n=2, dim=0)
    assert (layer.weight == 0).sum() >= 12 and prune.is_pruned(layer)
    layer(torch.ones(2, 6)).sum().backward()
    assert torch.equal(layer.weight_orig.grad == 0, layer.weight_mask == 0)
    prune.remove(layer, "weight")
    assert sorted(layer.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize("kind", [None, "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_orthogonal_weights_stay_so(kind, shape):
    layer = nn.Linear(*shape, dtype=torch.float64)
    parametrizations.orthogonal(layer, orthogonal_map=kind)
    layer.weight.sum().backward()
    with torch.no_grad():
        original = layer.parametrizations.weight.original
        original.add_(0.1 * (1 - torch.eye(*original.shape)))
    w = layer.weight if shape[0] >= shape[1] else layer.weight.mT
    near(w @ w.mT, np.eye(len(w)))


# --- layouts --------------------------------------------------------------------------

POSITIVE = RNG.normal(size=(4, 3, 3))
POSITIVE = POSITIVE @ np.swapaxes(POSITIVE, -2, -1) + np.eye(3)
CALLS = {
    "cholesky_ex": (lambda x: L.cholesky_ex(x).L, POSITIVE),
    "inv_ex": (lambda x: L.inv_ex(x).inverse, POSITIVE),
    "solve_ex": (lambda x: L.solve_ex(x, x[..., 0]).result, POSITIVE),
    "lu_factor_ex": (lambda x: L.lu_factor_ex(x).LU, POSITIVE),
    "ldl_factor": (lambda x: L.ldl_factor(x).LD, POSITIVE),
    "geqrf": (lambda x: torch.geqrf(x).a, POSITIVE),
    "householder": (lambda x: L.householder_product(x, x[..., 0]), POSITIVE),
    "matrix_rank": (lambda x: L.matrix_rank(x, rtol=0.4), POSITIVE),
    "vander": (lambda x: L.vander(x), RNG.normal(size=(4, 3))),
    "stft": (
        lambda x: torch.stft(x, 8, return_complex=True),
        RNG.normal(size=(4, 30)),
    ),
    "istft": (lambda x: torch.istft(x + 1j * x, 8), RNG.normal(size=(4, 5, 9))),
    "fftn": (lambda x: torch.fft.fftn(x, dim=(0, 1)), RNG.normal(size=(4, 6))),
    "fftshift": (lambda x: torch.fft.fftshift(x, dim=1), RNG.normal(size=(4, 6))),
    "CrossMapLRN2d": (nn.CrossMapLRN2d(3), RNG.normal(size=(4, 5, 2, 3))),
    "norm_except_dim": (lambda x: torch.norm_except_dim(x), RNG.normal(size=(4, 6))),
    "outer": (lambda x: torch.outer(x, x.float()), RNG.normal(size=5)),
    "einsum": (lambda x: torch.einsum("i...,j...->ij", x, x), RNG.normal(size=(4, 6))),
}


@pytest.mark.parametrize("name", CALLS)
def test_layouts_change_no_result(name):
    function, array = CALLS[name]
    want = function(torch.tensor(array))

    def body():
        mesh, x = line(), torch.tensor(array)
        for placement in (Replicate(), Shard(0), Shard(x.ndim - 1), Partial()):
            if isinstance(placement, Partial):
                part = x if mesh.get_local_rank() == 0 else torch.zeros_like(x)
                given = DTensor.from_local(part, mesh, [placement])
            else:
                given = distribute_tensor(x, mesh, [placement])
            found = function(given)
            assert found.dtype == want.dtype and isinstance(found, torch.Tensor)
            near(found.full_tensor(), want, 1e-8)

    run_ranks(2, body)
    run_ranks(3, body)
