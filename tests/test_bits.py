"""`packbits` and `unpackbits` along cut dims, against NumPy; and what they send."""

import numpy as np
import pytest
from meshes import line, square
from order_parts import sent_parts
from placed import layouts, placed

from dtensor import Shard, distribute_tensor

RANDOM = np.random.default_rng(0)
COUNTS = [None, 0, 5, 8, 40, 41, -1, -9]


def like(got, want):
    got = got.full_tensor()
    assert got.dtype == want.dtype
    assert np.array_equal(got, want)


@pytest.mark.parametrize("shape", [(19, 3), (3, 17), (8, 16), (1, 0), (0, 9)])
def test_bits_are_numpys_in_every_layout(ranks, shape):
    bits = RANDOM.integers(0, 3, shape)

    def body():
        mesh = square()
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            x, whole = placed(bits.astype("?bH"[k % 3]), mesh, placements)
            octets, known = placed((bits * 77).astype("B"), mesh, placements)
            for axis in (0, -1, None):
                for order in ("big", "little"):
                    like(
                        np.packbits(x, axis, order),
                        np.packbits(whole, axis, order),
                    )
                    count = COUNTS[k % len(COUNTS)]
                    try:
                        want = np.unpackbits(known, axis, count, order)
                    except ValueError:
                        with pytest.raises(ValueError):
                            np.unpackbits(octets, axis, count, order)
                    else:
                        want *= known.size > 0  # NumPy leaves these as they are
                        like(np.unpackbits(octets, axis, count, order), want)

    ranks(body)


def test_a_few_rows_are_sent(ranks):
    def body():
        x = distribute_tensor(RANDOM.integers(0, 2, 100_003) > 0, line(), [Shard(0)])
        like(np.packbits(x), np.packbits(x.full_tensor()))
        assert sent_parts(np.packbits, x) < 0.01
        octets = np.packbits(x)
        like(np.unpackbits(octets)[:100_003], np.asarray(x.full_tensor(), np.uint8))
        assert sent_parts(np.unpackbits, octets) == 0

    ranks(body)


def test_numpys_errors(ranks):
    def body():
        x = distribute_tensor(np.arange(9.0), line(), [Shard(0)])
        for call in (np.packbits, np.unpackbits):
            with pytest.raises(TypeError):
                call(x)
            with pytest.raises(ValueError):
                call(x.astype("B"), bitorder="middle")
            with pytest.raises(np.exceptions.AxisError):
                call(x.astype("B"), axis=1)

    ranks(body)
