"""Meshes: geometry, meshes cut from meshes, and what ranks must agree on."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from mpi4py import MPI

from dtensor import DeviceMesh, init_device_mesh
from dtensor._core import world as _world
from dtensor._core.open_meshes import current_mesh
from dtensor.testing import run_ranks

NAMES = ("a", "b", "c")


def cube(**options):
    return init_device_mesh("cpu", (2, 3, 2), mesh_dim_names=NAMES, **options)


# --- under any number of ranks --------------------------------------------------------


@pytest.mark.mpi
def test_a_mesh_has_each_rank_at_its_row_major_place(square, world):
    assert square.mesh.dtype.kind == "i"
    assert square.mesh.ravel().tolist() == list(range(world.size))
    row, column = square.get_coordinate()
    assert square.mesh[row, column] == world.rank == square.get_rank()
    assert (square.get_local_rank("row"), square.get_local_rank(1)) == (row, column)
    assert square.size() == world.size
    assert (square.size(0), square.size("column")) == square.shape


@pytest.mark.mpi
def test_a_slice_is_the_row_that_the_rank_is_in(square):
    row, column = square.get_coordinate()
    assert square["column"].mesh.tolist() == square.mesh[row].tolist()
    assert square["row"].mesh.tolist() == square.mesh[:, column].tolist()
    assert square["row", "column"] is square
    assert square["row"]._get_root_mesh() is square
    assert square["column"]._get_root_mesh_dim() == 1


@pytest.mark.mpi
def test_get_group_is_a_communicator_over_the_row_and_is_made_once(square):
    group = square.get_group("column")
    assert group.size == square.size(1)
    assert group.rank == square.get_local_rank("column")
    assert group is square["column"].get_group() is square.get_all_groups()[1]
    ranks = group.allgather(MPI.COMM_WORLD.rank)
    assert ranks == square["column"].mesh.tolist()
    square.close()
    with pytest.raises(MPI.Exception):
        group.Barrier()
    again = square.get_group("column")
    assert again.allreduce(1) == square.size(1)


@pytest.mark.mpi
def test_ranks_outside_a_mesh_call_everything_and_have_no_coordinate(world):
    mesh = DeviceMesh("cpu", [[0]], mesh_dim_names=("a", "b"))
    inside = world.rank == 0
    assert mesh.get_coordinate() == ([0, 0] if inside else None)
    assert mesh._is_current_rank_part_of_mesh() == inside
    assert mesh.get_local_rank("a") == (0 if inside else -1)
    assert mesh["b"].mesh.tolist() == [0]
    assert (mesh.get_group("a") == MPI.COMM_NULL) != inside
    assert mesh._flatten().size() == 1


@pytest.mark.mpi
def test_from_group_gives_the_users_communicators_back(square, world):
    rows = square.get_all_groups()
    mesh = DeviceMesh.from_group(
        rows, "cpu", square.mesh, mesh_dim_names=("row", "column")
    )
    assert mesh == square
    assert mesh.get_all_groups() == rows
    line = DeviceMesh.from_group(rows[1], "cpu", mesh_dim_names=("x",))
    assert line.mesh.tolist() == square["column"].mesh.tolist()
    assert line.get_group() is rows[1]
    backward = MPI.COMM_WORLD.Split(0, -world.rank)
    mesh = DeviceMesh.from_group(backward, "cpu")
    assert mesh.mesh.tolist() == list(reversed(range(world.size)))
    assert mesh.get_local_rank() == backward.rank
    backward.Free()


@pytest.mark.mpi
def test_from_group_refuses_what_does_not_fit(square):
    row, column = square.get_all_groups()
    refuse = [
        (([],), {}, "at least one"),
        (([row, column],), {}, "Must pass mesh if"),
        (([row, column],), {"mesh": square.mesh}, "Must pass mesh_dim_names"),
        ((column,), {"mesh": [square.size() + 7] * column.size}, "rank outside|bigger"),
        (
            ([row],),
            {"mesh": square.mesh, "mesh_dim_names": ("a", "b")},
            "ndim equal to number",
        ),
    ]
    for args, options, sentence in refuse:
        with pytest.raises((ValueError, RuntimeError), match=sentence):
            DeviceMesh.from_group(args[0], "cpu", **options)
    with pytest.raises(TypeError, match="takes mpi4py communicators"):
        DeviceMesh.from_group([1], "cpu", mesh=[0], mesh_dim_names=("a",))


@pytest.mark.mpi
def test_the_world_is_bigger_than_any_mesh(world):
    with pytest.raises(RuntimeError, match="should not be bigger than default world"):
        init_device_mesh("cpu", (world.size + 1,))
    with pytest.raises(ValueError, match="outside the world"):
        DeviceMesh("cpu", [world.size])


@pytest.mark.parametrize("size", [1, 2])
def test_a_job_of_one_rank_is_told_how_to_start_more(size):
    with pytest.raises(RuntimeError) as error:
        run_ranks(size, init_device_mesh, "cpu", (2, 3))
    cure = "start it with mpiexec -n 6 python ... (or ./run ranks 6 python ...)"
    assert (cure in str(error.value)) == (size == 1)


@pytest.mark.mpi
def test_ranks_that_want_different_meshes_raise_everywhere(world):
    if world.size == 1:
        return
    names = ("other",) if world.rank == world.size - 1 else ("x",)
    with pytest.raises(RuntimeError, match="other") as error:
        init_device_mesh("cpu", (world.size,), mesh_dim_names=names)
    assert "'x'" in str(error.value)


@pytest.mark.mpi
def test_what_one_rank_cannot_make_raises_everywhere(world):
    shape = (world.size + 1,) if world.rank == world.size - 1 else (world.size,)
    with pytest.raises(RuntimeError, match="should not be bigger"):
        init_device_mesh("cpu", shape)


# --- more ranks than there may be -----------------------------------------------------


def test_slices_partition_the_ranks():
    def slices():
        mesh = cube()
        return [
            [mesh[names].mesh.tolist() for names in subset]
            for n in (1, 2)
            for subset in [list(itertools.combinations(NAMES, n))]
        ]

    grid = np.arange(12).reshape(2, 3, 2)
    for rank, (ones, twos) in enumerate(run_ranks(12, slices)):
        a, b, c = np.argwhere(grid == rank)[0]
        assert ones == [x.tolist() for x in (grid[:, b, c], grid[a, :, c], grid[a, b])]
        assert twos == [x.tolist() for x in (grid[:, :, c], grid[:, b], grid[a])]


def test_flatten_joins_dimensions_and_the_root_knows_the_name():
    def flatten():
        mesh = cube()
        joined = mesh["a", "c"]._flatten()
        assert joined.mesh_dim_names == ("a_c",)
        assert mesh["a_c"] == joined
        assert mesh["a", "c"]._flatten("a_c") == joined
        assert mesh["a", "b"]._flatten("ab")["ab"].size() == 6
        assert mesh["ab", "c"].shape == (6, 2)
        with pytest.raises(ValueError, match="created before"):
            mesh["a", "b"]._flatten("a_c")
        with pytest.raises(ValueError, match="already exists"):
            mesh["a", "b"]._flatten("c")
        with pytest.raises(KeyError, match="ascending"):
            mesh["b", "ab"]
        assert mesh["b"]._flatten("b") == mesh["b"]
        return joined.mesh.tolist(), repr(joined), joined.get_local_rank()

    grid = np.arange(12).reshape(2, 3, 2)
    for rank, (ranks, text, place) in enumerate(run_ranks(12, flatten)):
        b = np.argwhere(grid == rank)[0][1]
        assert ranks == grid[:, b].ravel().tolist()
        assert text == "DeviceMesh((a_c=4), 'cpu', stride=((6, 1),))"
        assert ranks[place] == rank


def test_unflatten_splits_a_dimension_and_concatenate_joins_meshes():
    def both():
        mesh = cube()
        flat = mesh["a", "b"]._flatten("ab")
        split = flat._unflatten("ab", (3, 2), ("p", "q"))
        assert split.mesh.ravel().tolist() == flat.mesh.tolist()
        assert split["q"].size() == 2 and "p" not in mesh.mesh_dim_names
        with pytest.raises(KeyError):
            mesh["p"]
        two = DeviceMesh._concatenate([mesh["a"], mesh["c"]])
        assert two == mesh["a", "c"]
        turned = DeviceMesh._concatenate([mesh["c"], mesh["a"]])
        assert turned.mesh.tolist() == mesh["a", "c"].mesh.T.tolist()
        with pytest.raises(RuntimeError, match="overlapping"):
            DeviceMesh._concatenate([mesh["a"], mesh["a", "c"]])
        other = init_device_mesh("cpu", (12,), mesh_dim_names=("x",))
        with pytest.raises(RuntimeError, match="different device mesh"):
            DeviceMesh._concatenate([mesh["a"], other])
        for bad in [("z", (2,), ("z",)), (7, (2,), ("z",)), ("a", (3,), ("z",))]:
            with pytest.raises(ValueError):
                mesh._unflatten(*bad)
        with pytest.raises(RuntimeError, match="same length as mesh_sizes"):
            mesh._unflatten("a", (2, 1), ("z",))

    run_ranks(12, both)


def test_rank_threads_share_a_mesh_object():
    made = []

    def share():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        if mesh.get_rank() == 0:
            made.append(mesh)
        _world.current().agree(b"", "share")
        shared = made[0]
        assert shared == mesh and hash(shared) == hash(mesh)
        return shared.get_coordinate(), shared["b"].mesh.tolist()

    assert run_ranks(4, share) == [
        ([0, 0], [0, 1]),
        ([0, 1], [0, 1]),
        ([1, 0], [2, 3]),
        ([1, 1], [2, 3]),
    ]


def test_rank_threads_have_no_communicators_but_say_so():
    def ask():
        mesh = init_device_mesh("cpu", (2,))
        with pytest.raises(RuntimeError, match="mpiexec"):
            mesh.get_group()
        with pytest.raises(RuntimeError, match="mpiexec"):
            DeviceMesh.from_group(MPI.COMM_WORLD, "cpu")

    run_ranks(2, ask)


# --- arithmetic -----------------------------------------------------------------------


def test_an_abstract_mesh_needs_no_ranks():
    mesh = DeviceMesh.abstract((64, 32, 32), ("a", "b", "c"))
    assert mesh.size() == 65536 and mesh.mesh[1, 0, 0] == 1024
    assert mesh["b"].mesh.tolist() == list(range(0, 1024, 32))
    assert mesh.get_coordinate() is None
    for call in (mesh.get_rank, mesh.get_group, lambda: mesh.get_local_rank("a")):
        with pytest.raises(RuntimeError, match="not initialized"):
            call()


def test_equal_meshes_are_equal_however_they_are_made():
    mesh = DeviceMesh.abstract((2, 3), ("a", "b"))
    assert mesh == DeviceMesh.abstract([2, 3], ["a", "b"])
    assert len({mesh, DeviceMesh.abstract((2, 3), ("a", "b"))}) == 1
    others = [
        DeviceMesh.abstract((3, 2), ("a", "b")),
        DeviceMesh.abstract((2, 3), ("a", "c")),
        DeviceMesh.abstract((2, 3)),
    ]
    assert all(mesh != other for other in others)
    assert mesh.same_ranks(others[1]) and not mesh.same_ranks(others[0])
    assert mesh != "mesh"


def test_copies_of_a_mesh_are_the_mesh():
    for mesh in (
        DeviceMesh.abstract((2, 3), ("a", "b")),
        init_device_mesh("cpu", (1,)),
    ):
        assert copy.copy(mesh) is mesh and copy.deepcopy(mesh) is mesh
        assert pickle.loads(pickle.dumps(mesh)) == mesh


def test_repr_is_torchs():
    mesh = DeviceMesh.abstract((2, 4), ("dp", "tp"))
    assert repr(mesh) == "DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1))"
    assert repr(mesh["dp"]) == "DeviceMesh((dp=2), 'cpu', stride=(4,))"
    assert repr(DeviceMesh.abstract((3,))) == "DeviceMesh((3,), 'cpu', stride=(1,))"


def test_names_are_looked_up_as_torch_does():
    mesh = DeviceMesh.abstract((2, 3, 2), NAMES)
    assert mesh._get_mesh_dim_by_name("c") == 2
    with pytest.raises(KeyError, match="Mesh dimension 'z' does not exist."):
        mesh._get_mesh_dim_by_name("z")
    with pytest.raises(KeyError, match="Invalid mesh_dim_names"):
        mesh["z"]
    for names in (("b", "a"), ("a", "a"), ("c", "b", "a")):
        with pytest.raises(KeyError, match="ascending order"):
            mesh[names]
    with pytest.raises(RuntimeError, match="without mesh_dim_names"):
        DeviceMesh.abstract((2,))["a"]
    with pytest.raises(RuntimeError, match="without mesh_dim_names"):
        DeviceMesh.abstract((2,))._flatten()
    with pytest.raises(RuntimeError, match="mesh_dim"):
        mesh.get_local_rank()
    with pytest.raises(IndexError):
        mesh.size(3)
    assert [m.mesh.tolist() for m in mesh._get_all_submeshes("b")][1] == [1, 3, 5]


def test_the_current_mesh_is_the_innermost_of_this_thread():
    outer, inner = DeviceMesh.abstract((2,)), DeviceMesh.abstract((3,))
    with pytest.raises(RuntimeError, match="No device mesh is currently active!"):
        current_mesh()
    with outer:
        with inner:
            assert current_mesh() is inner
        assert current_mesh() is outer
        with pytest.raises(RuntimeError, match="No device mesh"):
            run_ranks(1, current_mesh)
    with pytest.raises(RuntimeError):
        current_mesh()
