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


def test_what_a_layout_says_of_itself_makes_it():
    for case in random_cases(6, 600, 8):
        for it in (case.start, case.end):
            said = {"shard_order": it.shard_order, "cuts": it.cuts or None}
            assert Layout(it.mesh, it.placements, it.shape, it.dtype, **said) is it


def test_a_layout_like_another_cuts_the_dims_that_both_have_alike():
    for case in random_cases(7, 300, 8):
        layout = case.start
        whole = layout.like(layout.shape, {d: d for d in range(layout.ndim)})
        assert whole is layout.settled()
        kept = range(1, layout.ndim)
        other = layout.like(
            [3, *reversed(layout.shape[1:])], {d: layout.ndim - d for d in kept}, bool
        )
        assert other.dtype == bool and not other.is_partial
        for rank in layout.mesh.ranks.flat:
            mine, theirs = layout.local_shape(rank), other.local_shape(rank)
            assert theirs == (3, *reversed(mine[1:]))
        for d in kept:
            assert rows(other, layout.ndim - d) == rows(layout, d) or 0 in layout.shape
            assert other.cut_by(layout.ndim - d) == layout.cut_by(d)


def test_cut_points_go_along_between_dims_of_one_length():
    mesh = DeviceMesh.abstract((3,))
    layout = Layout(mesh, [Shard(0)], (9, 5), "f4", cuts={0: (0, 5, 8, 9)})
    assert layout.like((9,), {0: 0}).cuts == {0: (0, 5, 8, 9)}
    for length in (0, 1, 8):
        even = Layout(mesh, [Shard(0)], (length,), "f4")
        assert layout.like((length,), {0: 0}) == even


def test_a_layout_tells_how_its_dims_are_cut():
    for case in random_cases(9, 300, 8):
        layout = case.start
        order = dict(layout.shard_order)
        kinds = [type(p) for p in layout.placements]
        assert layout.is_replicated == all(kind is Replicate for kind in kinds)
        assert layout.settled().is_partial is False
        assert layout.settled() is layout or layout.is_partial
        for d in range(layout.ndim):
            assert (
                layout.cut_by(d) == layout.cut_by(d - layout.ndim) == order.get(d, ())
            )
            ranks = [layout.mesh.shape[m] for m in layout.cut_by(d)]
            assert layout.is_cut(d) == (np.prod(ranks) > 1)
            without = layout.whole(d)
            assert without.cut_by(d) == () and without.is_partial == layout.is_partial
            assert all(
                without.cut_by(other) == layout.cut_by(other)
                for other in range(layout.ndim)
                if other != d
            )
    strided = Layout(MESH, [_StridedShard(0, split_factor=3), Replicate()], (12,), "f8")
    assert strided.is_strided(0) and not strided.whole(0).is_strided(0)
    ordered = Layout(MESH, [Shard(0)] * 2, (12,), "f8", shard_order={0: (1, 0)})
    assert ordered.cut_by(0) == (1, 0) and not ordered.is_strided(0)


def test_a_dim_that_a_layout_lacks_is_an_index_error():
    layout = Layout(MESH, [Shard(0), Replicate()], (4, 6), "f8")
    for ask in (
        lambda: layout.cut_by(2),
        lambda: layout.is_cut(-3),
        lambda: layout.is_strided(2),
        lambda: layout.whole([0, 2]),
        lambda: layout.like((4,), {2: 0}),
        lambda: layout.like((4,), {0: 1}),
    ):
        with pytest.raises(IndexError, match="dimension"):
            ask()


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
