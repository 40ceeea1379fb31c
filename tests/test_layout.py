"""Layouts: which part of a tensor each rank holds, by arithmetic alone."""

import itertools

import numpy as np
import oracle
import pytest
from cases import random_cases

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard
from dtensor.placement_types import _StridedShard, compute_local_shape_and_global_offset

MESH = DeviceMesh.abstract((2, 4))


def rows(layout, dim=0):
    """What each rank holds along a dimension."""
    return [
        sum(
            (list(range(o[dim], o[dim] + s[dim])) for o, s in layout.boxes(rank)),
            start=[],
        )
        for rank in range(layout.mesh.size())
    ]


def test_random_layouts_tell_local_shapes_and_boxes_as_the_oracle_does():
    for case in random_cases(3, 500, 8):
        for layout in (case.start, case.end):
            for rank, box in oracle.boxes(layout).items():
                assert layout.local_shape(rank) == tuple(len(index) for index in box)
                whole = np.zeros(layout.shape, bool)
                for offsets, sizes in layout.boxes(rank):
                    where = tuple(
                        slice(o, o + s) for o, s in zip(offsets, sizes, strict=True)
                    )
                    assert not whole[where].any()
                    whole[where] = True
                wanted = np.zeros(layout.shape, bool)
                wanted[np.ix_(*box) if box else ()] = True
                assert np.array_equal(whole, wanted)


def test_a_layout_with_its_own_placements_is_itself():
    for case in random_cases(5, 300, 8):
        for layout in (case.start, case.end):
            assert layout.with_placements(layout.placements) is layout


def test_chunks_are_torchs():
    for length, count in itertools.product(range(20), range(1, 7)):
        layout = Layout(DeviceMesh.abstract((count,)), [Shard(0)], (length,), "int8")
        sizes = [len(part) for part in oracle.chunk(np.arange(length), count)]
        assert [layout.local_shape(rank)[0] for rank in range(count)] == sizes


def test_a_dimension_is_cut_from_left_to_right_by_default():
    layout = Layout(MESH, [Shard(0), Shard(0)], (10,), "int8")
    assert layout.shard_order == ((0, (0, 1)),)
    assert rows(layout) == [[0, 1], [2, 3], [4], [], [5, 6], [7, 8], [9], []]


def test_an_order_can_be_asked_for():
    layout = Layout(MESH, [Shard(0)] * 2, (10,), "int8", shard_order={0: (1, 0)})
    assert layout.shard_order == ((0, (1, 0)),)
    assert rows(layout) == [[0, 1], [3, 4], [6, 7], [9], [2], [5], [8], []]


def test_torchs_strided_shard_is_an_order_where_it_is_one():
    ordered = Layout(MESH, [Shard(0)] * 2, (16,), "int8", shard_order={0: (1, 0)})
    strided = [_StridedShard(0, split_factor=4), Shard(0)]
    assert Layout(MESH, strided, (16,), "int8") is ordered
    assert ordered.placements == tuple(strided)


def test_a_strided_shard_that_is_no_order_holds_several_boxes():
    layout = Layout(MESH, [Replicate(), _StridedShard(0, split_factor=2)], (16,), "i1")
    assert rows(layout)[:4] == [
        [0, 1, 8, 9],
        [2, 3, 10, 11],
        [4, 5, 12, 13],
        [6, 7, 14, 15],
    ]
    assert len(layout.boxes(0)) == 2


def test_cuts_of_chunks_are_no_cuts():
    plain = Layout(MESH, [Replicate(), Shard(0)], (10,), "int8")
    assert (
        Layout(MESH, plain.placements, (10,), "int8", cuts={0: [0, 3, 6, 9, 10]})
        is plain
    )
    other = Layout(MESH, plain.placements, (10,), "int8", cuts={0: [0, 0, 7, 7, 10]})
    assert other is not plain and other.cuts == {0: (0, 0, 7, 7, 10)}
    assert [len(part) for part in rows(other)[:4]] == [0, 7, 0, 3]


def test_equal_layouts_are_one_object():
    one = Layout(MESH, [Shard(-1), Partial()], (4, 5), np.float32)
    assert one is Layout(MESH, (Shard(1), Partial("sum")), [4, 5], "float32")
    assert one.placements[0] == Shard(1)
    assert one is not Layout(MESH, (Shard(1), Partial("sum")), [4, 5], "float64")
    assert one.is_partial and not one.with_placements([Replicate()] * 2).is_partial
    assert one.with_dtype("float64").dtype == np.float64


def test_local_shape_and_offset_are_told_for_any_rank():
    for rank, length in enumerate((3, 3, 3, 1)):
        for row in (0, 4):
            assert compute_local_shape_and_global_offset(
                (10, 3), MESH, [Replicate(), Shard(0)], rank=rank + row
            ) == ((length, 3), (3 * rank, 0))
    shape, offset = compute_local_shape_and_global_offset(
        (2,), MESH, [Replicate(), Shard(0)], rank=3
    )
    assert (shape, offset) == ((0,), (2,))
    assert compute_local_shape_and_global_offset(
        (2,), MESH, [Replicate(), Shard(0)], rank=99
    ) == ((0,), ())
    with pytest.raises(IndexError):
        compute_local_shape_and_global_offset((2,), MESH, [Replicate(), Shard(1)])


def test_text_shows_placements_orders_and_cuts():
    def text(placements, **options):
        return str(Layout(MESH, placements, (16, 8), "int8", **options))

    assert text([Shard(0), Replicate()]) == "[S(0), R]"
    assert text([Partial(), Shard(1)]) == "[P(sum), S(1)]"
    assert text([Shard(0)] * 2, shard_order={0: (1, 0)}) == "[S(0)[1], S(0)[0]]"
    assert "*" in text([Replicate(), Shard(0)], cuts={0: [0, 1, 2, 3, 16]})
