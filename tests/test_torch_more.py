"""Functions and methods of dtensor.torch that NumPy lacks or names in another way."""

import math
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import DTensor, Partial, Shard, distribute_tensor
from dtensor.torch import nn
from dtensor.torch.utils.data import DataLoader

T = TypeVar("T")
RNG = np.random.default_rng(2)
SQUARE = RNG.normal(size=(4, 4))
GOOD = SQUARE @ SQUARE.T + 4 * np.eye(4)
TALL = RNG.normal(size=(4, 3))
LINE = RNG.normal(size=6)


def t(x):
    return torch.tensor(x)


def same(got, want, rtol=1e-10):
    if isinstance(want, tuple):
        return len(got) == len(want) and all(map(same, got, want))
    got = np.asarray(got.detach() if isinstance(got, torch.Tensor) else got)
    return got.shape == np.shape(want) and np.allclose(got, want, rtol, 1e-12)


# --- matrices -------------------------------------------------------------------------


def test_older_names_of_linear_algebra():
    a, s, b = t(SQUARE), t(GOOD), t(TALL)
    low = np.linalg.cholesky(GOOD)
    rows = [
        (torch.det(a), np.linalg.det(SQUARE)),
        (s.logdet(), np.linalg.slogdet(GOOD)[1]),
        (a.inverse(), np.linalg.inv(SQUARE)),
        (s.cholesky(upper=True), low.T),
        (torch.cholesky_solve(b, t(low)), np.linalg.solve(GOOD, TALL)),
        (torch.cholesky_inverse(t(low)), np.linalg.inv(GOOD)),
        (
            torch.triangular_solve(b, a, upper=False)[0],
            np.linalg.solve(np.tril(SQUARE), TALL),
        ),
        (torch.svd(b)[1], np.linalg.svd(TALL)[1]),
        (torch.matrix_exp(s) @ torch.matrix_exp(-s), np.eye(4)),
        (torch.matrix_exp(t(np.diag(LINE))), np.diag(np.exp(LINE))),
        (torch.dist(a, s, 1), np.abs(SQUARE - GOOD).sum()),
        (torch.nuclear_norm(b), np.linalg.svd(TALL)[1].sum()),
        (torch.cov(b), np.cov(TALL)),
        (b.corrcoef(), np.corrcoef(TALL)),
        (torch.vander(t(LINE), 3), np.vander(LINE, 3)),
        (torch.chain_matmul(a, s, b), SQUARE @ GOOD @ TALL),
    ]
    for k, (got, want) in enumerate(rows):
        assert same(got, want, 1e-8), k
    u, s, v = torch.svd(b)
    assert same(u @ torch.diag(s) @ v.T, TALL)
    assert torch.cov(t(LINE.astype("f"))).dtype == torch.float32
    complex_ = t(SQUARE + 1j)
    assert same(complex_.mH, (SQUARE + 1j).conj().T)


def test_distances_of_many_rows_are_made_by_one_product():
    rng = np.random.default_rng(1)
    one, two = rng.standard_normal((2, 3, 40, 5))[:, :, :29]
    want = np.linalg.norm(one[:, :, None] - two[:, None], axis=-1)
    for mode in (
        "use_mm_for_euclid_dist_if_necessary",
        "use_mm_for_euclid_dist",
        "donot_use_mm_for_euclid_dist",
    ):
        assert same(torch.cdist(t(one), t(two), 2.0, mode), want)
        assert same(torch.cdist(t(one[:, :3]), t(two), compute_mode=mode), want[:, :3])
    with pytest.raises(ValueError, match="fast is not a valid value for compute_mode"):
        torch.cdist(t(one), t(two), compute_mode="fast")
    assert np.isnan(np.asarray(torch.cdist(t(one * np.nan), t(two)))).all()
    alike = torch.ones(30, 3, requires_grad=True)
    torch.cdist(alike, alike.detach()).sum().backward()
    assert not np.asarray(alike.grad).any()
    x = torch.tensor(one, requires_grad=True)
    torch.cdist(x, t(two)).sum().backward()
    unit = (one[:, :, None] - two[:, None]) / want[..., None]
    assert same(x.grad, unit.sum(2), 1e-9)


def test_distances_and_blocks():
    apart = TALL[:, None] - TALL
    for p in (1.0, 2.0, 3.0):
        norms = (np.abs(apart) ** p).sum(-1) ** (1 / p)
        assert same(torch.cdist(t(TALL), t(TALL), p), norms)
        assert same(F.pdist(t(TALL), p), norms[np.triu_indices(4, 1)])
    for offset in (-2, 0, 1):
        want = np.stack([np.diag(row, offset) for row in TALL])
        assert same(torch.diag_embed(t(TALL), offset), want)
    blocks = torch.block_diag(t(TALL), t(LINE))
    assert blocks.shape == (5, 9) and same(blocks[4, 3:], LINE) and blocks.sum() != 0
    assert torch.combinations(t([1, 2, 3])).tolist() == [[1, 2], [1, 3], [2, 3]]
    assert torch.cartesian_prod(t([1, 2]), t([3, 4])).tolist() == [
        [1, 3],
        [1, 4],
        [2, 3],
        [2, 4],
    ]
    scaled = torch.renorm(t(TALL), 2, 0, 1.0)
    assert np.linalg.norm(np.asarray(scaled), axis=1).max() <= 1


# --- counts and scans -----------------------------------------------------------------


def test_counts():
    assert torch.bucketize(t([0.5, 2.0]), t([0.0, 1.0, 2.0])).tolist() == [1, 2]
    assert torch.bucketize(t([2.0]), t([0.0, 2.0]), right=True).tolist() == [2]
    x = torch.tensor([1.0, 2.0, 1.0, 4.0])
    assert x.histc(3).tolist() == [2, 1, 1] and x.histc(2, 0, 2).dtype == torch.float32
    assert torch.histogram(x, 3).bin_edges.tolist() == [1, 2, 3, 4]
    row = t([1, 1, 2, 2, 3, 1, 1])
    assert [y.tolist() for y in torch.unique_consecutive(row, True, True)] == [
        [1, 2, 3, 1],
        [0, 0, 1, 1, 2, 3, 3],
        [2, 2, 1, 2],
    ]
    assert torch.unique_consecutive(t([[1, 1], [1, 1], [2, 1]]), dim=0).shape == (2, 2)
    assert torch.nonzero_static(t([[1, 0], [2, 3]]), size=4).tolist() == [
        [0, 0],
        [1, 0],
        [1, 1],
        [-1, -1],
    ]
    with pytest.raises(RuntimeError, match="bins must be"):
        x.histc(0)


def test_scans_and_integrals():
    want = np.logaddexp.accumulate(TALL, 0)
    assert same(torch.logcumsumexp(t(TALL), 0), want)
    far = torch.logcumsumexp(t([-math.inf, 1.0, 1000.0, -1000.0]), 0)
    assert far.tolist() == [-math.inf, 1.0, 1000.0, 1000.0]
    steps = np.array([0.0, 1.0, 4.0, 9.0])
    whole = torch.trapezoid(t(TALL), t(steps), dim=0)
    assert same(whole, np.trapezoid(TALL, steps, axis=0))
    running = torch.cumulative_trapezoid(t(TALL), t(steps), dim=0)
    assert running.shape == (3, 3) and same(running[-1], np.asarray(whole))
    assert same(torch.gradient(t(TALL)), tuple(np.gradient(TALL)))
    index = t([0, 2, 0])
    most = torch.index_reduce(t(SQUARE), 0, index, t(GOOD[:3]), "amax")
    assert same(most[0], np.maximum(SQUARE[0], np.maximum(GOOD[0], GOOD[2])))


def test_windows_are_numpys_periodic_or_not():
    for name in ("hamming", "blackman", "bartlett"):
        window, numpys = getattr(torch, f"{name}_window"), getattr(np, name)
        assert same(window(6, periodic=False), numpys(6), 1e-6)
        assert same(window(6), numpys(7)[:6], 1e-6)
    assert same(torch.hann_window(5), np.hanning(6)[:5], 1e-6)
    assert same(torch.kaiser_window(5, False, 8.0), np.kaiser(5, 8.0), 1e-6)
    assert torch.hann_window(1).tolist() == [1.0]


def test_samples_of_a_distribution():
    torch.manual_seed(1)
    weights = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0]])
    drawn = torch.multinomial(weights, 4000, replacement=True)
    assert (drawn[0] == 1).all() and abs((drawn[1] == 2).double().mean() - 0.75) < 0.05
    some = torch.multinomial(torch.tensor([0.0, 1.0, 0.0, 3.0]), 2)
    assert sorted(some.tolist()) == [1, 3]
    with pytest.raises(RuntimeError, match="without replacement"):
        torch.multinomial(torch.ones(3), 5)
    x = torch.empty(4000, dtype=torch.float64)
    assert abs(float(x.log_normal_(0.0, 0.5).log().mean())) < 0.05
    assert abs(float(x.geometric_(0.25).mean()) - 4) < 0.4
    assert abs(float(x.cauchy_(3.0).median()) - 3) < 0.2


# --- memory ---------------------------------------------------------------------------


def test_memory_seen_in_another_way():
    x = torch.arange(6.0)
    assert x.as_strided((2, 3), (1, 2)).tolist() == [[0, 2, 4], [1, 3, 5]]
    put = x.as_strided_scatter(torch.zeros(2), (2,), (3,))
    assert put.tolist() == [0, 1, 2, 0, 4, 5]
    assert x.clone().resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.clone().set_(torch.ones(2)).tolist() == [1, 1]
    assert x.is_set_to(x) and not x.is_set_to(x.clone())
    assert x.clone().apply_(lambda each: each + 1).tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((4,), (2,))
    assert torch.frombuffer(bytearray(b"ab"), dtype=torch.uint8).tolist() == [97, 98]


def test_functions_at_torch_write_in_place():
    x = torch.tensor([-1.0, 2.0])
    assert torch.abs_(x) is x and x.tolist() == [1.0, 2.0]
    assert torch.clamp_(x, 0, 1).tolist() == [1.0, 1.0] and F.elu_(x) is x
    assert torch.fill(x, 3).tolist() == [3.0, 3.0] and x.tolist() == [1.0, 1.0]
    assert torch.dropout_(x, 0.5, False) is x
    y = torch.cosine_embedding_loss(torch.eye(2), torch.eye(2), torch.ones(2))
    assert y.shape == (2,)  # no reduction by default
    mean = torch.kl_div(torch.ones(2), torch.ones(2), 1)
    assert mean.shape == () and torch.embedding(torch.eye(2), t([1])).shape == (1, 2)


def test_settings_of_the_process():
    torch.set_default_device("meta")
    assert torch.ones(2).is_meta and torch.get_default_device().type == "meta"
    torch.set_default_device(None)
    assert not torch.ones(2).is_meta
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert torch.ones(2).dtype == torch.float64
    torch.set_default_tensor_type("torch.FloatTensor")
    with torch.no_grad():
        assert torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled() and not torch.is_anomaly_enabled()
    assert isinstance(torch.default_generator, torch.Generator)


# --- DTensors -------------------------------------------------------------------------


def test_filling_a_partial_sets_addends_in_pytorchs_dialect_alone(ranks):
    def body():
        mesh = line()
        for op, times in (("sum", mesh.size()), ("avg", 1), ("max", 1)):
            addend = torch.ones(2) * (mesh.get_rank() + 1)
            x = DTensor.from_local(addend, mesh, [Partial(op)])
            assert x.fill_(3.0) is x and x.to_local().tolist() == [3.0, 3.0]
            assert x.full_tensor().tolist() == [3.0 * times] * 2
            assert x.zero_().full_tensor().tolist() == [0.0, 0.0]
            y = DTensor.from_local(addend.as_numpy(), mesh, [Partial(op)])
            y.fill_(3.0)
            assert np.asarray(y.full_tensor()).tolist() == [3.0, 3.0]

    ranks(body)


CALLS = [
    lambda x: torch.lgamma(x + 5),
    lambda x: torch.erfinv(x / 10),
    lambda x: torch.logcumsumexp(x, 0),
    lambda x: torch.matrix_exp(x @ x.mT),
    lambda x: torch.cdist(x, x),
    lambda x: torch.diag_embed(x),
    lambda x: torch.block_diag(x, x),
    lambda x: torch.renorm(x, 2, 0, 1.0),
    lambda x: torch.det(x @ x.mT),
    lambda x: torch.cumulative_trapezoid(x, dim=0),
    lambda x: x.histc(5),
    lambda x: torch.unique_consecutive(torch.round(x)),
    lambda x: torch.as_strided(x, (2, 2), (3, 1)),
    lambda x: x.clone().resize_(2, 3),
]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_they_work_on_any_layout(ranks, k):
    want = np.asarray(CALLS[k](t(TALL)).detach())

    def body():
        for placement in (Shard(0), Shard(1)):
            with dtensor.no_grad():
                got = CALLS[k](distribute_tensor(t(TALL), line(), [placement]))
            whole = got.full_tensor() if isinstance(got, DTensor) else got
            np.testing.assert_allclose(np.asarray(whole), want, 1e-9, 1e-9)

    ranks(body)


def test_a_tensor_is_contiguous_in_a_format():
    x = torch.ones(2, 3, 4, 5)
    assert x.is_contiguous() and x.is_contiguous(memory_format=torch.preserve_format)
    assert not x.is_contiguous(memory_format=torch.channels_last)
    last = x.permute(0, 3, 1, 2)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert not last.is_contiguous()
    assert not torch.ones(2, 3).is_contiguous(memory_format=torch.channels_last)
    with pytest.raises(TypeError, match="must be torch.memory_format, not str"):
        x.is_contiguous(memory_format="x")


def test_classes_are_derived_from_as_from_pytorchs():
    """Abstract modules, types in annotations, and parameters that are tensors."""

    class Base(nn.Module, ABC):
        @abstractmethod
        def forward(self, x): ...

    class Net(Base, Generic[T]):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x):
            return self.inner(x)

    assert Net()(torch.ones(1, 2)).shape == (1, 2)
    assert isinstance(Net(), nn.Module) and not isinstance(3, nn.Module)
    with pytest.raises(TypeError, match="abstract"):
        Base()
    assert issubclass(nn.Parameter, torch.Tensor)
    assert issubclass(nn.Buffer, torch.Tensor)
    assert not isinstance(torch.ones(2), nn.Parameter)
    assert DataLoader[int].__origin__ is DataLoader


@pytest.mark.parametrize("replacement", [False, True])
def test_indices_drawn_of_a_cut_tensor_are_a_dtensor(ranks, replacement):
    def body():
        chances = torch.arange(1.0, 13).reshape(4, 3)
        torch.manual_seed(1)
        expected = torch.multinomial(chances, 2, replacement)
        for dim in (0, 1):
            torch.manual_seed(1)
            cut = distribute_tensor(chances, line(), [Shard(dim)])
            found = torch.multinomial(cut, 2, replacement)
            assert isinstance(found, DTensor)
            assert found.full_tensor().tolist() == expected.tolist()

    ranks(body)
