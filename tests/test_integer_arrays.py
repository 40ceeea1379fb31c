"""Arrays of integers where numbers are wanted, and lists where arrays are: as NumPy."""

import numpy as np
import pytest

import dtensor
from dtensor import Shard, distribute_tensor, init_device_mesh
from dtensor.testing import run_ranks

M = np.arange(24.0).reshape(4, 6)
W = np.arange(1.0, 7)
LIST = [3.0, 1, 2, 5, 4, 6]
ROWS = (M + np.eye(4, 6)).T.tolist()
ZERO, ONE, TWO, THREE = map(np.array, range(4))
PAIR = np.array([0, 1])
WINDOWS = np.lib.stride_tricks.sliding_window_view

NUMBERS = {
    "sum": lambda x: np.sum(x, axis=ONE),
    "sum over two": lambda x: np.sum(x, axis=(ZERO, ONE)),
    "mean": lambda x: np.mean(x, ONE),
    "std": lambda x: np.std(x, axis=ONE, ddof=ONE),
    "cumsum": lambda x: np.cumsum(x, axis=ONE),
    "sort": lambda x: np.sort(x, axis=ONE),
    "argmax": lambda x: np.argmax(x, axis=ZERO),
    "median": lambda x: np.median(x, axis=ONE),
    "diff": lambda x: np.diff(x, TWO, ONE),
    "roll": lambda x: np.roll(x, TWO, axis=ONE),
    "roll both": lambda x: np.roll(x, (ONE, TWO), axis=PAIR),
    "repeat": lambda x: np.repeat(x, TWO, axis=ONE),
    "tile": lambda x: np.tile(x, (TWO, ONE)),
    "tile of array": lambda x: np.tile(x, np.array([2, 1])),
    "reshape": lambda x: np.reshape(x, (TWO, np.array(12))),
    "reshape of array": lambda x: np.reshape(x, np.array([2, 12])),
    "x.reshape": lambda x: x.reshape(TWO, -1),
    "zeros_like": lambda x: np.zeros_like(x, shape=(TWO, THREE)),
    "broadcast_to": lambda x: np.broadcast_to(x, (TWO, np.array(4), np.array(6))),
    "transpose": lambda x: np.transpose(x, (ONE, ZERO)),
    "moveaxis": lambda x: np.moveaxis(x, ZERO, ONE),
    "expand_dims": lambda x: np.expand_dims(x, (ZERO, THREE)),
    "flip": lambda x: np.flip(x, (ZERO, ONE)),
    "rot90": lambda x: np.rot90(x, ONE, (ZERO, ONE)),
    "concatenate": lambda x: np.concatenate([x, x], axis=ONE),
    "split": lambda x: np.split(x, TWO, axis=ONE)[1],
    "diag": lambda x: np.diag(x, ONE),
    "tril": lambda x: np.tril(x, ONE),
    "vander": lambda x: np.vander(x[0], THREE),
    "tensordot": lambda x: np.tensordot(x, x, TWO),
    "pad": lambda x: np.pad(x, ((ONE, TWO), (ZERO, ONE))),
    "matrix_power": lambda x: np.linalg.matrix_power(x[:, :4], TWO),
    "fft": lambda x: np.fft.fft(x, THREE, ONE),
    "fftn": lambda x: np.fft.fftn(x, (TWO, THREE), (ZERO, ONE)),
    "histogram": lambda x: np.histogram(x, THREE)[0],
    "round": lambda x: np.round(x / 7, ONE),
    "unwrap": lambda x: np.unwrap(x, period=TWO),
    "windows": lambda x: WINDOWS(x, (TWO, THREE)),
    "unravel_index": lambda x: np.unravel_index(x.astype(int), (TWO, np.array(12)))[1],
    "full": lambda x: np.full((TWO, THREE), ONE, like=x),
    "linspace": lambda x: np.linspace(x[0], x[1], THREE),
}

LISTS = {
    "average": lambda w: np.average(LIST, weights=w),
    "average of rows": lambda w: np.average(ROWS, axis=0, weights=w),
    "trapezoid": lambda w: np.trapezoid(LIST, w),
    "gradient": lambda w: np.gradient(LIST, w),
    "lstsq": lambda w: np.linalg.lstsq(ROWS, w)[0],
    "lstsq of list": lambda w: np.linalg.lstsq(np.stack([w, w * w], 1), LIST)[0],
    "diff": lambda w: np.diff(LIST, prepend=w),
    "ediff1d": lambda w: np.ediff1d(LIST, w),
    "multi_dot": lambda w: np.linalg.multi_dot([LIST, np.diag(w), LIST]),
    "outer": lambda w: np.linalg.outer(LIST, w),
    "cross": lambda w: np.linalg.cross(LIST[:3], w[:3]),
    "mean": lambda w: np.mean(LIST, where=w > 2),
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("table", ["numbers", "lists"])
def test_as_numpy(table, ranks):
    calls, array = (NUMBERS, M) if table == "numbers" else (LISTS, W)

    def body():
        mesh = init_device_mesh("cpu", (ranks,))
        for name, call in calls.items():
            x = distribute_tensor(array.copy(), mesh, [Shard(0)])
            result = call(x)
            assert isinstance(result, dtensor.DTensor), name
            np.testing.assert_allclose(
                result.full_tensor(), call(array), atol=1e-9, err_msg=name
            )

    run_ranks(ranks, body)


def test_what_is_no_number():
    mesh = init_device_mesh("cpu", (1,))
    x = distribute_tensor(M, mesh, [Shard(0)])
    wrong = {
        "an array of shape (4, 6) cannot be interpreted": [
            lambda: np.diag(x, x),
            lambda: np.tensordot(x, x, x),
            lambda: np.roll(x, 1, axis=x),
        ],
        "an array of shape (2,) cannot be interpreted as an integer": [
            lambda: np.sum(x, axis=PAIR),
            lambda: np.diag(x, PAIR),
        ],
        "an array of shape () cannot be interpreted as an integer": [
            lambda: np.sum(x, axis=np.array(1.0)),
            lambda: np.diag(x, np.array(True)),
        ],
    }
    for message, calls in wrong.items():
        for call in calls:
            with pytest.raises(TypeError) as caught:
                call()
            assert message in str(caught.value)


def test_sparse_grids_are_copies_unless_views_are_wanted():
    x = distribute_tensor(W.copy(), init_device_mesh("cpu", (1,)), [Shard(0)])
    np.meshgrid(x, x, sparse=True)[0][...] = 0
    assert np.array_equal(x.full_tensor(), W)
    np.meshgrid(x, x, sparse=True, copy=False)[0][...] = 0
    assert np.array_equal(x.full_tensor(), np.zeros(6))
