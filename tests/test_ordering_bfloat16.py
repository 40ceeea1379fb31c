"""What puts bfloat16 in order, NaN last, against NumPy's answer in float32.

NumPy itself has no order for NaN among numbers of bfloat16.
"""

import numpy as np
import pytest
from meshes import line
from ml_dtypes import bfloat16

import dtensor
from dtensor import Replicate, Shard, distribute_tensor

NAN, INF = np.nan, np.inf
X = np.array(
    [
        [NAN, 1, 2, -0.0, 5],
        [3, 0, 2, -7, NAN],
        [NAN, NAN, 1, 2, 2],
        [INF, -INF, 1, 1, 3],
    ],
    np.float32,
)
Y = np.array([2, NAN, 1, 0, 1], np.float32)

CALLS = {
    "unique": lambda x, y: np.unique(x),
    "unique, each NaN": lambda x, y: np.unique(x, equal_nan=False),
    "unique counts": lambda x, y: np.unique(x, return_counts=True),
    "unique inverse": lambda x, y: np.unique(x, return_inverse=True),
    "unique index": lambda x, y: np.unique(x, return_index=True),
    "unique rows": lambda x, y: np.unique(x, axis=0),
    "unique_values": lambda x, y: np.unique_values(x),
    "unique_counts": lambda x, y: np.unique_counts(x),
    "union1d": np.union1d,
    "intersect1d": np.intersect1d,
    "setdiff1d": np.setdiff1d,
    "setxor1d": np.setxor1d,
    "isin": np.isin,
    "lexsort": lambda x, y: np.lexsort((y,)),
    "lexsort of two": lambda x, y: np.lexsort((y, x[0])),
    "sort": lambda x, y: np.sort(x, 0),
    "argsort": lambda x, y: np.argsort(x, kind="stable"),
    "median": lambda x, y: np.nanmedian(x, 1),
}


def arrays(found) -> list[np.ndarray]:
    if isinstance(found, tuple):
        return [array for part in found for array in arrays(part)]
    if isinstance(found, dtensor.DTensor):
        found = found.full_tensor()
    return [np.asarray(found)]


def check(found, wanted) -> None:
    for got, array in zip(arrays(found), arrays(wanted), strict=True):
        to = bfloat16 if array.dtype == np.float32 else array.dtype
        assert got.dtype == to
        np.testing.assert_array_equal(got.astype(array.dtype), array)


@pytest.mark.parametrize("name", CALLS)
def test_on_one_process(name):
    x, y = (dtensor.tensor(a.astype(bfloat16)) for a in (X, Y))
    check(CALLS[name](x, y), CALLS[name](X, Y))


@pytest.mark.parametrize("name", CALLS)
def test_in_parts(ranks, name):
    def body():
        mesh = line()
        for at in (Shard(0), Shard(1), Replicate()):
            x = distribute_tensor(X.astype(bfloat16), mesh, [at])
            for to in (Shard(0), Replicate()):
                y = distribute_tensor(Y.astype(bfloat16), mesh, [to])
                check(CALLS[name](x, y), CALLS[name](X, Y))

    ranks(body)


def test_beside_float32_the_result_is_float32(ranks):
    def body():
        x = distribute_tensor(X.astype(bfloat16), line(), [Shard(0)])
        found = np.union1d(x, Y).full_tensor()
        assert found.dtype == np.float32
        np.testing.assert_array_equal(np.asarray(found), np.union1d(X, Y))

    ranks(body)
