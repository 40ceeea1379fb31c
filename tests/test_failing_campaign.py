"""Seeded programs in which something fails on one rank: all ranks raise, and go on.

The seeds begin with that of the commit; DTENSOR_CAMPAIGN_SEED repeats them.
"""

import random
import time

import numpy as np
import pytest
from divergences import seed
from meshes import line

import dtensor
from dtensor import DTensor, Replicate, Shard, distribute_tensor, resync
from dtensor._core import world as _world
from dtensor.experimental import local_map
from dtensor.testing import run_ranks

R, S0 = Replicate(), Shard(0)
SECONDS = 2.0  # in which all ranks raise
FIRST = seed()
QUICK, ALL = range(24), range(24, 528)  # added to the first seed


def placed(array, placement=S0):
    return distribute_tensor(np.asarray(array), line(), [placement])


class Scene:
    """One program: its random choices are those of all ranks."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rank, self.size = _world.current().rank, _world.current().size
        self.bad = self.random.randrange(self.size)  # the rank on which it fails
        self.rows = self.random.choice([1, 2, 5])  # of each rank
        # How late it is for the next call: more than a second, and others do not wait.
        self.late = self.random.choice([0] * 18 + [0.3, 1.3])

    @property
    def alone(self):
        return self.rank == self.bad

    def sharded(self, usual, bad):
        """Return an array that is `bad` in one element on one rank."""
        whole = np.full(self.size * self.rows, usual)
        if self.size > 1 or self.rows > 1:
            whole[self.bad * self.rows + self.random.randrange(self.rows)] = bad
        return placed(whole)


# --- what fails -----------------------------------------------------------------------

UFUNCS = {
    "divide": (1.0, 0.0),
    "log": (1.0, 0.0),
    "sqrt": (1.0, -1.0),
    "exp": (1.0, 1e5),
    "arcsin": (0.5, 2.0),
    "square": (1.0, 1e200),
    "reciprocal": (2.0, 0.0),
}


def apply(name, x, **options):
    args = (1.0, x) if name == "divide" else (x,)
    return getattr(np, name)(*args, **options)


def floats(scene):
    name = scene.random.choice(list(UFUNCS))
    x = scene.sharded(*UFUNCS[name])
    with np.errstate(all="raise"):
        apply(name, x)


def floats_out(scene):
    name = scene.random.choice(list(UFUNCS))
    x = scene.sharded(*UFUNCS[name])
    out = x if scene.random.random() < 0.5 else scene.sharded(0.0, 0.0)
    with np.errstate(all="raise"):
        apply(name, x, out=out)


def floats_in_place(scene):
    x, y = scene.sharded(1.0, 2.0), scene.sharded(1.0, 0.0)
    with np.errstate(all="raise"):
        if scene.random.random() < 0.5:
            x /= y
        else:
            x.div_(y)


def ufunc_methods(scene):
    y = scene.sharded(1.0, 1e200)
    method = scene.random.choice(["reduce", "accumulate", "outer"])
    pair = y.reshape(-1, 1) * np.ones((1, 3))
    with np.errstate(all="raise"):
        if method == "outer":
            np.multiply.outer(y, np.array([1.0, 1e200]))
        else:
            getattr(np.multiply, method)(pair, axis=1)


def integers(scene):
    x, y = scene.sharded(3, 3), scene.sharded(2, -1)
    kind = scene.random.choice(["operator", "in place", "out", "outer", "reduce"])
    if kind == "operator":
        x**y
    elif kind == "in place":
        x **= y
    elif kind == "out":
        np.power(x, y, out=scene.sharded(0, 0))
    elif kind == "outer":
        np.power.outer(y + 3, np.array([1, 2])) ** y.reshape(-1, 1)
    else:
        np.power.reduce(np.stack([x, y], axis=1), axis=1)


def memory(scene):
    rows = 2**34 if scene.alone else 1
    part = np.broadcast_to(1.0, (rows, 1))
    x = DTensor.from_local(part, line(), [S0])
    x * np.ones((1, 2**13))


def function_of_parts(scene):
    def part(local):
        if scene.alone:
            raise KeyError("not here")
        return local

    local_map(part, [S0], ([S0],))(scene.sharded(1.0, 2.0))


class Failing(dtensor.autograd.Function):
    """Fails where it is told to."""

    @staticmethod
    def forward(ctx, x, alone):
        ctx.alone = alone and x.ndim == 1
        if alone and not x.requires_grad:
            raise KeyError("not here")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if ctx.alone:
            raise KeyError("not here")
        return grad * 2, None


def forward(scene):
    Failing.apply(scene.sharded(1.0, 2.0), scene.alone)


def backward(scene):
    x = scene.sharded(1.0, 2.0)
    Failing.apply(x.requires_grad_(), scene.alone).backward(scene.sharded(1.0, 1.0))


def hook(scene):
    def raising(_):
        if scene.alone:
            raise KeyError("not here")

    y = scene.sharded(1.0, 2.0).requires_grad_() * 3
    y.register_hook(raising)
    (y * y).backward(scene.sharded(1.0, 1.0))


FAILURES = {
    floats: FloatingPointError,
    floats_out: FloatingPointError,
    floats_in_place: FloatingPointError,
    ufunc_methods: FloatingPointError,
    integers: ValueError,
    memory: MemoryError,
    function_of_parts: KeyError,
    forward: KeyError,
    backward: KeyError,
    hook: KeyError,
}

# What all ranks raise in the call itself: where this depends on values, all agree.
AGREED = [integers, function_of_parts]


# --- the program ----------------------------------------------------------------------


def check_values(scene):
    for k in range(2):
        x = placed(np.arange(7.0) + k)
        assert (2 * x).sum().item() == 2 * (21 + 7 * k)
        assert np.array_equal(np.asarray(x.full_tensor()), np.arange(7.0) + k)


def run_program(seed):
    scene = Scene(seed)
    fails = list(FAILURES)[seed % len(FAILURES)]
    w = placed(np.arange(7.0))
    begin, told = time.monotonic(), []
    try:
        fails(scene)
    except Exception as error:
        told.append(error)
    if scene.alone:
        time.sleep(scene.late)
    if fails not in AGREED and (scene.alone or not told):
        with pytest.raises(FAILURES[fails], match=f"rank {scene.bad} failed in"):
            w.sum().item()
    else:
        assert told, (seed, fails)
    assert time.monotonic() - begin < SECONDS, (seed, fails)
    assert all(isinstance(error, FAILURES[fails]) for error in told), (seed, told)
    if fails not in AGREED and told and not scene.alone:
        assert f"rank {scene.bad} failed in" in str(told[0]), (seed, told)
    check_values(scene)
    if scene.random.random() < 0.3:
        resync(w)
    check_values(scene)
    assert w.sum().item() == 21


def sizes(places):
    return [(2 + k % 3, places[k]) for k in range(len(places))]


@pytest.mark.parametrize(("n", "place"), sizes(QUICK))
def test_what_fails_on_one_rank_is_raised_on_all_and_they_go_on(n, place):
    run_ranks(n, run_program, FIRST + place)


@pytest.mark.mpi
def test_what_fails_on_one_process_is_raised_on_all_and_they_go_on(world):
    for place in QUICK if world.size > 1 else ():
        run_program(FIRST + place)


@pytest.mark.validate
@pytest.mark.parametrize("part", range(9))
def test_500_failures_are_raised_on_all_ranks(part):
    for n, place in sizes(ALL)[part::9]:
        run_ranks(n, run_program, FIRST + place)


@pytest.mark.mpi
@pytest.mark.validate
def test_500_failures_are_raised_in_all_processes(world):
    for place in ALL if world.size > 1 else ():
        run_program(FIRST + place)
