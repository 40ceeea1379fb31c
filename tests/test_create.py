"""Arrays are spread, made, wrapped and given back as they are."""

import itertools
import pickle

import numpy as np
import oracle
import pytest
from cases import DTYPES
from meshes import line, square

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    Tensor,
    as_tensor,
    distribute_tensor,
    empty,
    eye,
    from_callback,
    full,
    get_default_dtype,
    ones,
    set_default_dtype,
    tensor,
    zeros,
)
from dtensor._core import world as _world
from dtensor.ops._make.composite import within

ARRAY = np.arange(70, dtype="float64").reshape(7, 10)


def own(array, mesh, placements):
    """This rank's part, by the oracle."""
    layout = Layout(mesh, placements, array.shape, array.dtype)
    return oracle.take(array, oracle.boxes(layout)[mesh.get_rank()])


def layouts_of(mesh, ndim=2):
    """Placements without Partial."""
    choices = [Replicate(), *map(Shard, range(ndim))]
    return list(itertools.product(choices, repeat=mesh.ndim))


# --- distribute_tensor ----------------------------------------------------------------


def test_distribute_tensor_gives_every_rank_its_part_and_full_tensor_the_whole(ranks):
    def body():
        mesh = square()
        for placements in layouts_of(mesh):
            x = distribute_tensor(ARRAY, mesh, placements)
            assert isinstance(x, DTensor) and isinstance(x.to_local(), Tensor)
            assert (x.shape, x.placements) == ((7, 10), placements)
            assert x.device_mesh == mesh
            part = np.asarray(x.to_local())
            assert oracle.same_bits(part, own(ARRAY, mesh, placements))
            assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)

    ranks(body)


def test_the_source_rank_decides_and_the_others_may_pass_none(ranks):
    def body():
        mesh, rank = line(), _world.current().rank
        source = mesh.size() - 1
        for mine in (None, ARRAY * 0):
            x = distribute_tensor(
                ARRAY if rank == source else mine,
                mesh,
                [Shard(1)],
                src_data_rank=source,
            )
            assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)

    ranks(body)


def test_without_a_source_every_rank_takes_its_own_data_and_sends_nothing(ranks):
    def body():
        mesh, world = line(), _world.current()
        before = world.counters()
        x = distribute_tensor(ARRAY + world.rank, mesh, [Shard(0)], src_data_rank=None)
        assert world.counters() == before
        part = own(ARRAY, mesh, [Shard(0)]) + world.rank
        assert oracle.same_bits(np.asarray(x.to_local()), part)

    ranks(body)


def test_what_one_rank_alone_remembers_changes_no_call(ranks):
    def body():
        mesh, alone = line(), DeviceMesh("cpu", [_world.current().size - 1])
        first = distribute_tensor(ARRAY, mesh, [Shard(0)])
        if alone.get_coordinate() is not None:
            for length in range(100):  # the last few calls are remembered
                distribute_tensor(np.zeros(length), alone, [Replicate()])
        with within("outer", first):
            x = distribute_tensor(ARRAY, mesh, [Shard(0)])
        part = own(ARRAY, mesh, [Shard(0)])
        assert oracle.same_bits(np.asarray(x.to_local()), part)

    ranks(body)


def test_any_dtype_shape_and_order_of_memory_can_be_distributed(ranks):
    def body():
        mesh = line()
        rng = np.random.default_rng(1)
        for dtype in DTYPES:
            array = oracle.sample((5, 3), dtype, rng)
            for view in (array, array.T, array[::-1, ::2], np.asfortranarray(array)):
                x = distribute_tensor(view, mesh, [Shard(0)])
                assert x.dtype == dtype
                assert oracle.same(np.asarray(x.full_tensor()), view)
        for shape in [(), (0,), (1,), (0, 4), (4, 0), (1, 2, 3, 1, 2)]:
            array = oracle.sample(shape, "int32", rng)
            placements = [Shard(0)] if shape else [Replicate()]
            x = distribute_tensor(array, mesh, placements)
            assert oracle.same_bits(np.asarray(x.full_tensor()), array)

    ranks(body)


def test_a_memory_map_is_distributed_from_the_file(ranks, tmp_path):
    path = tmp_path / f"array{_world.MPI.COMM_WORLD.rank}.npy"
    np.save(path, ARRAY)

    def body():
        mesh, rank = line(), _world.current().rank
        source = np.load(path, mmap_mode="r") if rank == 0 else None
        x = distribute_tensor(source, mesh, [Shard(0)])
        assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)

    ranks(body)


def test_a_dtensor_is_distributed_already(ranks):
    def body():
        x = distribute_tensor(ARRAY, line(), [Shard(0)])
        assert distribute_tensor(x, x.device_mesh, [Shard(0)]) is x
        with pytest.raises(ValueError, match="redistribute"):
            distribute_tensor(x, x.device_mesh, [Shard(1)])

    ranks(body)


def test_the_current_mesh_and_replicate_are_the_defaults(ranks):
    def body():
        with line() as mesh:
            x = distribute_tensor(ARRAY)
            y = zeros(3, 4)
        assert x.device_mesh == y.device_mesh == mesh
        assert x.placements == y.placements == (Replicate(),)
        assert np.array_equal(np.asarray(x), ARRAY)
        with pytest.raises(RuntimeError, match="No device mesh is currently active"):
            distribute_tensor(ARRAY)

    ranks(body)


# --- from_local -----------------------------------------------------------------------


def test_from_local_shares_the_memory_and_to_local_gives_it_back(ranks):
    def body():
        part = np.ones((3, 2), "float32")
        x = DTensor.from_local(part, line(), [Shard(0)])
        local = x.to_local()
        assert np.shares_memory(np.asarray(local), part)
        part[0, 0] = 5
        assert np.asarray(x.to_local())[0, 0] == 5
        assert x.shape == (3 * x.device_mesh.size(), 2)

    ranks(body)


def test_from_local_adds_sizes_up_and_keeps_them_as_cut_points(ranks):
    def body():
        mesh, rank = line(), _world.current().rank
        sizes = [(3 * r + 2) % 5 for r in range(mesh.size())]
        start = sum(sizes[:rank])
        whole = np.arange(2 * sum(sizes)).reshape(sum(sizes), 2)
        part = whole[start : start + sizes[rank]]
        x = DTensor.from_local(part, mesh, [Shard(0)])
        assert x.shape == whole.shape
        assert oracle.same_bits(np.asarray(x.full_tensor()), whole)
        y = x.redistribute(placements=[Shard(1)]).redistribute(placements=[Shard(0)])
        chunk = own(whole, mesh, [Shard(0)])
        assert oracle.same_bits(np.asarray(y.to_local()), chunk)
        assert oracle.same_bits(np.asarray(x.rebalance().to_local()), chunk)
        assert x.redistribute(placements=[Shard(0)])._spec is x._spec

    ranks(body)


def test_parts_go_by_the_place_in_the_mesh_not_by_the_rank(ranks):
    def body():
        order = line().ranks[::-1]
        mesh = DeviceMesh("cpu", order)
        place = mesh.get_coordinate()[0]
        whole = np.arange(2 * mesh.size() + 1.0)
        part = whole[-3:] if place == mesh.size() - 1 else whole[2 * place :][:2]
        x = DTensor.from_local(part, mesh, [Shard(0)])
        assert np.array_equal(x.full_tensor(), whole)
        first = distribute_tensor(whole if place == 0 else None, mesh, [Shard(0)])
        assert np.array_equal(first.full_tensor(), whole)
        said = _world.current().share(bytes([place]), mesh)
        assert b"".join(said) == bytes(range(mesh.size()))

    ranks(body)


def test_from_local_of_a_grid_of_uneven_boxes(ranks):
    def body():
        mesh = square()
        row, column = mesh.get_coordinate()
        height, width = 1 + row, 2 + column % 2
        rows = sum(1 + r for r in range(mesh.size(0)))
        columns = sum(2 + c % 2 for c in range(mesh.size(1)))
        part = np.full((height, width), 10.0 * row + column)
        x = DTensor.from_local(part, mesh, [Shard(0), Shard(1)])
        assert x.shape == (rows, columns)
        whole = np.block(
            [
                [np.full((1 + r, 2 + c % 2), 10.0 * r + c) for c in range(mesh.size(1))]
                for r in range(mesh.size(0))
            ]
        )
        assert oracle.same_bits(np.asarray(x.full_tensor()), whole)

    ranks(body)


def test_run_check_makes_replicas_equal(ranks):
    def body():
        rank = _world.current().rank
        part = np.full((2, 2), float(rank))
        x = DTensor.from_local(part, line(), [Replicate()], run_check=True)
        assert np.array_equal(np.asarray(x.to_local()), np.zeros((2, 2)))

    ranks(body)


def test_partial_parts_add_up(ranks):
    def body():
        mesh = line()
        part = np.full((3, 2), 1.0 + _world.current().rank)
        x = DTensor.from_local(part, mesh, [Partial()])
        n = mesh.size()
        assert x.shape == (3, 2)
        assert np.array_equal(
            np.asarray(x.full_tensor()), np.full((3, 2), n * (n + 1) / 2)
        )

    ranks(body)


# --- from_callback, factories ---------------------------------------------------------


def test_from_callback_asks_every_rank_for_its_boxes_only(ranks):
    def body():
        mesh = square()
        for placements in layouts_of(mesh):
            asked = []

            def part(index, asked=asked):
                asked.append(index)
                return ARRAY[index]

            x = from_callback(ARRAY.shape, mesh, placements, part)
            assert oracle.same_bits(np.asarray(x.full_tensor()), ARRAY)
            assert sum(ARRAY[index].size for index in asked) <= x.to_local().size
            assert len(asked) <= 1

    ranks(body)


@pytest.mark.parametrize("make", [zeros, ones, empty, full])
def test_factories_hold_their_own_part_only_and_send_nothing(ranks, make):
    def body():
        mesh, world = square(), _world.current()
        before = world.counters()
        for placements in layouts_of(mesh):
            options = {"device_mesh": mesh, "placements": placements, "dtype": "int16"}
            args = ((7, 10), 9) if make is full else ((7, 10),)
            x = make(*args, **options)
            assert (x.shape, x.dtype) == ((7, 10), np.int16)
            part = own(np.zeros((7, 10), "i2"), mesh, placements)
            assert x.to_local().shape == part.shape
            value = {zeros: 0, ones: 1, full: 9}.get(make)
            assert value is None or (np.asarray(x.to_local()) == value).all()
        assert world.counters() == before

    ranks(body)


def test_factories_take_a_size_in_any_form(ranks):
    def body():
        mesh = line()
        for x in (
            zeros(3, 4, device_mesh=mesh),
            zeros([3, 4], device_mesh=mesh),
            zeros((3, 4), device_mesh=mesh),
            full((3, 4), 0, device_mesh=mesh),
        ):
            assert x.shape == (3, 4) and x.placements == (Replicate(),)
            assert (np.asarray(x) == 0).all()
        assert zeros(device_mesh=mesh).shape == ()
        assert zeros(2, device_mesh=mesh, requires_grad=True).requires_grad

    ranks(body)


def test_the_default_dtype_can_be_set():
    mesh = line()
    assert get_default_dtype() == np.float32
    assert ones(2, device_mesh=mesh).dtype == np.float32
    set_default_dtype(np.float64)
    try:
        assert ones(2, device_mesh=mesh).dtype == np.float64
    finally:
        set_default_dtype(np.float32)
    with pytest.raises(TypeError):
        set_default_dtype(np.int64)


# --- Tensor ---------------------------------------------------------------------------


def test_a_tensor_holds_an_array():
    array = np.arange(6.0).reshape(2, 3)
    shared, copied = as_tensor(array), tensor(array)
    array[0, 0] = 9
    assert np.asarray(shared)[0, 0] == 9 and np.asarray(copied)[0, 0] == 0
    assert shared.shape == (2, 3) and shared.ndim == 2 and shared.dtype == np.float64
    assert shared.size == 6 and shared.size(0) == 2
    assert tensor([1, 2], dtype="float32").dtype == np.float32
    assert tensor(1.0, requires_grad=True).requires_grad
    assert np.array_equal(np.asarray(pickle.loads(pickle.dumps(copied))), copied)


@pytest.mark.parametrize("function", [zeros, ones, empty, eye])
@pytest.mark.parametrize("length", [2**63, 2**64, -(2**63), -(2**63) - 1])
def test_lengths_that_no_array_has_are_refused_as_numpy_refuses_them(function, length):
    with line(), pytest.raises(ValueError, match="dimension|negative"):
        function(length)
