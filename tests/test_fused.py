"""Chains of elementwise functions that run together: the same bits as one by one."""

import warnings

import numpy as np
import pytest
from meshes import line
from threads import SEED, bits, counted, elements

import dtensor
from dtensor import _C, Replicate, Shard, distribute_tensor, fused
from dtensor.testing import _fault

SHAPE = 7, 1009
UNARY = [np.negative, np.abs, np.sqrt, np.exp, np.sin, np.tanh, np.square, np.floor]
SUMS = [np.sum, np.mean]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.hypot, np.less]
NUMBERS = [2.5, 3, -1]
DTYPES = ["f4", "f8", "i8", "i4", "D", "?", "e"]
SPREADS = {
    "local": dtensor.tensor,
    "cut": lambda a: distribute_tensor(a, line(), [Shard(0) if len(a) > 1 else R]),
    "whole": lambda a: distribute_tensor(a, line(), [R]),
}
R = Replicate()
pytestmark = pytest.mark.usefixtures("small_fused")


# --- random programs ------------------------------------------------------------------


def drawn(rng, leaves):
    """Return calls: a function, its operands (places of values, or numbers), and what
    is dropped after it."""
    calls = []
    for place in range(leaves, leaves + rng.integers(2, 45)):
        choices = [UNARY, BINARY, SUMS][np.searchsorted([0.3, 0.9], rng.random())]
        function = choices[rng.integers(len(choices))]
        count = 1 + (choices is BINARY)
        operands = [{"at": int(rng.integers(place))} for _ in range(count)]
        if count == 2 and rng.random() < 0.3:
            operands[rng.integers(2)] = NUMBERS[rng.integers(len(NUMBERS))]
        dropped = {int(k) for k in np.flatnonzero(rng.random(place) < 0.1)}
        calls.append((function, operands, dropped))
    return calls


def played(calls, leaves):
    """Return the bits of the values that are left."""
    values = dict(enumerate(leaves))
    for place, (function, operands, dropped) in enumerate(calls, len(leaves)):
        args = [values.get(k["at"]) if isinstance(k, dict) else k for k in operands]
        if not any(a is None for a in args):
            try:
                values[place] = function(*args)
            except TypeError:  # there is no such loop
                pass
        del args
        for k in dropped:
            values.pop(k, None)
    return {k: bits(elements(v)) for k, v in values.items()}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("number", range(20))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs(threads, spread, number):
    threads(number % 3 + 1)
    rng = np.random.default_rng([SEED, number])
    for _ in range(8):
        shape = [SHAPE, (40, 90), (3, 4, 500), (20_001,), (2, 9000)][rng.integers(5)]
        leaves = []
        column = shape[0], *[1] * (len(shape) - 1)
        middle = [n if d % 2 else 1 for d, n in enumerate(shape)]
        for kind in (shape, shape, shape[-1:], column, middle):
            x = rng.standard_normal(kind) * 4
            leaves.append(x.astype(DTYPES[rng.integers(len(DTYPES))]))
        calls = drawn(rng, len(leaves))
        expected = played(calls, leaves)
        given = [SPREADS[spread](a) for a in leaves]
        with fused():
            got = played(calls, given)
        assert got == expected


def test_most_steps_are_not_written():
    x = dtensor.tensor(np.ones(SHAPE))
    row, column = dtensor.tensor(np.ones(SHAPE[1])), dtensor.tensor(np.ones((7, 1)))

    def chain():
        with fused():
            y = np.exp((x - row) * column + 2) / (x + 1)
        return y

    chain()
    assert counted(chain) == (1, 6, 5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [129, 4096, 100_003, 262_144])
def test_sums_join_and_have_numpys_bits(threads, dtype, size):
    rng = np.random.default_rng([SEED, size])
    a = (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)).astype(dtype)
    expected = np.sum(a * 3), np.mean((a - 1) ** 2), np.sum(a * 3, keepdims=True)

    def chain():
        x = dtensor.tensor(a)
        with fused():
            y = x * 3
            got = np.sum(y), np.mean((x - 1) ** 2), np.sum(y, keepdims=True)
            del y
        return got

    for count in (1, 2, 3):
        threads(count)
        chain()
        assert counted(chain) == (1, 6, 3)
        assert [bits(elements(s)) for s in chain()] == [bits(s) for s in expected]


@pytest.mark.parametrize("k", range(1, 7))
def test_without_memory_sums_are_made_of_what_is_written(threads, k):
    threads(2)
    a = np.random.default_rng(SEED).standard_normal(50_000)
    x = dtensor.tensor(a)
    with _fault("array", k) as fault:
        with fused():
            y = x * 2
            s, total = np.sum((x - 1) ** 2), np.mean(y)
        s = elements(s)
    assert fault.happened == (k < 6)
    assert bits(s) == bits(np.sum((a - 1) ** 2)) and bits(elements(y)) == bits(a * 2)
    assert bits(elements(total)) == bits(np.mean(a * 2))


def test_a_sum_is_an_operand():
    a = np.random.default_rng(SEED).standard_normal(SHAPE)
    x = dtensor.tensor(a)
    with fused():
        off = x + 1
        off = off - np.mean(off)
        spread = np.sqrt(np.mean(off * off))
    b = a + 1 - np.mean(a + 1)
    assert bits(elements(off)) == bits(b)
    assert bits(elements(spread)) == bits(np.sqrt(np.mean(b * b)))


def test_sums_of_what_is_broadcast_in_several_ways():
    rng = np.random.default_rng(SEED)
    a = [rng.standard_normal(s) for s in ((40, 30, 70), (70,), (40, 1, 1), (30, 1))]
    expected = bits(np.mean(((a[0] - a[1]) * a[2] + a[3]) ** 2))
    x = [dtensor.tensor(array) for array in a]

    def chain():
        with fused():
            return np.mean(((x[0] - x[1]) * x[2] + x[3]) ** 2)

    chain()
    assert counted(chain) == (1, 5, 4)
    assert bits(elements(chain())) == expected


def test_sums_along_rows_are_made_at_once():
    x = dtensor.tensor(np.ones(SHAPE))
    with fused():
        assert np.sum(x * 2, axis=1).shape == SHAPE[:1]


# --- gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("spread", SPREADS)
def test_gradients_are_the_same(spread):
    rng = np.random.default_rng(SEED)
    arrays = rng.standard_normal(SHAPE), rng.standard_normal(SHAPE[1])

    def step(within):
        x, w = (SPREADS[spread](a).requires_grad_() for a in arrays)
        with within():
            y = np.exp(-((x * w) ** 2)) / (1 + np.tanh(x) ** 2) + np.sqrt(np.abs(x))
            np.sum(y * y).backward()
        return [bits(elements(g)) for g in (y.detach(), x.grad, w.grad)]

    expected = step(lambda: warnings.catch_warnings())
    for _ in range(2):
        assert step(fused) == expected


def test_a_second_backward_and_hooks():
    x = dtensor.tensor(np.linspace(1, 2, 5000), requires_grad=True)
    seen = []
    with fused():
        y = np.exp(x) * x
        y.register_hook(lambda g: seen.append(bits(g)))
        (first,) = dtensor.autograd.grad(np.sum(y), x, create_graph=True)
        (second,) = dtensor.autograd.grad(np.sum(first), x)
    a = x.detach().numpy()
    assert np.allclose(second.numpy(), np.exp(a) * (a + 2))
    assert seen == [bits(np.ones(5000))]


# --- warnings and errors --------------------------------------------------------------


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("spread", SPREADS)
def test_each_call_warns_once(threads, spread):
    threads(3)
    x = np.linspace(-1, 1, 7 * 40_001).reshape(7, -1)
    x[3, 5] = 0
    given = SPREADS[spread](x)

    def chain(x):
        y = np.sqrt(x)
        with np.errstate(divide="ignore"):
            z = 1 / x + np.log(x * 0 - 1)
        return y, z / (x * 0)

    expected = warned(lambda: chain(x))

    def within():
        with fused():
            chain(given)

    for _ in range(2):
        assert sorted(warned(within)) == sorted(expected)
    assert counted(within)[0] >= 2  # under two modes


def test_modes_that_raise_are_as_ever():
    x = dtensor.tensor(np.zeros(SHAPE))
    with fused():
        for _ in range(3):
            with np.errstate(all="raise"), pytest.raises(FloatingPointError):
                1 / x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"), fused():
            y = x + 1
            1 / x
    assert bits(y) == bits(np.ones(SHAPE))


def test_an_error_in_the_block_leaves_nothing_behind():
    x = dtensor.tensor(np.ones(SHAPE))
    with pytest.raises(ValueError, match="mine"), fused():
        y = x + 1
        raise ValueError("mine")
    assert not _C.set_fusing(False)
    assert bits(y) == bits(np.full(SHAPE, 2.0))


def test_integers_to_negative_powers():
    x = dtensor.tensor(np.full(SHAPE, -1))
    with fused():
        for _ in range(3):
            y = x + 1
            with pytest.raises(ValueError, match="negative integer powers"):
                np.power(x, x)
        assert bits(y) == bits(np.zeros(SHAPE, int))


# --- the block ------------------------------------------------------------------------


def test_blocks_within_blocks_and_functions():
    x = dtensor.tensor(np.ones(SHAPE))

    @dtensor.fuse
    def double(x):
        """Twice."""
        return x * 2

    assert double.__name__ == "double" and double.__doc__ == "Twice."

    def chain():
        with fused():
            y = x + 1
            with fused():
                y = y + 1
            return double(y) + 1

    assert bits(chain()) == bits(np.full(SHAPE, 7.0))
    assert counted(chain) == (1, 4, 2)  # y has a name
    again = fused()
    with again, again:
        y = x + 1
    assert bits(y) == bits(np.full(SHAPE, 2.0))


def test_small_results_run_at_once():
    _C.set_fused_bytes(1 << 18)
    x = dtensor.tensor(np.ones(SHAPE))

    def chain():
        with fused():
            return x + 1

    chain()
    assert counted(chain) == (0, 0, 0)


def test_long_programs_end():
    x = dtensor.tensor(np.ones(SHAPE))

    def chain():
        with fused():
            y = x
            for _ in range(100):
                y = y + 1
        return y

    assert bits(chain()) == bits(np.full(SHAPE, 101.0))
    assert counted(chain) == (4, 100, 96)


@pytest.mark.mpi
def test_ranks_fuse_on_their_own(world):
    x = np.random.default_rng(SEED).standard_normal((world.size * 3, 1009))
    d = distribute_tensor(x, line(), [Shard(0)])
    for _ in range(3):
        if world.rank == 0:
            with fused():
                y = np.exp(d) * 2 + d
        else:
            y = np.exp(d) * 2 + d
        assert bits(elements(y)) == bits(np.exp(x) * 2 + x)
        with fused():
            z = np.sum(np.exp(d) * 2 + d)
        assert z.item() == np.sum(y).item()
