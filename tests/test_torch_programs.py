"""PyTorch's dialect: what programs showed that were compared with PyTorch 2.13."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.testing import run_ranks
from dtensor.torch import nn
from dtensor.torch.nn import functional as F

grad = torch.autograd.grad
RNG = np.random.default_rng(5)


def some(*shape, at=None):
    x = RNG.normal(size=shape) if at is None else np.array(at, float)
    return torch.tensor(x, requires_grad=True)


def near(x, y, off=1e-9):
    np.testing.assert_allclose(np.asarray(x.detach()), y, off, off)


# --- third derivatives ----------------------------------------------------------------


def test_the_third_derivative_of_cross_entropy_is_pytorchs():
    x = some(at=[[0.0, 1.0, 2.0]])
    g = grad(F.cross_entropy(x, torch.tensor([2])), x, create_graph=True)[0]
    h = grad(g[0, 0], x, create_graph=True)[0]
    near(grad(h[0, 0], x)[0], [[0.0672, -0.0181, -0.0491]], 1e-4)


def third(function, *xs):
    """Return how far third derivatives are from differences of the second."""
    weights = [[RNG.normal(size=x.shape) for x in xs] for _ in range(2)]

    def second(*given):
        ts = [torch.tensor(x, requires_grad=True) for x in given]
        total = function(*ts)
        for each in weights:
            slopes = grad(total, ts, create_graph=True)
            pairs = zip(slopes, each, strict=True)
            total = sum((g * torch.tensor(w)).sum() for g, w in pairs)
        return ts, total

    ts, total = second(*xs)
    worst = 0.0
    for k, found in enumerate(grad(total, ts)):
        way, step = RNG.normal(size=xs[k].shape), 1e-5
        ends = (
            second(*xs[:k], xs[k] + s * way, *xs[k + 1 :])[1].item()
            for s in (step, -step)
        )
        high, low = ends
        want = (high - low) / (2 * step)
        got = float((np.asarray(found) * way).sum())
        worst = max(worst, abs(want - got) / (1 + abs(want)))
    return worst


LABELS = torch.tensor([0, 2, -100, 1])


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("weight", [None, torch.tensor([0.5, 1.0, 2.0]).double()])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_third_derivatives_of_cross_entropy_are_those_of_differences(
    smoothing, weight, reduction
):
    def loss(x):
        found = F.cross_entropy(
            x, LABELS, weight, reduction=reduction, label_smoothing=smoothing
        )
        return (found * found).sum()

    assert third(loss, RNG.normal(size=(4, 3))) < 1e-7


@pytest.mark.parametrize("options", [{}, {"is_causal": True}])
def test_third_derivatives_of_attention_are_those_of_differences(options):
    q, k, v = (RNG.normal(size=(1, 2, n, 3)) for n in (4, 5, 5))

    def total(*operands):
        return (F.scaled_dot_product_attention(*operands, **options) ** 2).sum()

    assert third(total, q, k, v) < 1e-7


def test_third_derivatives_are_the_same_where_classes_are_cut():
    x = RNG.normal(size=(2, 30))

    def of(given, target):
        weight = torch.tensor(np.cos(np.arange(60.0)).reshape(2, 30))
        if isinstance(given, dtensor.DTensor):
            weight = distribute_tensor(weight, given.device_mesh, given.placements)
        total = F.cross_entropy(given, target)
        for _ in range(2):
            total = (grad(total, given, create_graph=True)[0] * weight).sum()
        return grad(total, given)[0]

    want = of(torch.tensor(x, requires_grad=True), torch.tensor([3, 29]))

    def body():
        mesh = line()
        for placement in (Shard(0), Shard(1), Replicate()):
            cut = distribute_tensor(torch.tensor(x), mesh, [placement])
            target = distribute_tensor(torch.tensor([3, 29]), mesh, [Replicate()])
            near(of(cut.requires_grad_(), target).full_tensor(), np.asarray(want))

    run_ranks(3, body)


# --- powers ---------------------------------------------------------------------------

BASES = [-3.0, -1.5, -0.0, 0.0, 0.25, 2.0, np.inf, -np.inf, np.nan]
PRODUCTS = {
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    -1: lambda x: 1 / x,
    -2: lambda x: 1 / (x * x),
    0.5: np.sqrt,
    -0.5: lambda x: 1 / np.sqrt(x),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", PRODUCTS)
def test_a_few_exponents_are_products(dtype, exponent):
    x = np.concatenate([BASES, RNG.normal(size=200)]).astype(dtype)
    want = PRODUCTS[exponent](x)
    t = torch.tensor(x)
    ways = [t**exponent, torch.pow(t, float(exponent)), t.clone().pow_(exponent)]
    ways.append(torch.pow(t, exponent, out=torch.empty_like(t)))
    for found in ways:
        assert found.dtype == t.dtype
        np.testing.assert_array_equal(np.asarray(found), want)
        np.testing.assert_array_equal(np.signbit(found)[:8], np.signbit(want)[:8])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("exponent", [4, 5, 5.0, 8, -3, -4, 0, 1, 7.0, 1.5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_other_powers_are_numpys_within_an_ulp_or_two(dtype, exponent):
    t = torch.tensor(BASES + [0.7, -0.9]).to(getattr(torch, dtype))
    want = np.power(np.asarray(t.double()), exponent)
    found = np.asarray((t**exponent).double())
    eps = 2 * torch.finfo(t.dtype).eps
    np.testing.assert_allclose(found, want, eps)
    known = ~np.isnan(want)
    assert (np.signbit(found) == np.signbit(want))[known].all()


def test_powers_have_gradients_of_all_orders():
    x = torch.tensor([0.4, 1.5, 2.0], dtype=torch.float64, requires_grad=True)
    for exponent in (3, -2, 4, 5.0, -0.5):
        assert torch.autograd.gradgradcheck(lambda t, n=exponent: t**n, (x,))
    y = torch.tensor([-2.0], requires_grad=True)
    assert grad((y**3).sum(), y)[0].item() == 12
    assert torch.float_power(y, 3).dtype == torch.float64


def test_cut_tensors_are_raised_where_they_are():
    def body():
        mesh = line()
        x = distribute_tensor(torch.tensor(np.arange(-4.0, 4)), mesh, [Shard(0)])
        with dtensor.debug.CommDebugMode() as comm:
            y = x**3, x**4, x**5.0
        assert not comm.get_total_counts()
        assert all(each.placements == x.placements for each in y)
        assert y[0].full_tensor().tolist() == [-64, -27, -8, -1, 0, 1, 8, 27]

    run_ranks(2, body)


def test_integers_and_numpys_dialect_are_raised_as_before():
    assert (torch.tensor([-2, 3]) ** 3).tolist() == [-8, 27]
    with pytest.raises(RuntimeError, match="negative integer powers"):
        torch.tensor([-2, 3]) ** -1
    x = RNG.normal(size=100)
    ours = dtensor.tensor(x) ** 5
    np.testing.assert_array_equal(np.asarray(ours), x**5)


# --- other gradients ------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["border", "reflection"])
def test_a_grid_has_no_gradient_at_the_far_ends(mode):
    x = torch.tensor(RNG.normal(size=(1, 1, 3, 3)))
    for at in ([-1.0, 0.3], [1.0, 0.3], [1.4, 0.3]):
        grid = torch.tensor([[[at]]], dtype=torch.float64, requires_grad=True)
        out = F.grid_sample(x, grid, padding_mode=mode, align_corners=True)
        (found,) = grad(out.sum(), grid)
        outside = mode == "reflection" and at[0] == 1.4
        assert (found[0, 0, 0, 0] == 0).item() != outside
        assert found[0, 0, 0, 1] != 0


def test_xlogy_has_pytorchs_gradients():
    x = torch.zeros(4, requires_grad=True)
    y = torch.tensor([0.0, 1.0, 2.0, -1.0], requires_grad=True)
    with np.errstate(all="ignore"):
        by_x, by_y = grad(torch.xlogy(x, y).sum(), (x, y))
    near(by_x, [0, 0, np.log(2), 0], 1e-6)
    near(by_y, [np.nan, 0, 0, 0])
    a, b = (torch.rand(*n).double().requires_grad_() for n in ((3, 1), (4,)))
    for function in (torch.xlogy, torch.special.xlog1py):
        assert torch.autograd.gradgradcheck(function, (a, b))
    assert torch.xlogy(torch.tensor([0, 1]), 2).dtype == torch.float32
    assert torch.xlogy(torch.zeros(1), torch.tensor([torch.nan])).isnan().all()


def test_vectors_are_broadcast_before_their_cosine():
    x, y = torch.tensor([[1.0, 2, 3]]), torch.tensor([[-2.0, -1, 0], [1, 2, 3]])
    near(F.cosine_similarity(x, y, dim=0), [-(10**-0.5), 10**-0.5, 2**-0.5], 1e-6)
    near(F.cosine_similarity(x[0], y), [-0.478091, 1], 1e-5)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match"):
        F.cosine_similarity(torch.ones(2), torch.ones(3))


# --- errors ---------------------------------------------------------------------------

ROWS, ONE = torch.ones(2, 3), torch.ones(2, requires_grad=True)
REFUSED = {
    "grad of nothing": (
        RuntimeError,
        r"`inputs` argument to `grad\(\)` cannot be empty",
        lambda: grad(ONE.sum(), []),
    ),
    "backward of nothing": (
        RuntimeError,
        r"`inputs` argument to `backward\(\)` cannot be empty",
        lambda: ONE.sum().backward(inputs=[]),
    ),
    "targets of int32": (
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Int",
        lambda: F.cross_entropy(ROWS, torch.tensor([0, 1], dtype=torch.int32)),
    ),
    "targets of floats": (
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
        lambda: nn.NLLLoss()(ROWS, torch.zeros(2)),
    ),
    "texts": (ValueError, "text", lambda: torch.tensor(["a"])),
    "a text": (TypeError, "text", lambda: torch.tensor("a")),
    "an index": (TypeError, "valid indices", lambda: torch.ones(2)["a"]),
    "NumPy's": (IndexError, "valid indices", lambda: torch.ones(2)["a"]),
    "relu": (TypeError, "must be Tensor, not float|no array", lambda: torch.relu(1.0)),
    "exp": (TypeError, "must be Tensor, not float", lambda: torch.exp(1.0)),
    "sqrt": (TypeError, "must be Tensor, not int", lambda: torch.sqrt(4)),
    "singular": (
        torch._C._LinAlgError,
        "singular",
        lambda: torch.linalg.inv(torch.zeros(2, 2)),
    ),
    "probabilities": (
        RuntimeError,
        "all elements of input should be between 0 and 1",
        lambda: F.binary_cross_entropy(torch.tensor([1.5]), torch.ones(1)),
    ),
    "unscaled": (
        AssertionError,
        "Attempted unscale_ but _scale is None",
        lambda: torch.amp.GradScaler("cpu").unscale_(torch.optim.SGD([ONE])),
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_pytorchs_exceptions_are_raised(name):
    kind, sentence, function = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        function()


def test_numpys_dialect_takes_other_targets_and_gives_nan():
    x = np.ones((2, 3))
    assert dtensor.cross_entropy(x, np.array([0, 1], np.int32)) > 1
    with np.errstate(invalid="ignore"):
        assert np.isnan(dtensor.binary_cross_entropy(np.array([1.5]), np.ones(1)))


# --- optimizers and printing ----------------------------------------------------------


def one():
    return 1


def test_hooks_of_steps_get_the_optimizer_first():
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.ones(2)
    opt = torch.optim.SGD([p], lr=0.1)
    told = []
    opt.register_step_pre_hook(lambda o, args, kwargs: told.append((args, kwargs)))
    opt.register_step_post_hook(lambda o, args, kwargs: told.append((args, kwargs)))
    opt.step()
    opt.step(closure=one)
    assert told == [((opt,), {})] * 2 + [((opt,), {"closure": one})] * 2
    opt.register_step_pre_hook(lambda o, args, kwargs: (args, {}))
    opt.step(closure=one)
    assert told[-1] == ((opt,), {})


def test_schedulers_warn_and_keep_what_pytorchs_do():
    p = nn.Parameter(torch.ones(2))
    opt = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    kinds = torch.optim.lr_scheduler
    each = kinds.StepLR(opt, 3)
    opt.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        each.step()
    with pytest.warns(UserWarning, match="The epoch parameter"):
        each.step(3)
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        each.get_lr()
    assert each.state_dict()["_get_lr_called_within_step"] is False
    cycle = kinds.OneCycleLR(opt, 0.3, 10).state_dict()
    assert cycle["_schedule_phases"][0] == {
        "end_step": 2.0,
        "start_lr": "initial_lr",
        "end_lr": "max_lr",
        "start_momentum": "max_momentum",
        "end_momentum": "base_momentum",
    }
    state = kinds.ReduceLROnPlateau(opt, "max").state_dict()
    assert (state["default_min_lr"], state["mode_worse"]) == (0, -np.inf)

    class Own(kinds.LRScheduler):
        def get_lr(self):
            assert self._get_lr_called_within_step
            return [0.5]

    assert Own(opt).get_last_lr() == [0.5]


def test_names_are_printed_as_pytorchs():
    assert str(torch.ones(1).layout) == f"{torch.strided}" == "torch.strided"
    assert str(torch.channels_last) == "torch.channels_last"
    assert copy.deepcopy(torch.channels_last) is torch.channels_last
    assert pickle.loads(pickle.dumps(torch.strided)) is torch.strided
    assert str(torch.get_autocast_dtype("cpu")) == "torch.bfloat16"
    assert repr(nn.ParameterDict({"a": nn.Parameter(torch.ones(2))})) == (
        "ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size 2])"
    )
