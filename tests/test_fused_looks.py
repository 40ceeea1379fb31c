"""Whoever looks at a tensor, or writes to one, while calls are put off by `fused`."""

import copy
import ctypes
import functools
import operator
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from meshes import line
from threads import SEED, bits, counted, elements

import dtensor
from dtensor import _C, DTensor, Replicate, Shard, distribute_tensor, fused

SHAPE = 7, 1009
R = Replicate()
pytestmark = pytest.mark.usefixtures("small_fused")


LOOKS = {
    "numpy": lambda y: y.numpy(),
    "asarray": np.asarray,
    "repr": repr,
    "item": lambda y: y[0, 0].item(),
    "tolist": lambda y: y.tolist(),
    "sum": lambda y: np.sum(y).item(),
    "matmul": lambda y: (y @ y.T).numpy(),
    "index": lambda y: y[1:3, ::2].numpy(),
    "view": lambda y: y.T.numpy(),
    "copy": lambda y: y.clone().numpy(),
    "detach": lambda y: y.detach().numpy(),
    "astype": lambda y: y.astype("f4").numpy(),
    "dlpack": lambda y: np.from_dlpack(y),
    "iterate": lambda y: [row.numpy() for row in y],
    "pickle": lambda y: pickle.loads(pickle.dumps(y)).numpy(),
    "deepcopy": lambda y: copy.deepcopy(y).numpy(),
    "as_tensor": lambda y: dtensor.as_tensor(y).numpy(),
    "from_local": lambda y: DTensor.from_local(y, line(), [R]).to_local().numpy(),
    "distribute": lambda y: (
        distribute_tensor(y, line(), [Shard(0)]).full_tensor().numpy()
    ),
    "save": lambda y: dtensor.concatenate([y, y]).numpy(),
    "any": lambda y: bool(np.any(y)),
    "data": lambda y: y.data.numpy(),
    "where": lambda y: np.where(y > 1, y, 0).numpy(),
    "nonzero": lambda y: [one.numpy() for one in np.nonzero(y > 1)],
    "mask": lambda y: y[y > 1].numpy(),
    "sort": lambda y: np.sort(y).numpy(),
    "torch": lambda y: dtensor.torch.as_tensor(y).sum().item(),
    "address": lambda y: np.ctypeslib.as_array(
        ctypes.cast(y.ctypes.data, ctypes.POINTER(ctypes.c_double)), (3,)
    ).copy(),
}


@pytest.mark.parametrize("name", LOOKS)
def test_whoever_looks_finds_the_elements(name):
    x = np.random.default_rng(SEED).standard_normal(SHAPE)
    expected = LOOKS[name](dtensor.tensor(x * 2 + 1))
    given = dtensor.tensor(x)
    for _ in range(2):
        with fused():
            y = given * 2 + 1
            got = LOOKS[name](y)
        assert got == expected if isinstance(got, str) else bits(got) == bits(expected)


def test_what_is_written_meanwhile_is_not_read():
    x = np.random.default_rng(SEED).standard_normal(SHAPE)
    writes = [
        lambda t: t.__setitem__(0, 5.0),
        lambda t: t.fill(3.0) if hasattr(t, "fill") else t.__setitem__(..., 3.0),
        lambda t: np.add(t, 1, out=t),
        lambda t: t.__imul__(2),
        lambda t: t.__setitem__((slice(None), 3), t[:, 4]),
        lambda t: t.T.__setitem__(0, 1.0),
        lambda t: setattr(t, "data", dtensor.tensor(x * 0)),
    ]
    for write in writes:
        t = dtensor.tensor(x)
        with fused():
            y = t * 2 + 1
            write(t)
            z = y + t
        assert bits(y) == bits(x * 2 + 1)
        assert bits(z) == bits(x * 2 + 1 + t.numpy())


@pytest.mark.parametrize(
    "make",
    [
        lambda a: (dtensor.as_tensor(a), a),
        lambda a: (t := dtensor.tensor(a), t.numpy()),
        lambda a: (t := dtensor.tensor(a), np.asarray(t)[1:]),
        lambda a: (t := dtensor.tensor(a), t.T.numpy()),
        lambda a: (DTensor.from_local(a, line(), [R], run_check=False), a),
        lambda a: (a, a),
    ],
)
def test_an_ndarray_of_the_users_is_read_at_once(make):
    x = np.random.default_rng(SEED).standard_normal(SHAPE)
    one = (
        dtensor.tensor(x)
        if type(make(x.copy())[0]) is not DTensor
        else distribute_tensor(x, line(), [R])
    )
    given, raw = make(x.copy())
    for k in range(3):
        before = np.array(elements(given))
        with fused():
            y = np.multiply(one, 2) + 1
            z = y + given
            raw[...] = k
            last = z * 2
        assert bits(elements(last)) == bits((x * 2 + 1 + before) * 2)


def test_a_small_operand_is_copied():
    x, row = np.ones((70, 90)), np.arange(90.0)
    given = dtensor.tensor(x)

    def chain():
        with fused():
            y = given + row
            row[...] = 9
            return y * 2

    assert bits(chain()) == bits((x + np.arange(90.0)) * 2)
    assert counted(chain) == (1, 2, 0)  # y has a name


def test_other_threads_find_the_elements():
    x = dtensor.tensor(np.ones(SHAPE))
    seen = []
    with fused():
        y = x * 2 + 1
        other = threading.Thread(target=lambda: seen.append(bits(y + x)))
        other.start()
        other.join()
    assert seen == [bits(np.ones(SHAPE) * 4)]


def test_a_child_of_fork_finds_the_elements(threads):
    threads(2)
    x = dtensor.tensor(np.ones(SHAPE))
    with fused(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fork
        y = x * 2 + 1
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(0 if bits(y) == bits(np.ones(SHAPE) * 3) else 1)
        assert os.waitpid(child, 0)[1] == 0
    assert bits(y) == bits(np.ones(SHAPE) * 3)


# --- others meanwhile -----------------------------------------------------------------


def test_threads_that_fuse_and_look_at_once(threads):
    _C.set_fused_bytes(1 << 18)
    x, row = np.ones((64, 4096)), np.arange(4096.0)
    given, wrong, end = dtensor.tensor(x), [], time.monotonic() + 1

    def chain():
        while time.monotonic() < end:
            with fused():
                y = (given * 2 + row) * 3  # the row is copied
            wrong.append(bits(y) != bits((x * 2 + row) * 3))

    def look():
        while time.monotonic() < end:
            wrong.append(bits(given) != bits(x))

    def resize():
        while time.monotonic() < end:
            threads(1 + len(wrong) % 4)

    others = [threading.Thread(target=f) for f in (chain, chain, look, resize)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert wrong and not any(wrong)


def test_another_thread_is_not_told_of_a_warning():
    x, seen = dtensor.tensor(np.zeros(SHAPE)), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"), fused():
            1 / x
            other = threading.Thread(target=lambda: seen.append(bits(x)))
            other.start()
            other.join()
    assert seen == [bits(np.zeros(SHAPE))]


def test_a_hook_of_warnings_may_fuse(monkeypatch):
    x, zero, said = dtensor.tensor(np.ones(SHAPE)), dtensor.tensor(np.zeros(SHAPE)), []

    def hook(message, *rest):
        y = x
        for _ in range(33):
            y = y + 1
        said.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", hook)
        with fused():
            with np.errstate(divide="warn"):
                y = 1 / zero
            with np.errstate(divide="ignore"):
                z = x + 1
            np.log(zero)
    assert said == [f"divide by zero encountered in {f}" for f in ("divide", "log")]
    assert bits(y) == bits(np.full(SHAPE, np.inf)) and bits(z) == bits(
        np.full(SHAPE, 2.0)
    )


def test_interrupts_arrive():
    x, caught = dtensor.tensor(np.zeros(SHAPE)), 0
    end = time.monotonic() + 1
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    sent = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while time.monotonic() < end:
                sent += 1
                try:
                    signal.setitimer(signal.ITIMER_REAL, 1e-3)
                    while True:
                        with fused():
                            x + 1 - 1 / x
                except KeyboardInterrupt:
                    caught += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _C.set_fusing(False)
    assert caught == sent
    assert bits(x + 1) == bits(np.ones(SHAPE))


def test_a_borrowed_array_is_the_users():
    x, args = dtensor.tensor(np.ones(SHAPE)), [np.ones(SHAPE)]
    for call in (
        functools.partial(operator.add, x, np.ones(SHAPE)),
        functools.partial(np.add, x, np.ones(SHAPE)),
        functools.partial(x.__add__, np.ones(SHAPE)),
    ):
        with fused():
            y = call()
            call.args[-1][...] = 9
        assert bits(y) == bits(np.full(SHAPE, 2.0))
    with fused():
        y = operator.add(x, *args)
        args[0][...] = 9
    assert bits(y) == bits(np.full(SHAPE, 2.0))


def test_an_in_place_call_that_fails_leaves_no_history():
    leaf = dtensor.tensor(np.zeros(SHAPE), requires_grad=True)
    w = dtensor.tensor(np.ones(SHAPE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"), fused():
            w /= leaf
    assert not w.requires_grad and bits(w) == bits(np.ones(SHAPE))


def test_one_block_in_several_threads():
    block, fusing, inside, left = fused(), [], threading.Event(), threading.Event()

    def other():
        inside.wait(10)
        with block:
            pass
        fusing.append(_C.set_fusing(False))
        left.set()

    thread = threading.Thread(target=other)
    thread.start()
    with block:
        inside.set()
        left.wait(10)
        fusing.append(_C.set_fusing(True))
    thread.join()
    assert fusing == [False, True]
