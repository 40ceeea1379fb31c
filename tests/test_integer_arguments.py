"""Integers beyond all arrays: the result, the type of error, or MemoryError."""

import json
import os
import resource
import signal
import subprocess
import sys
import traceback

import numpy as np
import pytest
from memory_limit import limit_memory
from numpy.exceptions import AxisError

import dtensor
from dtensor import Shard, distribute_tensor, init_device_mesh, nn
from dtensor.nn import functional

LEAST = -(2**63)
SECONDS = 20
GIGABYTES = 4

# What is called, and what comes: a type of error, or what is true of the result.
CALLS = {
    "repeat(4 elements, 2**62)": (lambda x, m: dtensor.repeat(x, 2**62), ValueError),
    "repeat(x, 2**40)": (lambda x, m: np.repeat(x, 2**40), MemoryError),
    "repeat(x, list)": (lambda x, m: np.repeat(x, [2**62] * 4), ValueError),
    "repeat(x, -2**63)": (lambda x, m: np.repeat(x, LEAST), ValueError),
    "diff(x, 2**40)": (lambda x, m: np.diff(x, 2**40), lambda y: y.shape == (0,)),
    "diff(m, 2**62)": (
        lambda x, m: np.diff(m, 2**62, axis=1),
        lambda y: y.shape == (2, 0),
    ),
    "array_split(x, 2**40)": (lambda x, m: np.array_split(x, 2**40), MemoryError),
    "tensor_split(x, 2**40)": (lambda x, m: x.tensor_split(2**40), MemoryError),
    "array_split(x, -1)": (lambda x, m: np.array_split(x, -1), ValueError),
    "matrix_power(a, -2**63)": (
        lambda x, m: np.linalg.matrix_power(m * m[0, 0] + np.eye(2), LEAST),
        lambda y: y.shape == (2, 2) and np.array_equal(y.full_tensor(), np.eye(2)),
    ),
    "fft(x, -1)": (lambda x, m: np.fft.fft(x, -1), ValueError),
    "fft(x, -2**63)": (lambda x, m: np.fft.fft(x, LEAST), ValueError),
    "irfft(x, 0)": (lambda x, m: np.fft.irfft(x, 0), ValueError),
    "fftn(m, -5)": (lambda x, m: np.fft.fftn(m, (2, -5)), ValueError),
    "take(x, 2**62, wrap)": (
        lambda x, m: np.take(x, [2**62 + 1, LEAST], mode="wrap"),
        lambda y: np.array_equal(y.full_tensor(), [1, 0]),
    ),
    "take(x, tensor, wrap)": (
        lambda x, m: np.take(
            x, distribute_tensor(np.array([2**62, -1]), x.device_mesh), mode="wrap"
        ),
        lambda y: np.array_equal(y.full_tensor(), [0, 3]),
    ),
    "var(x, ddof=-2**63)": (
        lambda x, m: np.var(x, ddof=LEAST),
        lambda y: np.isclose(float(y), 5 / 2.0**63, rtol=1e-15, atol=0),
    ),
    "conv1d(stride=2**62)": (
        lambda x, m: functional.conv1d(
            m.reshape(1, 2, 2), m.reshape(1, 2, 2), stride=2**62
        ),
        lambda y: y.shape == (1, 1, 1),
    ),
    "sum(x, axis=2**31)": (lambda x, m: np.sum(x, 2**31), AxisError),
    "diff(x, axis=2**62)": (lambda x, m: np.diff(x, axis=2**62), OverflowError),
    "tile(x, -1)": (lambda x, m: np.tile(x, -1), ValueError),
    "repeat(x, list with 2**31)": (
        lambda x, m: np.repeat(x, [1, 2**31, 0, 1]),
        MemoryError,
    ),
    "resize(x, 2**62)": (lambda x, m: np.resize(x, 2**62), MemoryError),
    "tril(m, -2**63)": (lambda x, m: np.tril(m, LEAST), OverflowError),
    "triu(m, 2**63 - 1)": (
        lambda x, m: np.triu(m + 1, 2**63 - 1),
        lambda y: np.array_equal(y.full_tensor(), np.zeros((2, 2))),
    ),
    "tri(-1)": (lambda x, m: np.tri(-1, 3, like=x), lambda y: y.shape == (0, 3)),
    "trace(m, 2**31)": (lambda x, m: np.trace(m, 2**31), OverflowError),
    "array(ndmin=-2**63)": (lambda x, m: dtensor.array(x, ndmin=LEAST), OverflowError),
    "rfftn of a dim twice": (
        lambda x, m: np.fft.rfftn(m + 1, axes=(1, 1)),
        lambda y: np.allclose(
            y.full_tensor(), np.fft.rfftn(np.ones((2, 2)), axes=(1, 1))
        ),
    ),
    "irfftn of all points": (
        lambda x, m: np.fft.irfftn(m + 1, (2, -1)),
        lambda y: np.allclose(y.full_tensor(), np.fft.irfftn(np.ones((2, 2)), (2, -1))),
    ),
    "einsum of a negative number": (
        lambda x, m: np.einsum(m, [0, -1], m, [1, 2]),
        ValueError,
    ),
    "tensordot of a dim twice": (
        lambda x, m: np.tensordot(m, m, ([1, -1], [0, 1])),
        ValueError,
    ),
    "glu(m, 2**40)": (lambda x, m: dtensor.glu(m, 2**40), IndexError),
    "Flatten(5)": (lambda x, m: nn.Flatten(5)(m), IndexError),
    "Unflatten(5)": (lambda x, m: nn.Unflatten(5, (1, 2))(m), IndexError),
    "avg_pool2d of integers by -2**63": (
        lambda x, m: functional.avg_pool2d(
            m.reshape(1, 2, 2).astype(int) + 3, 1, divisor_override=LEAST
        ),
        lambda y: np.array_equal(y.full_tensor(), np.zeros((1, 2, 2))),
    ),
    "arange(-2**63, 0)": (
        lambda x, m: dtensor.arange(LEAST, 0, device_mesh=x.device_mesh),
        ValueError,
    ),
}


def check(name):
    """Make the call, in a process of its own; return what is wrong, or nothing."""
    call, expected = CALLS[name]
    mesh = init_device_mesh("cpu", (1,))
    x = distribute_tensor(np.arange(4.0), mesh, [Shard(0)])
    m = distribute_tensor(np.zeros((2, 2)), mesh, [Shard(0)])
    try:
        result = call(x, m)
    except (ValueError, LookupError, OverflowError, MemoryError) as error:
        right = isinstance(expected, type) and isinstance(error, expected)
        leaks = "rule '" in str(error)
        return "" if right and not leaks else traceback.format_exc()
    if isinstance(expected, type):
        return f"no {expected.__name__}, but {result!r}"
    return "" if expected(result) else f"{result!r}"


def in_a_process_of_its_own(name):
    """Return what `check` does; a sentence where it does not come back."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit_memory(GIGABYTES << 30)
        try:
            said = check(name)
        except BaseException:
            said = traceback.format_exc()
        os.write(writer, said.encode()[-4000:])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    return said if status == 0 else f"it crashed, or did not end: {status}"


@pytest.fixture(scope="module")
def answers():
    """What each call does, in processes without threads and without MPI."""
    done = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CALLS)
def test_large_and_negative_integers_neither_crash_nor_hang_nor_leak(answers, name):
    assert not answers[name], answers[name]


if __name__ == "__main__":
    print(json.dumps({name: in_a_process_of_its_own(name) for name in CALLS}))
