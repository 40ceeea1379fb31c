"""Padding of a dim that is cut: each rank makes what it keeps."""

import itertools

import numpy as np
from meshes import line, square
from placed import placed

from dtensor import _C, Shard
from dtensor.debug import CommDebugMode


def test_wide_padding_of_cut_dims_is_numpys(ranks):
    def body():
        for length, widths in itertools.product(
            (0, 1, 2, 7), [(0, 0), (1, 0), (0, 40), (13, 29), (3, 1)]
        ):
            options = {"constant_values": (2, -3)}
            array = np.arange(3.0 * length).reshape(length, 3)
            for places in ([Shard(0), Shard(0)], [Shard(0), Shard(1)]):
                x, whole = placed(array, square(), places)
                got = np.pad(x, [widths, (5, 20)], **options)
                want = np.pad(whole, [widths, (5, 20)], **options)
                assert got.dtype == want.dtype
                assert np.array_equal(got.full_tensor(), want)
            got = np.pad(_C.without_data(x.layout), [widths, (0, 0)])
            assert got.layout == np.pad(x, [widths, (0, 0)]).layout

    ranks(body)


def test_constants_are_neither_sent_nor_whole_on_any_rank(ranks):
    def body():
        mesh = line()
        count = mesh.size()
        x, _ = placed(np.ones(count << 15), mesh, [Shard(0)])
        with CommDebugMode() as comm:
            _C._count_memory(True)
            y = np.pad(x, [(0, 3 * x.size)])
            most = _C._count_memory(False)
        part = x.size * x.itemsize // count
        assert sum(comm.get_comm_bytes().values()) <= part
        assert most <= 8 * part and y.size == 4 * x.size

    ranks(body)
