"""A kernel that fails on one part fails on all ranks, wherever it writes."""

import contextlib
import time

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import _C, Replicate, Shard, distribute_tensor
from dtensor._core import world as _world
from dtensor.experimental import local_map
from dtensor.testing import run_ranks

R, S0 = Replicate(), Shard(0)
SENTENCE = "Integers to negative integer powers are not allowed"
ROWS = np.array([[1, 1], [2, 2], [3, -1], [2, 2], [1, 1], [2, 2]])


def placed(array, placement=S0):
    return distribute_tensor(np.asarray(array), line(), [placement])


def in_place(x, y):
    x **= y


POWERS = {
    "x ** y": lambda x, y: x**y,
    "x **= y": in_place,
    "pow_": lambda x, y: x.pow_(y),
    "out": lambda x, y: np.power(x, y, out=placed(np.zeros(6, int))),
    "out of floats": lambda x, y: np.power(x, y, out=placed(np.zeros(6))),
    "out elsewhere": lambda x, y: np.power(x, y, out=placed(np.zeros(6, int), R)),
    "where": lambda x, y: np.power(
        x, y, out=placed(np.zeros(6, int)), where=placed(np.ones(6, bool))
    ),
    "dtype": lambda x, y: np.power(x, y, dtype=np.int32, casting="unsafe"),
    "at": lambda x, y: np.power.at(x, [0, 1, 2, 3], y[:4]),
    "outer": lambda x, y: np.power.outer(y, y),
    "reduce": lambda x, y: np.power.reduce(placed(ROWS), axis=1),
    "reduce out": lambda x, y: np.power.reduce(placed(ROWS), axis=1, out=x),
    "accumulate": lambda x, y: np.power.accumulate(placed(ROWS), axis=1),
    "reduceat": lambda x, y: np.power.reduceat(placed(ROWS), [0], axis=1),
    "choose out": lambda x, y: np.choose(y, [x, x], out=placed(np.zeros(6, int))),
    "inverse": lambda x, y: np.linalg.inv((y + 1.0).reshape(6, 1, 1)),
}


@pytest.mark.parametrize("name", POWERS)
def test_what_fails_on_one_part_fails_on_all_ranks(ranks, name):
    kind = {"inverse": np.linalg.LinAlgError}.get(name, ValueError)
    sentence = {"inverse": "Singular", "choose out": "invalid entry"}

    def body():
        x, y = placed(np.arange(1, 7)), placed([1, 1, -1, 1, 1, 1])
        with pytest.raises(kind, match=sentence.get(name, SENTENCE)):
            POWERS[name](x, y)
        assert np.array_equal(np.asarray(x.full_tensor()), np.arange(1, 7))

    ranks(body)


def test_a_power_that_where_leaves_out_is_none(ranks):
    def body():
        x, y = placed(np.arange(1, 7)), np.array([1, 1, -1, 1, 1, 1])
        out = placed(np.zeros(6, int))
        np.power(x, placed(y), out=out, where=placed(y > 0))
        assert np.asarray(out.full_tensor()).tolist() == [1, 2, 0, 4, 5, 6]
        floats = np.power(x, placed(y), dtype=float)
        assert np.array_equal(floats.full_tensor(), np.arange(1, 7) ** y.astype(float))

    ranks(body)


# --- kernels that say nothing to the other ranks --------------------------------------


@np.errstate(all="raise")
def divided(x):
    return 1 / x


@np.errstate(all="raise")
def written(x):
    return np.divide(1, x, out=x)


@np.errstate(all="raise")
def logarithm_by_rows(x):
    return np.log(x.reshape(-1, 1)).sum(axis=1)


QUIET = [divided, written, logarithm_by_rows]


@pytest.mark.parametrize("function", QUIET, ids=lambda f: f.__name__)
def test_a_kernel_that_fails_quietly_is_raised_on_all_ranks_in_the_next_call(
    ranks, function
):
    def body():
        x = placed([1.0, 1, 1, 0, 1, 1])
        size = x.device_mesh.size()
        try:
            function(x)
            failed = False
        except FloatingPointError:
            failed = True
        told = None
        try:
            x.detach().full_tensor()
        except FloatingPointError as error:
            told = str(error)
        if size > 1:
            assert told.startswith("rank ") and " failed in " in told
        else:
            assert failed and told is None
        if function is written and size > 1:
            with pytest.raises(RuntimeError, match="different values"):
                x.detach().full_tensor()  # as they are now
        else:
            assert x.detach().full_tensor().shape == (6,)  # told once

    ranks(body)


def test_what_fails_alike_on_all_ranks_is_told_nobody(ranks):
    def body():
        x = placed(np.zeros(12))
        for _ in range(3):
            with pytest.raises(FloatingPointError):
                divided(x)
        assert not np.any(x.full_tensor())

    ranks(body)


def test_what_no_other_rank_has_called_is_the_ranks_own_affair(ranks):
    def body():
        x = placed(np.zeros(12))
        if x.device_mesh.get_rank() == 0:
            with pytest.raises(FloatingPointError):
                divided(x)
        assert not np.any(x.full_tensor())
        assert x.redistribute(placements=[R]).sum().item() == 0

    ranks(body)


def test_ranks_that_wait_for_one_that_failed_do_not_wait_long():
    def body():
        x = placed([1.0, 0, 1, 1, 1, 1])
        start = time.monotonic()
        try:
            y = divided(x)
        except FloatingPointError:
            return None  # and does nothing more
        with pytest.raises(FloatingPointError, match="rank 0 failed in divide"):
            y.sum().item()
        return time.monotonic() - start

    waited = run_ranks(3, body)
    assert waited[0] is None
    assert all(seconds < 10 for seconds in waited[1:])


# --- functions of the user's ----------------------------------------------------------


class Square(dtensor.autograd.Function):
    """Fails in forward or backward, on one rank."""

    @staticmethod
    def forward(ctx, x, fails, fails_backward):
        if fails:
            raise KeyError("not here")
        ctx.fails = fails_backward
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        if ctx.fails:
            raise KeyError("not here")
        (x,) = ctx.saved_tensors
        return 2 * x * grad, None, None


def ones_like(x):
    return dtensor.ones(12, device_mesh=x.device_mesh, placements=[S0])


def raising(alone):
    def hook(*_):
        if alone:
            raise KeyError("not here")

    return hook


def in_local_map(x, alone):
    def part(local):
        raising(alone)()
        return local * 2

    local_map(part, [S0], ([S0],))(x)


def in_callback(x, alone):
    def make(index):
        raising(alone)()
        return np.ones(12)[index]

    dtensor.from_callback((12,), x.device_mesh, [S0], make)


def in_forward(x, alone):
    Square.apply(x, alone, False)


def in_backward(x, alone):
    Square.apply(x, False, alone).backward(ones_like(x))


def in_gradient_hook(x, alone):
    y = x * 3
    y.register_hook(raising(alone))
    (y * y).backward(ones_like(x))


def in_leaf_hook(x, alone):
    x.register_hook(raising(alone))
    (x * x).backward(ones_like(x))


def in_forward_hook(x, alone):
    model = dtensor.nn.ReLU()
    model.register_forward_hook(raising(alone))
    model(x)


def in_module_hook(x, alone):
    model = dtensor.nn.ReLU()
    model.register_full_backward_hook(raising(alone))
    model(x).backward(ones_like(x))


USERS = [
    in_local_map,
    in_callback,
    in_forward,
    in_backward,
    in_gradient_hook,
    in_leaf_hook,
    in_forward_hook,
    in_module_hook,
]


@pytest.mark.parametrize("function", USERS, ids=lambda f: f.__name__)
def test_what_a_users_function_raises_on_one_rank_is_raised_on_all(ranks, function):
    def body():
        x = placed(np.arange(12.0))
        x.requires_grad_()
        rank, size = x.device_mesh.get_rank(), x.device_mesh.size()
        told = []
        for call in (lambda: function(x, rank == size - 1), lambda: total(x)):
            try:
                call()
            except KeyError as error:
                told.append(str(error))
        assert told and all("not here" in each for each in told)
        if rank < size - 1:
            assert f"rank {size - 1}" in told[-1]
        for _ in range(3):
            assert total(x) == 66

    def total(x):
        return x.detach().sum().item()

    ranks(body)


def test_what_the_shardings_of_an_operator_raise_on_one_rank_is_raised_on_all(ranks):
    def body():
        x = placed(np.arange(12.0).reshape(6, 2))
        rank, size = x.device_mesh.get_rank(), x.device_mesh.size()
        if size > 1 and rank == 0:
            with pytest.raises(KeyError, match="not here"):
                _C.carried("f, the shardings of x", raising(True), (1,))
        else:
            _C.carried("f, the shardings of x", raising(False), (1,))
        if size > 1:
            with pytest.raises(KeyError, match="rank 0 failed in f, the shardings"):
                x.sum().item()
        assert x.sum().item() == 66

    ranks(body)


def test_a_users_function_that_only_one_rank_has_called_is_its_own_affair(ranks):
    def body():
        x = placed(np.arange(12.0))
        if x.device_mesh.get_rank() == 0:
            with pytest.raises(KeyError):
                in_forward(x, True)
            with pytest.raises(KeyError):
                Square.apply(x, True, True)
        assert x.sum().item() == 66

    ranks(body)


def test_a_failure_before_an_asynchronous_move_keeps_its_type(ranks):
    def body():
        x, y = placed([1.0, 1, 1, 0, 1, 1]), placed(np.arange(6.0))
        alike = x.device_mesh.size() == 1
        with contextlib.suppress(FloatingPointError):
            divided(x)
        z = y.redistribute(placements=[R], async_op=True)
        if not alike:
            with pytest.raises(FloatingPointError, match="failed in divide"):
                z.to_local()
        assert y.sum().item() == 15

    ranks(body)


def test_failures_are_told_where_calls_are_not_compared(ranks):
    def body():
        _world.current().check = False
        x = placed([1.0, 1, 1, 0, 1, 1])
        try:
            divided(x)
            failed = False
        except FloatingPointError:
            failed = True
        if x.device_mesh.size() > 1:
            with pytest.raises(FloatingPointError, match="failed in divide"):
                x.full_tensor()
        else:
            assert failed
        assert x.sum().item() == 5
        with pytest.raises(ValueError, match="own"):
            _world.current().agree(
                b"", "f", ValueError("own") if x.device_mesh.get_rank() == 0 else None
            )
        _world.current().check = True

    ranks(body)


def test_a_rank_that_failed_finds_what_the_others_made_of_it():
    def body():
        x = placed([1.0, 0, 1, 1, 1, 1])
        with contextlib.suppress(FloatingPointError):
            divided(x)
        if x.device_mesh.get_rank() == 0:
            time.sleep(1.6)  # the others have given up waiting
        with pytest.raises(FloatingPointError, match="rank 0 failed in divide"):
            x.sum().item()
        for _ in range(3):
            assert x.sum().item() == 5

    run_ranks(3, body)
