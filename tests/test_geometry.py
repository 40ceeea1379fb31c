"""Layouts, all of them up to a size, against torch.chunk in nested order."""

import copy
import gc
import itertools
import weakref

import numpy as np
import pytest
from oracle import chunk

from dtensor import _C, DeviceMesh, Layout, Partial, Replicate, Shard
from dtensor.placement_types import _StridedShard

MESHES = [(), (1,), (2,), (3,), (5,), (1, 2), (2, 2), (3, 2), (2, 1, 3), (2, 2, 2)]


def mesh_of(*shape):
    return DeviceMesh.abstract(shape)


def coordinates(mesh):
    return itertools.product(*map(range, mesh.shape))


def held(length, mesh, cuts, at):
    """Indices that a coordinate holds of a length that (mesh dim, split) pairs cut."""
    index = np.arange(length)
    for m, split in cuts:
        pieces = [chunk(p, mesh.shape[m])[at[m]] for p in chunk(index, split)]
        index = np.concatenate(pieces)
    return index


def painted(layout, at):
    """How often each element is in the boxes of a coordinate, which are as promised."""
    paint = np.zeros(layout.shape, int)
    boxes = layout.boxes(at)
    assert boxes == sorted(boxes)
    for offsets, sizes in boxes:
        assert min(offsets + sizes, default=0) >= 0
        ends = np.add(offsets, sizes)
        assert (ends <= layout.shape).all()
        paint[tuple(map(slice, offsets, ends))] += 1
    return paint


def check(layout, at, indices):
    """A coordinate holds these indices of every dimension, and no others."""
    want = np.zeros(layout.shape, int)
    want[np.ix_(*indices) if indices else ()] = 1
    assert (painted(layout, at) == want).all(), (layout, at)
    assert layout.local_shape(at) == tuple(map(len, indices))
    rank = layout.mesh.ranks[at].item()
    assert layout.local_shape(rank) == layout.local_shape(at)
    assert layout.boxes(rank) == layout.boxes(at)


def orders_of(placements, dim):
    """All orders in which mesh dimensions can cut a tensor dimension."""
    dims = [m for m, p in enumerate(placements) if p == Shard(dim)]
    return itertools.permutations(dims)


# --- parts ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", MESHES)
def test_parts_are_those_of_nested_chunks_in_every_order(shape):
    mesh = mesh_of(*shape)
    choices = [Replicate(), Shard(0), Shard(-1), Partial("max")]
    for placements in itertools.product(choices, repeat=mesh.ndim):
        named = [Shard(1) if p == Shard(-1) else p for p in placements]
        orders = itertools.product(orders_of(named, 0), orders_of(named, 1))
        for (first, last), n in itertools.product(orders, range(8)):
            order = {d: o for d, o in enumerate((first, last)) if o}
            x = Layout(mesh, placements, (n, 3), "int8", shard_order=order)
            assert dict(x.shard_order) == order or 1 in shape
            for at in coordinates(mesh):
                rows = held(n, mesh, [(m, 1) for m in first], at)
                columns = held(3, mesh, [(m, 1) for m in last], at)
                check(x, at, [rows, columns])


@pytest.mark.parametrize("shape", MESHES)
def test_every_element_is_held_once_by_the_ranks_that_shard(shape):
    mesh = mesh_of(*shape)
    for n in range(8):
        splits = [2, 3, 1][: mesh.ndim]
        strided = [_StridedShard(0, split_factor=k) for k in splits]
        for placements in [[Shard(0)] * mesh.ndim, strided]:
            x = Layout(mesh, placements, (n, 2), "int8")
            paint = sum(painted(x, at) for at in coordinates(mesh))
            assert (paint == 1).all()


@pytest.mark.parametrize("split", range(1, 8))
def test_a_strided_shard_is_the_chunk_of_every_piece(split):
    for count, n in itertools.product(range(1, 5), range(12)):
        mesh = mesh_of(count)
        x = Layout(mesh, [_StridedShard(0, split_factor=split)], (n, 2), "int8")
        for at in coordinates(mesh):
            check(x, at, [held(n, mesh, [(0, split)], at), np.arange(2)])


def test_strided_shards_that_are_no_order_cut_from_left_to_right():
    mesh = mesh_of(2, 3)
    for splits, n in itertools.product(itertools.product((2, 4, 5), (2, 3)), range(20)):
        placements = [_StridedShard(0, split_factor=k) for k in splits]
        x = Layout(mesh, placements, n, "int8")
        assert x.placements == tuple(placements)
        for at in coordinates(mesh):
            check(x, at, [held(n, mesh, [*enumerate(splits)], at)])


def test_an_order_is_told_by_splits_and_read_from_them():
    mesh = mesh_of(2, 3, 4)
    for order in itertools.permutations(range(3)):
        x = Layout(mesh, [Shard(0)] * 3, 50, "int8", shard_order={0: order})
        for m, p in enumerate(x.placements):
            before = order[: order.index(m)]
            split = int(np.prod([mesh.shape[k] for k in before if k > m]))
            assert (p.dim, getattr(p, "split_factor", 1)) == (0, split)
        assert Layout(mesh, x.placements, 50, "int8") is x
        assert x.shard_order == ((0, order),)


@pytest.mark.parametrize("shape", MESHES[1:])
def test_cuts_are_the_boundaries_of_the_parts_in_their_order(shape):
    rng = np.random.default_rng(1)
    mesh = mesh_of(*shape)
    for order, n in itertools.product(itertools.permutations(range(mesh.ndim)), (0, 9)):
        inner = np.sort(rng.integers(0, n + 1, mesh.size() - 1))
        cuts = (0, *inner.tolist(), n)
        options = {"shard_order": [(1, order)], "cuts": {-1: np.array(cuts)}}
        x = Layout(mesh, [Shard(-1)] * mesh.ndim, (2, n), "int8", **options)
        numbers = itertools.product(*(range(mesh.shape[m]) for m in order))
        for part, number in enumerate(numbers):
            at = tuple(number[order.index(m)] for m in range(mesh.ndim))
            check(x, at, [np.arange(2), np.arange(n)[cuts[part] : cuts[part + 1]]])


def test_a_rank_outside_the_mesh_holds_nothing():
    mesh = _C.Mesh((2,), [5, 3])
    x = Layout(mesh, [Shard(0)], (3, 2), "int8")
    assert (x.boxes(0), x.local_shape(0)) == ([], (0,))
    assert (x.boxes(5), x.local_shape(3)) == ([((0, 0), (2, 2))], (1, 2))


# --- objects --------------------------------------------------------------------------


def some_layouts():
    """Layouts that differ, each made anew by calling it."""
    mesh, other = mesh_of(2, 3), mesh_of(3, 2)
    both = [Shard(0), Shard(0)]
    strided = [_StridedShard(1, split_factor=5), Shard(0)]
    return [
        lambda: Layout(mesh, None, (6, 4), "float32"),
        lambda: Layout(other, None, (6, 4), "float32"),
        lambda: Layout(mesh, None, (6, 4), "float64"),
        lambda: Layout(mesh, None, (4, 6), "float32"),
        lambda: Layout(mesh, None, (6, 4, 1), "float32"),
        lambda: Layout(mesh, both, (6, 4), "float32"),
        lambda: Layout(mesh, both, (6, 4), "float32", shard_order={0: (1, 0)}),
        lambda: Layout(mesh, both, (6, 4), "float32", cuts={0: (0, 0, 1, 2, 3, 4, 6)}),
        lambda: Layout(mesh, [Shard(0), Partial()], (6, 4), np.float32),
        lambda: Layout(mesh, [Shard(0), Partial("min")], (6, 4), np.dtype("f4")),
        lambda: Layout(mesh, strided, (6, 4), "float32"),
    ]


def test_layouts_are_one_object_exactly_if_they_are_made_alike():
    made = [make() for make in some_layouts()]
    again = [make() for make in some_layouts()]
    for (i, a), (j, b) in itertools.product(enumerate(made), enumerate(again)):
        assert (a is b) is (a == b) is (i == j)


@pytest.mark.parametrize("make", some_layouts())
def test_its_attributes_make_a_layout_again(make):
    x = make()
    assert x is Layout(x.device_mesh, x.placements, x.shape, x.dtype, cuts=x.cuts)
    assert x.with_placements(x.placements) is x.with_dtype(x.dtype) is x
    assert copy.copy(x) is copy.deepcopy(x) is x


def test_attributes_are_what_it_was_made_of():
    mesh = mesh_of(2, 3)
    x = Layout(mesh, [Shard(-1), Partial("avg")], [6, 4], "complex64")
    assert x.mesh is x.device_mesh and x.mesh == mesh
    assert x.placements == (Shard(1), Partial("avg"))
    assert (x.shape, x.ndim, x.dtype, x.nbytes) == ((6, 4), 2, np.dtype("c8"), 192)
    assert x.is_partial and not x.with_placements(None).is_partial
    assert (x.shard_order, x.cuts) == (((1, (0,)),), None)
    assert repr(x) == f"Layout({mesh!r}, [S(1), P(avg)], shape=(6, 4), dtype=complex64)"
    with pytest.raises(AttributeError):
        x.shape = (1,)


def test_with_placements_keeps_the_order_and_cuts_of_what_stays():
    mesh = mesh_of(2, 2, 2)
    options = {"shard_order": {0: (1, 0)}, "cuts": {1: (0, 1, 9)}}
    x = Layout(mesh, [Shard(0), Shard(0), Shard(1)], (8, 9), "int8", **options)
    y = x.with_placements([*x.placements[:2], Replicate()])
    assert (y.shard_order, y.cuts) == (((0, (1, 0)),), None)
    z = x.with_placements([Replicate(), Partial(), Shard(-1)])
    assert (z.shard_order, z.cuts) == (((1, (2,)),), {1: (0, 1, 9)})
    assert x.with_dtype("float64").cuts == x.cuts


def test_a_layout_that_nobody_holds_is_freed():
    gc.collect()
    before = _C.cache_info()
    mesh = mesh_of(7, 2)
    x = Layout(mesh, [Shard(0), Shard(0)], 3, "int8")
    mesh.favourite = x  # a cycle: the layout holds the mesh
    seen = weakref.ref(x)
    assert _C.cache_info()["layouts"] == before["layouts"] + 1
    del mesh, x
    gc.collect()
    assert seen() is None
    assert _C.cache_info() == before


# --- errors ---------------------------------------------------------------------------


class Odd(_C.Placement):
    """No kind that layouts know."""


BOTH = [Shard(0), Shard(0)]


@pytest.mark.parametrize(
    "error, words, placements, shape, dtype, options",
    [
        (ValueError, "length: 1, and device_mesh.ndim: 2", [Shard(0)], 4, "f4", {}),
        (TypeError, r"not Shard\(dim=0\)", Shard(0), 4, "f4", {}),
        (TypeError, "not 0", [0, 1], 4, "f4", {}),
        (TypeError, r"Odd\(\)", [Odd(), Odd()], 4, "f4", {}),
        (IndexError, r"Shard\(dim=1\)", [Shard(1), Shard(1)], 4, "f4", {}),
        (ValueError, "length -3", BOTH, -3, "f4", {}),
        (ValueError, "65 dim", BOTH, [1] * 65, "f4", {}),
        (ValueError, r"2\^62", BOTH, [2**40, 2**40], "f4", {}),
        (ValueError, r"maximum.*18446744073709551616", BOTH, [2**64], "f4", {}),
        (TypeError, "1.5", BOTH, [1.5], "f4", {}),
        (TypeError, "'ab'", BOTH, "ab", "f4", {}),
        (TypeError, r"Partial\(avg\).*int32", [Partial("avg")] * 2, 4, "i4", {}),
        (TypeError, "object.*astype", BOTH, 4, object, {}),
        (TypeError, ">f4.*newbyteorder", BOTH, 4, ">f4", {}),
        (TypeError, "datetime64.*view", BOTH, 4, "M8[s]", {}),
        (TypeError, "<U3.*text", BOTH, 4, "U3", {}),
        (TypeError, "fields", BOTH, 4, [("a", "f4")], {}),
        (TypeError, "not 3", BOTH, 4, "f4", {"shard_order": 3}),
        (TypeError, "has 3", BOTH, 4, "f4", {"shard_order": [3]}),
        (IndexError, "dimension 5", BOTH, 4, "f4", {"shard_order": {5: (0, 1)}}),
        (ValueError, "2 mesh dim", BOTH, 4, "f4", {"shard_order": {0: (0,)}}),
        (ValueError, "2 mesh dim", BOTH, 4, "f4", {"shard_order": {0: (0, 9)}}),
        (ValueError, "2 mesh dim", BOTH, 4, "f4", {"shard_order": {0: (0, 0)}}),
        (TypeError, "integers", BOTH, 4, "f4", {"cuts": {0: 4}}),
        (ValueError, "got 2", BOTH, 4, "f4", {"cuts": {0: (0, 4)}}),
        (ValueError, "ascend", BOTH, 4, "f4", {"cuts": {0: (0, 3, 2, 4, 4)}}),
        (ValueError, "ascend", BOTH, 4, "f4", {"cuts": {0: (0, 1, 2, 3, 5)}}),
        (ValueError, "need", [Replicate()] * 2, 4, "f4", {"cuts": {0: (0, 4)}}),
    ],
)
def test_wrong_arguments_are_named(error, words, placements, shape, dtype, options):
    with pytest.raises(error, match=words):
        Layout(mesh_of(2, 2), placements, shape, dtype, **options)


def test_places_that_the_mesh_lacks_are_named():
    x = Layout(mesh_of(2, 2), BOTH, 4, "f4")
    for place in [(2, 0), (0, -1), (0,), (0, 0, 0)]:
        with pytest.raises(IndexError, match=r"shape \(2, 2\)"):
            x.local_shape(place)
    with pytest.raises(RuntimeError, match="abstract"):
        x.boxes()
    with pytest.raises(TypeError, match="Mesh"):
        Layout((2, 2), BOTH, 4, "f4")
