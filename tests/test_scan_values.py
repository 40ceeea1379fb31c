"""Scans along cut dims of numbers that a sum or a product with NumPy's 0 or 1 changes:
-0, infinite and NaN parts of complex numbers."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import cut_unevenly, layouts, placed

from dtensor import Shard, distribute_tensor

NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan]
SCANS = {
    "cumsum": lambda x: np.cumsum(x, 0),
    "cumprod": lambda x: np.cumprod(x, 0),
    "nancumsum": lambda x: np.nancumsum(x, 0),
    "nancumprod": lambda x: np.nancumprod(x, 0),
    "cumulative_sum": lambda x: np.cumulative_sum(x, axis=0),
    "cumulative_prod": lambda x: np.cumulative_prod(x, axis=0, include_initial=True),
    "add.accumulate": lambda x: np.add.accumulate(x),
    "multiply.accumulate": lambda x: np.multiply.accumulate(x),
    "logaddexp.accumulate": lambda x: np.logaddexp.accumulate(x),
    "hypot.accumulate": lambda x: np.hypot.accumulate(x),
    "subtract.accumulate": lambda x: np.subtract.accumulate(x),
    "logical_or.accumulate": lambda x: np.logical_or.accumulate(x),
    "maximum.accumulate": lambda x: np.maximum.accumulate(x),
    "fmin.accumulate": lambda x: np.fmin.accumulate(x),
    "unwrap": lambda x: np.unwrap(x, axis=0),
}
OF_REAL = ("logaddexp", "hypot", "unwrap")
# Which zero is the greatest one depends on NumPy's loop; complex products that are 0
# have the sign of one order of their factors.
UNSIGNED = {"maximum.accumulate", "fmin.accumulate"}
PRODUCTS = {"cumprod", "nancumprod", "cumulative_prod", "multiply.accumulate"}


def equal(got, want, signed):
    """Whether numbers are the same ones, also each part of a complex number."""
    if want.dtype.kind == "c":
        return equal(got.real, want.real, signed) and equal(got.imag, want.imag, signed)
    zero = (want == 0) & signed
    return np.allclose(got, want, 1e-3 if want.dtype == "e" else 1e-6, 0, True) and (
        np.array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
    )


@np.errstate(all="ignore")
def check(x, whole, name):
    want = SCANS[name](whole)
    got = SCANS[name](x).full_tensor()
    complex_product = whole.dtype.kind == "c" and name in PRODUCTS
    assert got.dtype == want.dtype and got.shape == want.shape
    signed = name not in UNSIGNED and not complex_product
    assert equal(np.asarray(got), want, signed), f"{name} of {x}: {got}, {want}"


@pytest.mark.parametrize("code", "efdFD")
def test_scans_are_those_of_numpy_also_of_special_numbers(ranks, code):
    rng = np.random.default_rng(5)
    arrays = []
    for shape in [(2,), (5,), (7,), (6, 2)]:
        array = rng.choice(NUMBERS, shape).astype(code)
        if array.dtype.kind == "c":
            array.imag = rng.choice(NUMBERS, shape)
        arrays.append(array)
    names = [n for n in SCANS if not (code in "FD" and n.startswith(OF_REAL))]

    def body():
        for array, mesh in itertools.product(arrays, (line(), square())):
            pairs = [(x, array) for x in cut_unevenly(array, mesh)]
            for placements in layouts(array.ndim, mesh.ndim):
                pairs.append(placed(array, mesh, placements))
            for (x, whole), name in itertools.product(pairs, names):
                check(x, np.asarray(whole), name)

    ranks(body)


def test_the_first_part_is_not_changed(ranks):
    def body():
        for array, name in [
            (np.array([complex(1, np.inf), 1, 1, 2, 1j]), "cumprod"),
            (np.array([-0.0, -0.0, 1]), "cumsum"),
            (np.array([-0.0, 1, 8]), "unwrap"),
        ]:
            x = distribute_tensor(array, line(), [Shard(0)])
            check(x, array, name)

    ranks(body)
