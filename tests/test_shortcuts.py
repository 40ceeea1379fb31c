"""Views and elementwise results that are made without NumPy's function: the same bits,
flags, warnings and errors as with it."""

import contextlib
import itertools
import operator
import warnings
from functools import partial

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import _C, DTensor, Replicate, Shard, distribute_tensor
from dtensor.testing import run_ranks

R, S0 = Replicate(), Shard(0)
CODES = "?bBhHiIlLqQefdgFDG"
UFUNCS = sorted(
    name
    for name, ufunc in vars(np).items()
    if isinstance(ufunc, np.ufunc) and ufunc.signature is None and ufunc.nout == 1
)
MODES = ("ignore", "warn", "raise", "call", "print", "log")


def placed(array, *placements):
    return distribute_tensor(array, line(), placements or [R])


def local(x):
    return x.to_local().detach().numpy()


class Told:
    """What `errstate` calls, or writes to."""

    def __init__(self):
        self.seen = []

    def __call__(self, kind, flag):
        self.seen.append((kind, flag))

    def write(self, text):
        self.seen.append(text)


def outcome(function, operands, mode="warn"):
    """Return everything that a call shows."""
    told = Told()
    with (
        warnings.catch_warnings(record=True) as caught,
        np.errstate(all=mode, call=told),
    ):
        warnings.simplefilter("always")
        try:
            made = function(*operands)
            array = np.asarray(made[0]) if isinstance(made, list) else local(made)
        except (TypeError, ValueError, ArithmeticError) as error:
            return type(error), str(error), told.seen
    said = [(w.category, str(w.message)) for w in caught]
    if mode == "print":  # on the standard output, whatever the flags are
        said = []
    return array.dtype, array.shape, array.tobytes(), array.strides, said, told.seen


@contextlib.contextmanager
def shortcuts(wanted):
    """Switch them for the process: not from within threads that are ranks."""
    before = _C.set_shortcuts(wanted)
    try:
        yield
    finally:
        _C.set_shortcuts(before)


def both(function, operands, mode="warn"):
    """Return whether a shortcut was taken in a third call; it must show nothing new."""
    outcomes = []
    for wanted in (False, True):
        with shortcuts(wanted):
            for _ in range(2):
                outcome(function, operands, mode)
            count = _C.shortcut_count()
            outcomes.append(outcome(function, operands, mode))
            count = _C.shortcut_count() - count
    assert outcomes[0] == outcomes[1], (function, operands, mode)
    return count > 0


def values(code, number=7):
    """Return numbers of a dtype, first ordinary ones, then the extreme ones."""
    dtype = np.dtype(code)
    ordinary = (np.arange(number) % 5 + 1).astype(dtype)
    with np.errstate(all="ignore"):
        if dtype.kind in "fc":
            info = np.finfo(dtype)
            strange = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max]
            strange += [info.tiny, info.smallest_subnormal, -1.5, 0.5, 1e3]
        elif dtype.kind == "b":
            strange = [True, False]
        else:
            info = np.iinfo(dtype)
            strange = [0, 1, info.min, info.max, 3]
        extreme = np.resize(np.array(strange, dtype), max(number, len(strange)))
    return ordinary, extreme


# --- elementwise ----------------------------------------------------------------------


@pytest.mark.parametrize("name", UFUNCS)
def test_inner_loops_give_what_ufuncs_give(name):
    count, ufunc = getattr(np, name).nin, getattr(dtensor, name, None)
    if ufunc is None:
        pytest.skip("no operator")

    def body():
        for code in CODES:
            for array in values(code):
                operands = [placed(array), placed(array[::-1].copy())][:count]
                both(ufunc, operands)

    run_ranks(1, body)


@pytest.mark.parametrize("mode", MODES)
def test_floating_point_errors_are_as_errstate_says(mode, capfd):
    def body():
        for code in "efdFD":
            for array in values(code):
                x = placed(array)
                for function in (dtensor.divide, dtensor.multiply, dtensor.power):
                    both(function, (x, placed(array[::-1].copy())), mode)
                for function in (dtensor.log, dtensor.exp, dtensor.sqrt, dtensor.sum):
                    both(function, (x,), mode)
                y = placed(np.resize(array, (6, 6)))
                both(lambda y: y.sum(0), (y,), mode)
                both(lambda y: y.sum(1), (y,), mode)
                both(operator.matmul, (y, y), mode)
        whole = placed(np.array([1, 0, -3]))
        both(dtensor.floor_divide, (whole, placed(np.array([0, 2, 2]))), mode)
        both(dtensor.power, (whole, placed(np.array([1, 2, -2]))), mode)

    run_ranks(1, body)
    capfd.readouterr()


def test_numbers_become_what_numpy_makes_of_them():
    numbers = [
        2,
        -3,
        2.5,
        1e300,
        1e-300,
        np.inf,
        np.nan,
        True,
        1j,
        2**24 + 1,
        2**53 + 1,
    ]
    numbers += [2**31, -(2**63), np.float32(0.1), np.float64(0.1), np.int8(3), 2**70]

    def body():
        for code in "?bilefdFD":
            x = placed(values(code)[0])
            for number in numbers:
                for function in (operator.add, operator.mul, operator.lt, np.maximum):
                    both(function, (x, number))
                both(np.subtract, (number, x))

    run_ranks(1, body)


def test_shortcuts_are_taken_where_they_should_be():
    def body():
        x = placed(np.arange(12.0).reshape(3, 4) + 1)
        assert both(operator.add, (x, x))
        assert both(operator.mul, (x, 2))
        assert both(np.sin, (x,))
        assert both(lambda a: a[1:, ::2], (x,))
        assert both(lambda a: a.T, (x,))
        assert both(lambda a: a.reshape(2, 6), (x,))
        assert not both(operator.truediv, (x, placed(np.zeros((3, 4)))))
        assert both(operator.matmul, (x, x.T.contiguous()))
        assert not both(operator.matmul, (placed(np.ones((64, 64))),) * 2)

    run_ranks(1, body)


def kinds_of(x):
    """Return equal or other matrices that lie in memory in many ways."""
    raw = np.zeros(x.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(x.dtype).reshape(x.shape)
    unaligned[...] = x
    strided = np.zeros((2 * x.shape[0], 3 * x.shape[1]), x.dtype)[::2, ::3]
    strided[...] = x
    kinds = [x, np.asfortranarray(x), unaligned, strided, x[::-1], x[:, ::-1], x.T]
    kinds += [x[:1], x[:, :1], x[:0], x[0], np.broadcast_to(x[0], x.shape), x[None]]
    return kinds


def multiplied(a, b):
    """Return the product, of long doubles without the bytes that mean nothing."""
    c = a @ b
    return c.astype("d" if c.dtype.char == "g" else "D") if c.dtype.char in "gG" else c


@pytest.mark.parametrize("code", CODES)
def test_products_are_those_of_matmul(code):
    def body():
        for array in values(code, 36):
            kinds = kinds_of(np.resize(array, (6, 6)))
            whole = [DTensor.from_local(a, line(), [R], run_check=False) for a in kinds]
            alone = [x.to_local() for x in whole]
            for k in range(len(kinds)):
                for i in range(len(kinds)):
                    both(multiplied, (whole[k], whole[i]))
                    both(lambda a, b: [multiplied(a, b)], (alone[k], alone[i]))
        with shortcuts(True):
            x = placed(np.resize(values(code)[0], (6, 6)))
            assert (x @ x.T)._version == 0
            out = placed(np.zeros((6, 6), np.matmul(local(x), local(x)).dtype))
            for _ in range(3):
                assert np.array_equal(local(np.matmul(x, x, out=out)), local(x @ x))

    run_ranks(1, body)


SHAPES = [(1,), (7,), (9,), (300,), (4096,), (1, 1), (8, 8), (7, 1), (1, 9), (300, 3)]
SHAPES += [(3, 300), (2, 2000), (130, 31), (2, 3, 4), (9, 1, 9), (1, 8, 1), (17, 4, 5)]
SHAPES += [(5, 1, 130), (130, 5, 1), (0, 3), (3, 0), (2, 3, 4, 5), ()]


@pytest.mark.parametrize("code", "fdehilqDg?")
def test_sums_are_those_of_reduce(code):
    def body():
        random = np.random.default_rng(3)
        for shape in SHAPES:
            array = (random.normal(size=shape) * 100).astype(code)
            dims = range(len(shape))
            for count in range(len(shape) + 1):
                for axis in itertools.combinations(dims, count):
                    for keep in (False, True):
                        for x in (array, np.asfortranarray(array)):
                            whole = DTensor.from_local(x, line(), [R], run_check=False)
                            add_up = partial(dtensor.sum, axis=axis, keepdims=keep)
                            taken = both(add_up, (whole,))
                            first = axis in (tuple(dims[:count]), tuple(dims[-count:]))
                            good = code in "fd" and count > 0 and first and x.size > 0
                            good &= x.size <= 4096 and x.flags.c_contiguous
                            assert taken == good, (shape, axis, keep)

    run_ranks(1, body)


def test_operands_of_other_shapes_and_strides_go_the_plain_way(ranks):
    def body():
        x = np.arange(60.0).reshape(6, 10)
        raw = np.zeros(x.nbytes + 1, np.uint8)
        unaligned = raw[1:].view(x.dtype).reshape(x.shape)
        unaligned[...] = x
        strided = np.zeros((12, 20))[::2, ::2]
        strided[...] = x
        kinds = [x, np.asfortranarray(x), unaligned, strided, x[:1], x[:, :1], x[:0]]
        kinds += [x[0], np.float64(3).reshape(()), np.broadcast_to(x[0], x.shape)]
        tensors = [DTensor.from_local(a, line(), [R], run_check=False) for a in kinds]
        calls = [
            (f, (a, b))
            for f in (operator.add, np.less)
            for a in tensors
            for b in tensors
        ]
        cut = placed(x, S0)
        calls += [(operator.add, (cut, cut)), (operator.add, (cut, tensors[0]))]
        return [outcome(*call) for call in calls for _ in range(3)]

    with shortcuts(False):  # of all ranks, which may be threads
        expected = ranks(body)
    assert ranks(body) == expected


def test_results_of_inner_loops_are_new_arrays():
    def body():
        x = placed(np.ones((3, 4)))
        results = [local(x + x) for _ in range(4)]
        for k, result in enumerate(results):
            result[...] = k
        assert [r[0, 0] for r in results] == [0, 1, 2, 3]

    run_ranks(1, body)


# --- views ----------------------------------------------------------------------------

VIEWS = [
    lambda x: x.T,
    lambda x: x.swapaxes(0, -1),
    lambda x: x.reshape(-1),
    lambda x: x.reshape(2, 3, -1),
    lambda x: x.ravel(),
    lambda x: x[1:5, ::2],
    lambda x: x[::-1],
    lambda x: x[2],
    lambda x: x[:, 3:3],
    lambda x: x[..., None],
    lambda x: dtensor.expand_dims(x, 1),
    lambda x: dtensor.squeeze(x),
    lambda x: dtensor.diagonal(x),
    lambda x: dtensor.broadcast_to(x, (2, *x.shape)),
    lambda x: x.real,
    lambda x: x.view(np.uint8) if x.ndim and x.shape[-1] else x.T,
]


def shape_of_memory(view, source):
    """Return where an array lies in the memory of another one, and what it is."""
    start = view.__array_interface__["data"][0] - source.__array_interface__["data"][0]
    flags = (view.flags.writeable, view.flags.aligned, view.flags.owndata)
    flags += (view.flags.c_contiguous, view.flags.f_contiguous)
    shares = np.shares_memory(view, source)
    where = start if shares else None
    return view.shape, view.strides, view.dtype, flags, where, type(view.base)


@pytest.mark.parametrize("k", range(len(VIEWS)))
def test_views_made_again_are_those_that_numpy_makes(k):
    function = VIEWS[k]

    def body():
        x = np.arange(60.0).reshape(6, 10)
        frozen = x.copy()
        frozen.flags.writeable = False
        kinds = [x, np.asfortranarray(x), np.zeros((12, 20))[::2, ::2], frozen, x[::-1]]
        kinds += [x[:0].copy(), x.astype(np.complex64)]
        tensors = [DTensor.from_local(a, line(), [R], run_check=False) for a in kinds]
        for x in tensors + tensors[::-1]:
            seen = []
            for wanted in (False, True, True, True):
                with shortcuts(wanted):
                    try:
                        view = local(function(x))
                    except (ValueError, TypeError, IndexError) as error:
                        seen.append(str(error))
                    else:
                        seen.append((*shape_of_memory(view, local(x)), view.tobytes()))
            assert all(one == seen[0] for one in seen)

    run_ranks(1, body)


def test_a_write_into_a_view_is_seen_by_its_tensor():
    def body():
        x = placed(np.zeros((4, 6)))
        for k in range(4):
            x[1:3, ::2][...] = k + 1
            x.T[0] = -k
            assert local(x)[1, 2] == k + 1
            assert local(x)[3, 0] == -k

    run_ranks(1, body)


def test_a_view_keeps_the_memory_that_it_shows():
    def body():
        for _ in range(4):
            view = placed(np.arange(24.0).reshape(4, 6))[1:].T
            assert np.array_equal(local(view), np.arange(24.0).reshape(4, 6)[1:].T)

    run_ranks(1, body)


def test_gradients_go_through_shortcuts():
    def body():
        for _ in range(3):
            x = placed(np.arange(1.0, 13.0).reshape(3, 4)).requires_grad_()
            (dtensor.sin(x + x) * 2).T[1:].sum().backward()
            expected = 4 * np.cos(2 * np.arange(1.0, 13.0).reshape(3, 4))
            expected[:, 0] = 0
            assert np.allclose(local(x.grad), expected)

    run_ranks(1, body)
