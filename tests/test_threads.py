"""Threads that share long loops: the same bits as one thread, and as NumPy."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from meshes import line
from threads import COLUMNS, ROWS, SEED, SHAPE, bits, repeated

import dtensor
from dtensor import _C, Replicate, Shard, as_tensor, distribute_tensor

SETTINGS = ("DTENSOR_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


# --- elementwise functions ------------------------------------------------------------

UFUNCS = sorted(
    name
    for name, ufunc in vars(np).items()
    if isinstance(ufunc, np.ufunc)
    and ufunc.signature is None
    and name == ufunc.__name__
    and ufunc.nin <= 2
)
DTYPES = "? b h i q B Q e f d F D".split()


def sample(rng, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "fc":
        x = rng.standard_normal(shape)
        return (
            (x + 1j * x[::-1]).astype(dtype) if dtype.kind == "c" else x.astype(dtype)
        )
    return rng.integers(0, 2 if dtype == "?" else 7, shape).astype(dtype)


def operands(rng, dtype, count):
    """Arrays of one shape; with a row, a column and a number for the second."""
    x = sample(rng, SHAPE, dtype)
    if count == 1:
        return [(x,)]
    others = [sample(rng, shape, dtype) for shape in (SHAPE, COLUMNS, (ROWS, 1))]
    number = [2.5] if np.dtype(dtype).kind in "fc" else [3]
    return [(x, other) for other in others + number]


def played(function, args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bits(function(*args))
        except Exception as error:
            return type(error)


@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_has_numpys_bits(threads, name):
    rng, ufunc = np.random.default_rng(SEED), getattr(np, name)
    threads(3)
    for dtype in DTYPES:
        for args in operands(rng, dtype, ufunc.nin):
            expected = played(ufunc, args)
            if isinstance(expected, type):
                continue
            given = [dtensor.tensor(a) if np.ndim(a) else a for a in args]
            got = repeated(played, ufunc, given)
            assert got == expected, (dtype, [np.shape(a) for a in args])


def test_large_results_are_shared(threads):
    x = np.random.default_rng(SEED).standard_normal(SHAPE)
    calls = [
        lambda x, row, column: x + x,
        lambda x, row, column: x * row,
        lambda x, row, column: column - x,
        lambda x, row, column: x / 3,
        lambda x, row, column: 2.5**x,
        lambda x, row, column: np.cos(x),
        lambda x, row, column: x > 0,
    ]
    for spread in (dtensor.tensor, lambda x: distribute_tensor(x, line(), [Shard(0)])):
        given = spread(x), spread(x[0]), spread(x[:, :1])
        for call in calls:
            for count in (1, 3):
                threads(count)
                repeated(call, *given)
                before = _C.shortcut_count()
                call(*given)
                assert _C.shortcut_count() == before + (count == 3)
    threads(3)
    whole = dtensor.tensor(x.astype("f4").reshape(1, *SHAPE))
    for number in (np.float64(2.5), 2.5):  # NumPy's are no numbers for a loop
        repeated(np.multiply, whole, number)
    before = _C.shortcut_count()
    np.multiply(whole, 2.5)
    assert _C.shortcut_count() == before + 1
    planes, middle = (
        dtensor.tensor(x.reshape(1, *SHAPE)[:, :330].reshape(5, 66, -1)),
        x[:66, :1],
    )
    repeated(np.multiply, planes, dtensor.tensor(middle))
    assert _C.shortcut_count() == before + 2
    small = dtensor.tensor(x[:10])
    repeated(np.add, small, small)
    assert _C.shortcut_count() == before + 2


def test_operands_in_any_order_have_numpys_result(threads):
    threads(3)
    x = np.random.default_rng(SEED).standard_normal((7, 61, 811))
    for view in (x.T, x[:, ::-1], x[::2], x[..., ::3], x.transpose(1, 0, 2), x[:, :1]):
        for other in (view, x[0, 0, 0], view[0], view[..., :1], view[:1, :, :1]):
            expected = view * other
            got = repeated(np.multiply, dtensor.tensor(view), dtensor.tensor(other))
            assert bits(got) == bits(expected)


def results(x):
    """Functions, their operands, and arrays for the results, which may be operands."""
    y, square = np.exp(x), x[:, :ROWS].copy()
    return [
        (np.add, (x, y), y),
        (np.add, (x, y), np.zeros(SHAPE)),
        (np.multiply, (x, 2.5), x),
        (np.subtract, (x, x[0]), x),
        (np.exp, (x,), x),
        (np.exp, (x,), np.zeros(SHAPE, "f4")),
        (np.add, (x, y), np.zeros((*SHAPE, 2))[..., 0]),
        (np.add, (square, square.T), square),
        (np.greater, (x, y), np.zeros(SHAPE, bool)),
    ]


@pytest.mark.parametrize("spread", [False, True])
def test_results_are_written_where_they_are_wanted(threads, spread):
    def given(array):
        if not isinstance(array, np.ndarray):
            return array
        spreads = [Shard(0) if array.ndim > 1 else Replicate()]
        return distribute_tensor(array, line(), spreads) if spread else as_tensor(array)

    threads(3)
    x = np.random.default_rng(SEED).standard_normal(SHAPE)
    for function, args, out in results(x):
        expected, target = out.copy(), given(out.copy(order="K"))
        casting = {"casting": "same_kind"}
        function(*(expected if a is out else a for a in args), out=expected, **casting)
        operands = [target if a is out else given(a) for a in args]
        for _ in range(3):  # the first calls find out how to share it
            target[...] = given(out)
            function(*operands, out=target, **casting)
            assert bits(target) == bits(expected), function


def test_powers_by_columns_of_numbers_that_loops_know(threads):
    threads(3)
    rng = np.random.default_rng(SEED)
    column = rng.choice([2.0, 0.5, -1.0], (400, 1))
    for dtype in ("f4", "f8"):
        x, y = rng.random((400, 1500)).astype(dtype), column.astype(dtype)
        got = repeated(np.power, dtensor.tensor(x), dtensor.tensor(y))
        assert bits(got) == bits(x**y)
        for number in (2.0, 0.5, -1.0):
            assert bits(repeated(np.power, dtensor.tensor(x), number)) == bits(
                x**number
            )


VIEWS = {
    "einsum": lambda t: np.einsum("ij->ji", t, out=t),
    "flip": lambda t: dtensor.flip(t, out=t),
    "transpose": lambda t: dtensor.transpose(t, out=t),
    "swapaxes": lambda t: dtensor.swapaxes(t, 0, 1, out=t),
    "shifted": lambda t: np.einsum("ij->ij", t[:-1], out=t[1:]),
}
COPIES = {
    "flip": lambda x: np.flip(x),
    "shifted": lambda x: np.concatenate([x[:1], x[:-1]]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("size", [6, 700])
def test_views_of_out_are_written_to_it(threads, name, size):
    x = np.random.default_rng(SEED).standard_normal((size, size))
    for count in (1, 3):
        threads(count)
        t = dtensor.tensor(x)
        VIEWS[name](t)
        assert bits(t) == bits(COPIES.get(name, np.transpose)(x).copy())


def test_another_thread_may_replace_an_operand(threads):
    threads(2)
    x, end = dtensor.tensor(np.ones((1000, 1000))), time.monotonic() + 1

    def replace():
        while time.monotonic() < end:
            x.data = dtensor.tensor(np.ones((1000, 1000)))

    other = threading.Thread(target=replace)
    other.start()
    while time.monotonic() < end:
        assert bits(np.sqrt(x)[::999]) == bits(np.ones((2, 1000)))
    other.join()


@pytest.mark.parametrize("spread", [False, True])
def test_a_result_in_the_memory_of_its_operands(threads, spread):
    threads(3)
    x = np.random.default_rng(SEED).standard_normal((ROWS, ROWS))
    for view in (lambda a: a.T, lambda a: a[::-1], lambda a: a[:1], lambda a: a):
        expected, target = x.copy(), dtensor.tensor(x)
        if spread:
            target = distribute_tensor(x, line(), [Replicate()])
        np.add(expected, view(expected), out=expected)
        for _ in range(3):
            target[...] = x
            np.add(target, view(target), out=target)
            assert bits(target) == bits(expected)


def test_an_array_is_copied_by_parts(threads):
    x = np.random.default_rng(SEED).standard_normal((40, 50, 60, 3))
    for axes in [(3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2), (2, 3, 0, 1)]:
        turned = x.transpose(axes)
        for count in (1, 2, 3):
            threads(count)
            whole = dtensor.tensor(x).transpose(axes)
            assert bits(np.ascontiguousarray(whole)) == bits(turned)
            assert bits(whole.reshape(-1)[::-1].copy()) == bits(turned.ravel()[::-1])


# --- what goes wrong ------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise", "call", "print", "log"])
@pytest.mark.parametrize(
    "kind, function, value",
    [
        ("divide", np.reciprocal, 0.0),
        ("over", np.exp, 1e4),
        ("under", np.exp, -740.0),
        ("invalid", np.sqrt, -1.0),
    ],
)
def test_flags_are_told_of_as_numpy_tells(threads, mode, kind, function, value, capfd):
    x = np.ones(SHAPE)
    x[-1, -1] = value

    class Log:
        said = []

        def __call__(self, error, flag):
            self.said.append((error, flag))

        def write(self, text):
            self.said.append(text)

    def told(given):
        log = Log()
        Log.said = []
        with (
            np.errstate(all="ignore", **{kind: mode}, call=log),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            try:
                result = bits(function(given))
            except FloatingPointError as error:
                result = str(error)
        said = [str(warning.message) for warning in caught]
        return result, said, Log.said, capfd.readouterr().out

    expected = told(x)
    threads(3)
    given = dtensor.tensor(x)
    with np.errstate(all="ignore"):
        repeated(function, given)
    assert told(given) == expected


def test_integers_to_negative_powers_are_an_error(threads):
    threads(3)
    y = np.ones(SHAPE, int)
    x = dtensor.tensor(y)
    repeated(np.power, x, x)
    y[-1, -1] = -1
    with pytest.raises(ValueError, match="negative integer powers"):
        repeated(np.power, x, dtensor.tensor(y))


def test_a_child_of_fork_has_threads_of_its_own(threads):
    threads(3)
    x = dtensor.tensor(np.ones(SHAPE))
    expected = repeated(lambda: bits(np.exp(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fork
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if repeated(lambda: bits(np.exp(x))) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert bits(np.exp(x)) == expected


def test_ctrl_c_ends_a_program_that_computes(threads):
    threads(3)
    x = dtensor.tensor(np.ones((2000, 1000)))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:
                np.exp(x)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert bits(np.exp(x)) == bits(np.exp(np.ones((2000, 1000))))


def test_ranks_that_are_threads_have_them_together(threads, ranks):
    threads(3)
    x = np.random.default_rng(SEED).standard_normal(SHAPE)

    def body():
        d = distribute_tensor(x, line(), [Shard(0)])
        for _ in range(5):
            got = np.exp(d) * 2 + d
        return got.full_tensor()

    for whole in ranks(body):
        assert bits(whole) == bits(np.exp(x) * 2 + x)


# --- how many -------------------------------------------------------------------------


def test_their_number_is_set(threads):
    threads(7)
    assert dtensor.get_num_threads() == 7
    for wrong in (0, -1, 257):
        with pytest.raises(ValueError, match=f"from 1 to 256, got {wrong}"):
            dtensor.set_num_threads(wrong)
    with pytest.raises(TypeError, match="num must be an int"):
        dtensor.set_num_threads(1.5)
    assert dtensor.get_num_threads() == 7


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({"DTENSOR_THREADS": "5", "OMP_NUM_THREADS": "2"}, "5"),
        ({"OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, "3"),
        ({"OMP_NUM_THREADS": "2"}, "2"),
        ({}, str(len(os.sched_getaffinity(0)))),
        ({"MPI_LOCALNRANKS": "1000"}, "1"),
        ({"DTENSOR_THREADS": "many"}, "must be a number from 1 to 256, got 'many'"),
        ({"DTENSOR_THREADS": "0"}, "must be a number from 1 to 256, got '0'"),
    ],
)
def test_the_environment_says_how_many(settings, expected):
    environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    run = subprocess.run(
        [sys.executable, "-c", "import dtensor; print(dtensor.get_num_threads())"],
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert expected in (run.stdout.strip() or run.stderr)
