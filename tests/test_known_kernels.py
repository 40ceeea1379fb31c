"""C kernels that are called again with other small arrays: the same bits, dtypes,
order in memory and gradients as where their arguments are read anew."""

import warnings

import numpy as np
import pytest
from meshes import line
from test_shortcuts import both, shortcuts

import dtensor
import dtensor.torch as torch
from dtensor import _C, Replicate, Shard
from dtensor.testing import run_ranks
from dtensor.torch.distributed.tensor import distribute_tensor

F = torch.nn.functional
CALLS = {
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(-1, keepdim=True),
    "sum of columns": lambda x: x.sum(0),
    "sum of negative ones": lambda x: x.sum((-2, -1)),
    "mean": lambda x: x.mean(0),
    "prod": lambda x: x.prod(-1),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=0),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(-1),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "elu": lambda x: F.elu(x, 0.5),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "softplus": lambda x: F.softplus(x, 2.0, 10.0),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "avg_pool": lambda x: F.avg_pool1d(x, 2),
    "max": lambda x: x.max(),
}
SHAPES = [(1, 2), (7, 3), (8, 8), (130, 31), (3, 300), (64, 64), (65, 64), (2, 3, 4)]


def kinds_of(array):
    """Return arrays of equal elements that lie in memory in several ways."""
    raw = np.zeros(array.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    return [array, np.asfortranarray(array), array[::-1], unaligned]


def whole(array):
    return distribute_tensor(torch.from_numpy(array.copy()), line(), [Replicate()])


def values(shape, code, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(code)


@pytest.mark.parametrize("name", CALLS)
def test_known_calls_give_what_new_ones_give(name):
    call = CALLS[name]

    def body():
        for shape in SHAPES:
            for code in "fde":
                for array in kinds_of(values(shape, code)):
                    both(call, (whole(array),))
                    both(lambda x: [call(x).numpy()], (torch.from_numpy(array),))

    run_ranks(1, body)


@pytest.mark.parametrize("name", CALLS)
def test_a_known_call_reads_the_arrays_of_now(name):
    """One place of a program that is given other dtypes, lengths and layouts."""
    call = CALLS[name]

    def body():
        with shortcuts(True):
            for _ in range(3):
                for seed, shape in enumerate([*SHAPES, *SHAPES[::-1]]):
                    for code in "fd":
                        array = values(shape, code, seed)
                        for each in (array, np.asfortranarray(array)):
                            with shortcuts(False):
                                wanted = call(torch.from_numpy(each)).numpy()
                            for x in (torch.from_numpy(each), whole(each)):
                                found = call(x)
                                found = (
                                    found.full_tensor()
                                    if x.ndim and hasattr(found, "full_tensor")
                                    else found
                                )
                                assert found.numpy().dtype == wanted.dtype
                                assert np.array_equal(found.numpy(), wanted)

    run_ranks(1, body)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_what_one_dialect_has_called_has_the_order_of_the_other(dim):
    def body():
        x = distribute_tensor(
            torch.from_numpy(values((3, 4, 3), "f")), line(), [Shard(dim)]
        )
        with shortcuts(False):
            wanted = F.relu(x).to_local().stride()
        for _ in range(3):
            dtensor.relu(x.as_numpy())
        assert F.relu(x).to_local().stride() == wanted

    run_ranks(3, body)


def test_an_array_that_has_got_another_shape_is_noticed():
    def body():
        x = dtensor.distribute_tensor(values((4, 6), "f"), line(), [Replicate()])
        for _ in range(3):
            dtensor.gelu(x)
        array = x.to_local().numpy()
        while isinstance(array.base, np.ndarray):
            array = array.base
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            array.shape = 6, 4
        with pytest.raises(SystemError, match="promises"):
            dtensor.gelu(x)

    run_ranks(1, body)


def test_they_are_taken_where_they_should_be():
    def body():
        x = torch.from_numpy(values((8, 8), "f"))
        for name in ("sum", "sum of columns", "softmax", "gelu", "relu"):
            assert both(CALLS[name], (whole(x.numpy()),)), name
        count = _C.shortcut_count()
        for _ in range(8):
            x.softmax(1)
        assert _C.shortcut_count() - count >= 5
        large = torch.from_numpy(values((80, 80), "f"))
        large.softmax(1), large.softmax(1)
        count = _C.shortcut_count()
        large.softmax(1)
        assert _C.shortcut_count() == count

    run_ranks(1, body)


def test_results_are_new_arrays_that_may_be_written_to():
    def body():
        x = torch.from_numpy(values((4, 4), "f"))
        made = [x.softmax(1) for _ in range(6)]
        before = made[5].clone()
        for each in made[:5]:
            each[...] = 0
        assert torch.equal(made[5], before) and (made[0] == 0).all()
        assert all(each.is_contiguous() and each._version <= 1 for each in made)

    run_ranks(1, body)


def test_gradients_go_through_them():
    def body():
        def gradient():
            x = torch.from_numpy(values((6, 5), "d")).requires_grad_()
            (F.gelu(x).softmax(1) * F.layer_norm(x, (5,))).sum(0).mean().backward()
            return x.grad.numpy().copy()

        with shortcuts(False):
            wanted = gradient()
        for _ in range(4):
            assert np.array_equal(gradient(), wanted)

    run_ranks(1, body)


@pytest.mark.parametrize("ranks", [2, 3])
def test_parts_of_one_slice_keep_the_order_of_the_whole(ranks):
    def body():
        for shape in [(ranks, 4, 3), (4, ranks, 3), (1, 5, 2), (4, 3, ranks + 1)]:
            array = values(shape, "f")
            for dim in range(3):
                x = distribute_tensor(torch.from_numpy(array), line(), [Shard(dim)])
                for call in (F.relu, lambda x: x.softmax(-1), lambda x: x.sum(0)):
                    seen = set()
                    for _ in range(5):
                        y = call(x)
                        part = y.to_local()
                        seen.add((part.stride(), y.stride(), part.numpy().tobytes()))
                    assert len(seen) == 1, (shape, dim)

    run_ranks(ranks, body)
