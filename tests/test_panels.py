"""Factors of a few columns, and division by triangles: the kernels in C, with every
instruction set, and what NumPy's functions do of complex numbers."""

import numpy as np
import pytest

from dtensor import _C
from dtensor.ops.linalg import panels

DTYPES = ["f", "d", "F", "D"]
SIZES = [(1, 1), (5, 3), (8, 8), (9, 9), (33, 17), (40, 40), (100, 33), (530, 70)]


def values(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(shape)
    found = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * rng.normal(size=shape)
    return found.astype(dtype)


def close(x, y, count: int) -> bool:
    """Whether the sums of so many products are the same but for rounding."""
    scale = 8 * count * np.finfo(y.dtype).eps
    return bool(np.max(np.abs(x - y), initial=0) <= scale * np.max(np.abs(y)))


def factors(lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    width = len(lines)
    return panels.unit_lower(lines.T), np.triu(lines.T[:width])


def exchanged(rows: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    found = rows.copy()
    for k, pivot in enumerate(pivots):
        found[[k, pivot]] = found[[pivot, k]]
    return found


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_panel_is_the_product_of_its_factors(level, dtype, size):
    panel = values(dtype, *size)
    lines = np.array(panel.T, order="C")
    pivots = panels.factor(lines)
    lower, upper = factors(lines)
    assert np.all(np.abs(lower) <= 1 + 1e-6)
    assert close(lower @ upper, exchanged(panel, pivots), size[1])
    # Each is the largest of those that are left.
    left = np.abs(exchanged(panel, pivots[:1])[:, 0])
    assert left[0] == left.max()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_divided_by_triangles(level, dtype, size):
    length, side = size
    lower = np.tril(values(dtype, side, side)) + 2 * side * np.eye(side, dtype=dtype)
    right = values(dtype, side, length)
    assert close(lower @ panels.divided(lower, right), right, side)
    assert close(lower.T @ panels.divided_upper(lower.T, right), right, side)
    empty = panels.divided(lower, right[:, :0])
    assert empty.shape == (side, 0)


@pytest.mark.parametrize("dtype", "fd")
def test_the_panel_may_be_a_part_of_an_array(level, dtype):
    whole = values(dtype, 60, 90)
    expected = np.array(whole[1:31:2, 3:80])
    _C.eliminate(expected)
    found = whole.copy()
    _C.eliminate(found[1:31:2, 3:80])
    assert np.array_equal(found[1:31:2, 3:80], expected)
    found[1:31:2, 3:80] = whole[1:31:2, 3:80]
    assert np.array_equal(found, whole)


@pytest.mark.parametrize("dtype", "fd")
def test_columns_of_zeros_stay_and_nan_is_a_pivot(level, dtype):
    lines = np.zeros((12, 20), dtype)
    lines[2, 3] = 1
    assert _C.eliminate(lines).tolist() == [0, 1, 3, *range(3, 12)]
    assert lines.sum() == lines[2, 2] == 1
    lines = np.ones((2, 20), dtype)
    lines[0, [7, 9]] = np.nan, np.inf
    assert _C.eliminate(lines)[0] == 7


@pytest.mark.parametrize("dtype", "fd")
def test_bits_do_not_depend_on_what_is_beside(level, dtype):
    lower = np.tril(values(dtype, 20, 20)) + np.eye(20, dtype=dtype)
    right = values(dtype, 20, 300)
    whole = right.copy()
    _C.divide_rows(lower, whole)
    for start, stop in ((0, 1), (5, 22), (255, 300)):
        part = right[:, start:stop].copy()
        _C.divide_rows(lower, part)
        assert np.array_equal(part, whole[:, start:stop])


@pytest.mark.parametrize(
    "lines",
    [
        np.zeros((3, 4), int),
        np.zeros((3, 4), "F"),
        np.zeros((4, 3)).T,
        np.zeros(3),
        np.zeros((2, 3), ">f8"),
        np.broadcast_to(np.zeros(3), (2, 3)),
        [[1.0]],
    ],
    ids=["int", "complex", "transposed", "vector", "swapped", "read-only", "list"],
)
def test_other_arrays_are_refused(lines):
    with pytest.raises(TypeError):
        _C.eliminate(lines)
    with pytest.raises(TypeError):
        _C.divide_rows(np.eye(len(lines)), lines)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="5 columns of 4 rows"):
        _C.eliminate(np.zeros((5, 4)))
    with pytest.raises(ValueError, match="3 rows by"):
        _C.divide_rows(np.eye(2), np.zeros((3, 4)))
    assert _C.eliminate(np.zeros((0, 4))).size == 0
