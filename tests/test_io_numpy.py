"""Files that NumPy's own functions write of DTensors."""

import gzip
import io
import os

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed

import dtensor
from dtensor import Shard, distribute_tensor
from dtensor.checkpoint import CheckpointException
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks


def values(shape):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7 / 2


def same(got, want):
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (5, 6), (1, 9), (3, 4, 5)])
def test_all_layouts_are_written_as_one_file(tmp_path, shape, n):
    given = values(shape)

    def body():
        mesh = square() if n == 4 else line()
        found = []
        for placements in layouts(given.ndim, mesh.ndim):
            x, want = placed(given, mesh, placements)
            path = tmp_path / str(len(found))
            np.save(path, x)
            np.save(file=f"{path}-.npy", arr=x)
            np.savez(path, x, b=x, plain=[1, 2.5])
            np.savez_compressed(f"{path}-.npz", x, b=x, plain=[1, 2.5])
            found.append(want)
        return found

    for number, want in enumerate(run_ranks(n, body)[0]):
        for end in "", "-":
            same(np.load(tmp_path / f"{number}{end}.npy"), want)
            with np.load(tmp_path / f"{number}{end}.npz") as archive:
                assert sorted(archive) == ["arr_0", "b", "plain"]
                same(archive["arr_0"], want)
                same(archive["b"], want)
                assert archive["plain"].tolist() == [1, 2.5]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
@pytest.mark.parametrize("shape", [(7,), (5, 6)])
def test_text_is_what_numpy_writes(tmp_path, shape, name):
    want = values(shape)
    np.savetxt(tmp_path / "numpy.txt", want, fmt="%.3f", header="of a run")

    def body():
        x = distribute_tensor(want, line(), [Shard(0)])
        np.savetxt(tmp_path / name, x, fmt="%.3f", header="of a run")

    run_ranks(3, body)
    found = (tmp_path / name).read_bytes()
    found = gzip.decompress(found) if name.endswith(".gz") else found
    assert found == (tmp_path / "numpy.txt").read_bytes()


def test_what_is_sent(tmp_path):
    want = values((64, 32))

    def body():
        x = distribute_tensor(want, line(), [Shard(0)])
        with CommDebugMode() as counted:
            np.save(tmp_path / "x", x)
        saved = counted.get_total_counts()
        with CommDebugMode() as counted:
            np.savez(tmp_path / "x", x=x)
        return saved, counted.get_total_counts()

    assert run_ranks(4, body) == [(0, 1)] * 4  # each its part; gathered on one rank


def test_errors_come_on_all_ranks_and_leave_the_old_file(tmp_path):
    np.savez(tmp_path / "old", np.ones(3))

    def body():
        x = distribute_tensor(values((6, 2)), line(), [Shard(0)])
        rank = line().get_rank()
        for kind, call in [
            (RuntimeError, lambda: np.save(tmp_path / f"{rank}", x)),
            (OSError, lambda: np.save(tmp_path / "nowhere" / "x", x)),
            (OSError, lambda: np.savetxt(tmp_path / "nowhere" / "x", x)),
            (OSError, lambda: np.savetxt(tmp_path, x)),
            (OSError, lambda: np.savetxt("/dev/stdout", x)),
            (ValueError, lambda: np.savetxt(tmp_path / "x", x.reshape(3, 2, 2))),
            (ValueError, lambda: np.savez(tmp_path / "old", x, arr_0=x)),
            (ValueError, lambda: np.savez(tmp_path / "old", x, rank=rank)),
        ]:
            with pytest.raises(kind) as error:
                call()
            assert kind is RuntimeError or isinstance(error.value, CheckpointException)

    run_ranks(3, body)
    assert os.listdir(tmp_path) == ["old.npz"]
    assert np.load(tmp_path / "old.npz")["arr_0"].tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("ignore:numpy.save has no rule")
def test_open_files_are_of_each_rank():
    want = values((6, 2))

    def body():
        x = distribute_tensor(want, line(), [Shard(0)])
        file = io.BytesIO()
        np.save(file, x)
        file.seek(0)
        np.testing.assert_array_equal(np.load(file), want)

    run_ranks(2, body)


def test_a_tensor_is_of_its_rank(tmp_path):
    def body():
        x = dtensor.as_tensor(np.full(3, line().get_rank()))
        np.save(tmp_path / f"{line().get_rank()}", x)

    run_ranks(2, body)
    assert np.load(tmp_path / "1.npy").tolist() == [1, 1, 1]
