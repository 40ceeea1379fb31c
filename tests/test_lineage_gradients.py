"""What differs on one rank is in all gradients that are made of it, by whatever way."""

import warnings

import numpy as np
import pytest

import dtensor
from dtensor import Replicate, Shard, distribute_tensor, init_device_mesh, nn, optim
from dtensor.experimental import context_parallel, local_map
from dtensor.fsdp import fully_shard, replicate
from dtensor.nn import functional as F
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks
from dtensor.torch import func
from dtensor.torch.distributed.fsdp import FullyShardedDataParallel
from dtensor.torch.nn.parallel import DistributedDataParallel

RNG = np.random.default_rng(0)
MATRIX = np.abs(RNG.normal(size=(6, 4))) + 0.1
FIELD = RNG.normal(size=(1, 2, 4, 4))

WAYS = {
    "row": lambda w: w[3],
    "column": lambda w: w[:, 1],
    "slice": lambda w: w[1:5:2],
    "rest": lambda w: w[2:],
    "indices": lambda w: w[[3, 0]],
    "mask": lambda w: w[w > 0.5],
    "take": lambda w: np.take(w, 3, 0),
    "rows": lambda w: sum(row for row in w),
    "unstack": lambda w: np.unstack(w)[2],
    "logsumexp": lambda w: dtensor.logsumexp(w, 0),
    "softmax": lambda w: dtensor.softmax(w, 0)[:3] ** 2,
    "gradient": lambda w: np.gradient(w, axis=0),
    "windows": lambda w: np.lib.stride_tricks.sliding_window_view(w, 2, 0),
    "resize": lambda w: np.resize(w, (3, 4)),
    "piecewise": lambda w: np.piecewise(w, [w > 0.5], [lambda v: v * 3, lambda v: v]),
    "local_map": lambda w: local_map(
        lambda a: a * a, list(w.placements), (list(w.placements),)
    )(w),
    "vmap": lambda w: func.vmap(lambda a: a * a, 1, 1)(w),
    "map_overlap": lambda w: dtensor.map_overlap(lambda a: a * a, w, {0: 1}, "nearest"),
    "to_local": lambda w: dtensor.DTensor.from_local(
        w.to_local() * 2, w.device_mesh, w.placements
    ),
}


def told(body):
    """Return what each rank of two is told, where the second one differs."""

    def play():
        try:
            return str(body({1}))
        except RuntimeError as error:
            return str(error)

    return run_ranks(2, play)


def assert_noticed(body):
    texts = told(body)
    assert all("rank 0" in text and "rank 1" in text for text in texts), texts
    for odd in (set(), {0, 1}):
        first, second = run_ranks(2, body, odd)
        np.testing.assert_array_equal(first, second)


# These go on as rank-local Tensors, of which only what backward began from is known.
PARTS = "gradient windows local_map vmap map_overlap to_local".split()
PLAYED = [(name, how) for name in WAYS for how in ("number", "hook")]


@pytest.mark.parametrize("placement", [Shard(0), Shard(1), Replicate()], ids=str)
@pytest.mark.parametrize(
    "name, how", [(n, how) for n, how in PLAYED if how == "number" or n not in PARTS]
)
def test_a_number_on_one_rank_is_noticed_in_the_gradient(name, placement, how):
    def body(odd):
        mesh = init_device_mesh("cpu", (2,))
        w = nn.Parameter(distribute_tensor(MATRIX, mesh, [placement]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = WAYS[name](w)
        if how == "number":
            y = y * (2.0 if mesh.get_rank() in odd else 1.0)
        elif mesh.get_rank() in odd:
            y.register_hook(lambda grad: grad * 2)
        y.sum().backward()
        moved = (w.grad + 0).redistribute(placements=[Shard(1)])
        return np.asarray(moved.full_tensor().detach())

    assert_noticed(body)


@pytest.mark.parametrize("dim", [1, 2])
def test_attention_in_parts_is_compared_backward(dim):
    def body(odd):
        mesh = init_device_mesh("cpu", (2,))
        w = nn.Parameter(distribute_tensor(FIELD, mesh, [Shard(dim)]))
        with context_parallel(mesh):
            y = F.scaled_dot_product_attention(w, w, w)
        (y * (2.0 if mesh.get_rank() in odd else 1.0)).sum().backward()
        return np.asarray(w.grad.full_tensor())

    assert_noticed(body)


# --- tensor parallelism within data parallelism ---------------------------------------

WRAPS = {
    "fully_shard": lambda m, mesh: fully_shard(m, mesh=mesh),
    "replicate": lambda m, mesh: replicate(m, mesh=mesh),
    "DDP": lambda m, mesh: DistributedDataParallel(m, device_mesh=mesh),
}


def divided(mesh):
    dtensor.random.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    plan = {
        "0": ColwiseParallel(use_local_output=False),
        "2": RowwiseParallel(use_local_output=False),
    }
    return parallelize_module(model, mesh["tp"], plan)


CHANGES = [(wrap, "loss") for wrap in WRAPS]
CHANGES += [(wrap, "weight before") for wrap in ("fully_shard", "replicate")]
CHANGES += [("FSDP", "weight in a block")]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("wrap, what", CHANGES)
def test_ranks_of_tensor_parallelism_are_compared_within_data_parallelism(
    wrap, what, count
):
    def body(mode):
        mesh = init_device_mesh("cpu", (count, 2), mesh_dim_names=("dp", "tp"))
        odd = mode == "all" or (mode == "one" and mesh["tp"].get_local_rank() == 1)
        model = divided(mesh)
        if what == "weight before" and odd:
            with dtensor.no_grad():
                model[0].weight.mul_(2)
        if what == "weight in a block":
            model = FullyShardedDataParallel(model, device_mesh=mesh["dp"])
            with FullyShardedDataParallel.summon_full_params(model):
                if odd:
                    with dtensor.no_grad():
                        model.module[0].weight.mul_(2)
        else:
            model = WRAPS[wrap](model, mesh["dp"]) or model
        # Ranks of data parallelism may have other data, and numbers.
        y = model(dtensor.tensor(MATRIX + mesh["dp"].get_local_rank(), "float32"))
        scale = 2.0 if odd and what == "loss" else 1.0
        (y * (scale + mesh["dp"].get_local_rank())).sum().backward()
        return float(y.sum())

    def play(mode):
        try:
            return body(mode)
        except RuntimeError as error:
            return str(error)

    for mode in ("none", "all"):
        results = run_ranks(2 * count, play, mode)
        assert all(isinstance(x, float) for x in results), results
    texts = run_ranks(2 * count, play, "one")
    assert all("rank" in str(text) for text in texts), texts


@pytest.mark.parametrize("key", ["eta", "mu"])
def test_the_state_of_asgd_is_compared(key):
    def body(odd):
        mesh = init_device_mesh("cpu", (2,))
        x = nn.Parameter(distribute_tensor(MATRIX, mesh, [Shard(0)]))
        optimizer = optim.ASGD([x], lr=0.1, t0=1.0)
        for step in range(3):
            optimizer.zero_grad()
            (x**2).sum().backward()
            if step == 2 and mesh.get_rank() in odd:
                optimizer.state[x][key] = optimizer.state[x][key] * 3
            optimizer.step()
        both = (x, optimizer.state[x]["ax"])
        return np.stack([np.asarray(t.detach().full_tensor()) for t in both])

    assert_noticed(body)


class Twice(dtensor.autograd.Function):
    """Keeps the gradients that it has made, on the first rank."""

    kept: list = []

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        made = np.flip(grad, 0)[::-1] * 2
        if made.device_mesh.get_rank() == 0:
            Twice.kept.append(made)
        return made


def test_a_gradient_that_one_rank_keeps_is_no_difference():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        w = nn.Parameter(distribute_tensor(MATRIX, mesh, [Shard(0)]))
        Twice.apply(w).sum().backward()
        return np.asarray(w.grad.full_tensor())

    np.testing.assert_array_equal(run_ranks(2, body)[1], np.full_like(MATRIX, 2))
    assert [x.placements for x in Twice.kept] == [(Shard(0),)]
    Twice.kept.clear()


def test_what_ranks_want_of_their_own_parts_is_no_difference():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        w = nn.Parameter(distribute_tensor(MATRIX, mesh, [Shard(0)]))
        own = dtensor.tensor(np.ones((3, 4)))
        own.requires_grad_(mesh.get_rank() == 0)
        b = dtensor.DTensor.from_local(w.to_local() * 2, mesh, [Shard(0)])
        a = dtensor.DTensor.from_local(own * 2, mesh, [Shard(0)])
        (a * b).sum().backward()
        return np.asarray(w.grad.full_tensor())

    np.testing.assert_array_equal(run_ranks(2, body)[1], np.full_like(MATRIX, 4))


class Product(dtensor.autograd.Function):
    """Its gradients are the operands themselves."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return (a * b).sum()

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return b, a


@pytest.mark.parametrize("leaf", [True, False])
def test_gradients_of_gradients_that_are_operands(leaf):
    def body():
        mesh = init_device_mesh("cpu", (2,))
        w, x = (
            nn.Parameter(distribute_tensor(MATRIX, mesh, [Shard(0)])) for _ in range(2)
        )
        product = Product.apply(w, x if leaf else x * 1)
        (grad,) = dtensor.autograd.grad(product, [w], create_graph=True)
        (grad**3).sum().backward()
        return np.asarray(x.grad.full_tensor())

    np.testing.assert_allclose(run_ranks(2, body)[0], 3 * MATRIX**2)
