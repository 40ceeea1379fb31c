"""HDF5 files and Zarr stores: what h5py and zarr read, and what they have written."""

import itertools
import os

import h5py
import numpy as np
import pytest
import zarr
from meshes import line, square
from mpi4py import MPI
from placed import layouts, placed

import dtensor
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    Tensor,
    distribute_tensor,
    io,  # noqa: E402  after what it needs is found
)
from dtensor.checkpoint import CheckpointException
from dtensor.debug import CommDebugMode
from dtensor.testing import _fault, run_ranks

SHAPES = [(), (7,), (1,), (0,), (5, 6), (1, 9), (4, 0), (3, 4, 5)]
HDF5_DTYPES = ["?", *"bBhHiIqQ", *"efdg", *"FDG"]
ZARR_DTYPES = ["?", *"bBhHiIqQ", *"efd", *"FD"]

SAVE = {"hdf5": io.save_hdf5, "zarr": io.save_zarr}
LOAD = {"hdf5": io.load_hdf5, "zarr": io.load_zarr}
KINDS = pytest.mark.parametrize("kind", SAVE)


def alone(kind, path):
    """What the format's own library reads."""
    if kind == "zarr":
        return np.asarray(zarr.open_array(path, mode="r")[...])
    with h5py.File(path) as file:
        return np.asarray(file["data"][()])


def values(shape, dtype="d"):
    rng = np.random.default_rng(len(shape))
    return np.asarray(rng.integers(0, 90, shape)).astype(dtype)


def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    assert np.array_equal(got, want)


def left(folder):
    """Temporary files that are left."""
    return [name for name in os.listdir(folder) if name.startswith(".tmp")]


# --- there and back -------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 3, 4])
def test_arrays_of_all_layouts_come_back_in_all_layouts(tmp_path, kind, shape, n):
    path = tmp_path / f"x.{kind}"

    def body():
        for mesh in (line(), square()):
            for placements in layouts(len(shape), mesh.ndim):
                x, whole = placed(values(shape), mesh, placements)
                SAVE[kind](path, x)
                same(alone(kind, path), whole)
            for placements in layouts(len(shape), mesh.ndim):
                if any(p.is_partial() for p in placements):
                    continue
                y = LOAD[kind](path, mesh, placements)
                assert y.placements == tuple(placements)
                same(np.asarray(y.full_tensor()), whole)

    run_ranks(n, body)
    assert not left(tmp_path)


@KINDS
def test_all_dtypes_come_back(tmp_path, kind):
    path = tmp_path / "x"

    def body():
        for dtype in HDF5_DTYPES if kind == "hdf5" else ZARR_DTYPES:
            x, whole = placed(values((5, 3), dtype), line(), [Shard(0)])
            SAVE[kind](path, x)
            same(alone(kind, path), whole)
            same(np.asarray(LOAD[kind](path, line(), [Shard(1)]).full_tensor()), whole)
        big = whole.astype(whole.dtype.newbyteorder(">"))
        SAVE[kind](path, big)
        same(alone(kind, path), whole)

    run_ranks(2, body)


@KINDS
def test_uneven_parts_and_arrays_that_all_ranks_have(ranks, shared_path, kind):
    def body():
        path, mesh = shared_path / f"x.{kind}", line()
        rows = 3 * mesh.get_rank()
        part = np.full((rows, 4), mesh.get_rank(), "f4")
        x = DTensor.from_local(part, mesh, [Shard(0)])
        SAVE[kind](path, x)
        y = LOAD[kind](path, mesh, [Shard(1)])
        assert np.array_equal(y.full_tensor(), x.full_tensor())
        plain = values((9, 2)).T
        SAVE[kind](path, plain)
        z = LOAD[kind](path, mesh)
        assert np.array_equal(z.full_tensor(), plain)
        assert isinstance(LOAD[kind](path), Tensor)
        SAVE[kind](path, dtensor.tensor(3.5))
        assert LOAD[kind](path, mesh).item() == 3.5

    ranks(body)


@pytest.fixture
def shared_path(tmp_path):
    """A folder that all ranks have."""
    return MPI.COMM_WORLD.bcast(tmp_path)


def test_several_datasets_come_back(tmp_path):
    path = tmp_path / "x.h5"

    def body():
        mesh = line()
        x, whole = placed(values((5, 3)), mesh, [Shard(1)])
        y, _ = placed(values((7,)), mesh, [Partial()])
        io.save_hdf5(path, {"run/x": x, "run/y": y, "z": np.arange(3), "e": x[:0]})
        same(np.asarray(io.load_hdf5(path, mesh, dataset="run/x").full_tensor()), whole)
        got = io.load_hdf5(path, mesh, [Shard(0)], dataset="run/y")
        assert np.array_equal(got.full_tensor(), y.full_tensor())
        assert np.array_equal(io.load_hdf5(path, dataset="z"), np.arange(3))
        assert io.load_hdf5(path, mesh, dataset="e").shape == (0, 3)

    run_ranks(3, body)


def test_files_of_other_programs_are_read(tmp_path):
    whole = values((50, 6), "f4")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset(
            "data", data=whole.astype(">f4"), chunks=(7, 4), compression="gzip"
        )
        file["text"] = "abc"
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group.create_array("a/b", data=whole, chunks=(7, 4))

    def body():
        for placements in ([Shard(0)], [Shard(1)], [Replicate()]):
            x = io.load_hdf5(tmp_path / "x.h5", line(), placements)
            y = io.load_zarr(tmp_path / "g.zarr", line(), placements, array="a/b")
            for each in (x, y):
                assert each.dtype == np.float32
                assert np.array_equal(each.full_tensor(), whole)

    run_ranks(3, body)


# --- parts ----------------------------------------------------------------------------


@KINDS
def test_a_rank_reads_its_part_and_no_more(tmp_path, kind, monkeypatch):
    path, read = tmp_path / "x", []
    run_ranks(1, lambda: SAVE[kind](path, values((40, 6))))
    if kind == "hdf5":
        owner, name = h5py.Dataset, "__getitem__"
    else:
        owner, name = zarr.Array, "__getitem__"
    get = getattr(owner, name)

    def counted(self, key):
        found = get(self, key)
        read.append(np.size(found))
        return found

    monkeypatch.setattr(owner, name, counted)
    run_ranks(4, lambda: LOAD[kind](path, line(), [Shard(0)]))
    assert read == [60] * 4
    read.clear()
    run_ranks(4, lambda: LOAD[kind](path, square(), [Shard(0), Shard(1)]))
    assert read == [60] * 4


def test_a_rank_writes_its_part_and_no_more(tmp_path, monkeypatch):
    wrote = []
    write_at = dtensor._C.write_at

    def counted(fd, base, place, data, *rest):
        wrote.append(data.nbytes)
        return write_at(fd, base, place, data, *rest)

    monkeypatch.setattr(dtensor._C, "write_at", counted)
    for placement in (Shard(0), Replicate()):

        def body(placement=placement):
            x, _ = placed(values((40, 6)), line(), [placement])
            with CommDebugMode() as comm:
                io.save_hdf5(tmp_path / "x.h5", x)
            assert not comm.get_comm_counts()

        run_ranks(4, body)
        assert wrote == [480] * 4
        wrote.clear()


@pytest.mark.parametrize("chunks", [None, (4, 6), (3, 2), (100, 1), (1, 1)])
def test_no_two_ranks_write_the_same_chunk(tmp_path, chunks, monkeypatch):
    """Nor part of one."""
    written = []
    put = zarr.Array.__setitem__

    def kept(self, key, value):
        written.append((key, self.chunks))
        put(self, key, value)

    monkeypatch.setattr(zarr.Array, "__setitem__", kept)

    def body():
        mesh = square()
        for placements in layouts(2, 2):
            x, whole = placed(values((11, 6)), mesh, placements)
            io.save_zarr(tmp_path / "x", x, chunks=chunks)
            same(alone("zarr", tmp_path / "x"), whole)

    run_ranks(4, body)
    covered = 0
    for key, shape in written:
        for one, chunk, length in zip(key, shape, (11, 6), strict=True):
            assert one.start % chunk == 0
            assert one.stop % chunk == 0 or one.stop == length
        covered += np.prod([one.stop - one.start for one in key])
    saves = len(list(layouts(2, 2)))
    assert covered == 66 * saves  # each element once, in each of them


def test_parts_that_are_chunks_do_not_move(ranks, shared_path):
    def body():
        mesh = line()
        x = distribute_tensor(values((13, 6)), mesh, [Shard(0)], src_data_rank=None)
        with CommDebugMode() as comm:
            io.save_zarr(shared_path / "x", x, attributes={"unit": "m"})
        assert not comm.get_comm_counts()
        kept = zarr.open_array(shared_path / "x", mode="r")
        assert kept.attrs["unit"] == "m" and kept.chunks == (-(-13 // mesh.size()), 6)

    ranks(body)


# --- failures -------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("n", [1, 3])
def test_a_save_that_fails_on_a_rank_fails_on_all_and_leaves_the_old(tmp_path, kind, n):
    path, old = tmp_path / "x", values((6,))
    run_ranks(1, lambda: SAVE[kind](path, old))

    def save(k, failing):
        x, _ = placed(values((8, 2)), line(), [Shard(0)])
        faulty = line().get_rank() == failing
        with _fault("file", k if faulty else 0) as fault:
            try:
                SAVE[kind](path, x)
            except CheckpointException as error:
                assert isinstance(error, OSError)
                return False, fault.happened
        return True, fault.happened

    failures = 0
    for k, failing in itertools.product(range(1, 12), {0, n - 1}):
        found = run_ranks(n, save, k, failing)
        saved = {ended for ended, _ in found}
        assert len(saved) == 1
        failures += saved == {False}
        if saved == {False}:
            assert alone(kind, path).shape in ((6,), (8, 2))
            run_ranks(1, lambda: SAVE[kind](path, old))
        else:
            same(alone(kind, path), values((8, 2)))
            run_ranks(1, lambda: SAVE[kind](path, old))
    assert failures >= 3
    assert os.listdir(tmp_path) == ["x"]


def test_bad_input_is_refused_on_all_ranks(tmp_path):
    path = tmp_path / "x"

    def body():
        mesh = line()
        x, _ = placed(values((4,)), mesh, [Shard(0)])
        half = x.astype("bfloat16")
        for save in SAVE.values():
            with pytest.raises(
                TypeError, match="no elements of dtype bfloat16: convert"
            ):
                save(path, half)
            with pytest.raises(TypeError, match="no elements of dtype object"):
                save(path, np.array([{}]))
            with pytest.raises(ValueError, match="not the same on all ranks"):
                save(path, np.arange(3) + mesh.get_rank())
        with pytest.raises(TypeError, match="Zarr has no elements"):
            io.save_zarr(path, np.ones(3, "g"))
        for chunks in ((0,), (2, 2)):
            with pytest.raises(ValueError, match="do not fit"):
                io.save_zarr(path, x, chunks=chunks)
        with pytest.raises(ValueError, match="not the same on all ranks"):
            io.save_zarr(path, x, chunks=(1 + mesh.get_rank(),))
        with pytest.raises(FileExistsError, match="is not a Zarr array"):
            io.save_zarr(tmp_path, x)
        with pytest.raises(ValueError, match="must be on one mesh"):
            io.save_hdf5(path, {"a": x, "b": dtensor.ones(3, device_mesh=square())})
        with pytest.raises(CheckpointException):
            io.save_hdf5(path, {"a": x, "a/b": x})
        with pytest.raises(CheckpointException):
            io.save_hdf5(tmp_path / "none" / "x", x)
        for load in LOAD.values():
            with pytest.raises(FileNotFoundError):
                load(path, mesh)
        assert float(x.sum()) == values((4,)).sum()

    run_ranks(2, body)
    assert not os.listdir(tmp_path)


def test_what_a_file_lacks_is_named(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["a/b"] = "text"
        file["c"] = np.arange(3)
    (tmp_path / "y.h5").write_bytes(b"no HDF5")

    def body():
        for name in ("data", "a"):
            with pytest.raises(ValueError, match=rf"no array '{name}'; it has"):
                io.load_hdf5(tmp_path / "x.h5", line(), dataset=name)
        with pytest.raises(TypeError, match="has no elements of dtype object"):
            io.load_hdf5(tmp_path / "x.h5", line(), dataset="a/b")
        with pytest.raises(OSError):
            io.load_hdf5(tmp_path / "y.h5", line())

    run_ranks(2, body)
