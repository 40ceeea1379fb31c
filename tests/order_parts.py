"""What tests of sorts and order statistics along cut dims share."""

import numpy as np

from dtensor import DTensor, Shard
from dtensor.debug import CommDebugMode
from dtensor.ops._make import routes
from dtensor.ops.reduce import selection


def all_in_parts(monkeypatch) -> None:
    """Arrays of any size are sorted and selected from in parts, in many rounds."""
    monkeypatch.setattr(selection, "LEAST_LENGTH", 0)
    monkeypatch.setattr(selection, "SAMPLES", 16)
    monkeypatch.setattr(routes, "LEAST_SIZE", 0)


def values(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers with ties, and in floats NaN, infinities and zeros of both signs."""
    rng = np.random.default_rng([seed, *shape])
    found = rng.integers(-9, 10, shape) / 2
    if np.dtype(dtype).kind == "c":
        return (found + 1j * rng.integers(-1, 2, shape)).astype(dtype)
    return np.abs(found).astype(dtype) if dtype in "?BHIL" else found.astype(dtype)


def strewn(array: np.ndarray, *numbers: float) -> np.ndarray:
    """The array with numbers in some places."""
    array = array.copy()
    for k, number in enumerate(numbers):
        array.flat[k :: 7 + 2 * k] = number
    return array


def same(got: DTensor, want: np.ndarray) -> None:
    """The same bits, but for those of zeros and NaN."""
    if got.device_mesh.get_coordinate() is None:
        return
    got, want = np.asarray(got.full_tensor()), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (got, want)


def sent_parts(fn, x: DTensor) -> float:
    """What this rank sends, in parts of the operand."""
    with CommDebugMode() as comm:
        fn(x)
    part = x.dtype.itemsize * x.size / x.device_mesh.size()
    return sum(comm.get_comm_bytes().values()) / part


def is_chunked(x: DTensor) -> bool:
    """Whether each rank has its chunk of an array that is cut."""
    return x.device_mesh.size() == 1 or (
        x.layout.cuts is None and any(isinstance(p, Shard) for p in x.placements)
    )
