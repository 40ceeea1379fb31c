"""A checkpoint that was saved always loads; what is torn, altered or hostile never."""

import errno
import fcntl
import io
import os
import random
import resource
import sys
import time

import numpy as np
import pytest
from jobs import run
from slow import slow

from dtensor import _C, Shard, distribute_tensor, init_device_mesh
from dtensor._core import world as _world
from dtensor.checkpoint import (
    CheckpointException,
    _ranks,
    async_save,
    load,
    read,
    save,
)
from dtensor.checkpoint._place import Place
from dtensor.checkpoint._save import Save
from dtensor.testing import run_ranks

# --- damage ---------------------------------------------------------------------------


def state(factor=1.0):
    return {
        "w": np.arange(300.0) * factor,
        "z": np.array([1 + 2j]) * factor,
        "deep": {"name": [np.ones(5, "float32") * factor], "step": 7 * factor},
    }


def loads(path):
    """Whether a checkpoint loads; if it does, it is right."""
    found = state(0.0)
    try:
        load(found, checkpoint_id=path, no_dist=True)
    except CheckpointException:
        return False
    assert repr(found) == repr(state())
    return True


def flip(data, bit):
    altered = bytearray(data)
    altered[bit // 8] ^= 1 << bit % 8
    return bytes(altered)


def test_500_altered_bits_are_all_found(tmp_path):
    path = tmp_path / "x.safetensors"
    save(state(), checkpoint_id=path)
    data = path.read_bytes()
    assert loads(path)
    rng = random.Random(1)
    bits = [*range(64), *rng.sample(range(64, 8 * len(data)), 500 - 64)]
    for bit in bits:
        path.write_bytes(flip(data, bit))
        assert not loads(path), f"bit {bit % 8} of byte {bit // 8}"


@pytest.mark.parametrize("step", [slow(1), 7])
def test_every_altered_bit_of_the_header_is_found(tmp_path, step):
    path = tmp_path / "x.safetensors"
    save({"x": np.ones(3)}, checkpoint_id=path)
    data = path.read_bytes()
    for bit in range(0, 8 * len(data), step):
        path.write_bytes(flip(data, bit))
        with pytest.raises(CheckpointException):
            load({"x": np.zeros(3)}, checkpoint_id=path, no_dist=True)


@pytest.mark.parametrize("step", [slow(1), 7])
def test_altered_bits_of_an_index_are_found(tmp_path, step):
    save(state(), checkpoint_id=tmp_path, max_shard_size=1000)
    path = tmp_path / "model.safetensors.index.json"
    data = path.read_bytes()
    assert loads(tmp_path)
    for bit in range(0, 8 * len(data), step):
        path.write_bytes(flip(data, bit))
        with pytest.raises(ValueError, match="index"):
            load(state(), checkpoint_id=tmp_path, no_dist=True)


def test_a_file_that_is_cut_short_or_has_more_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    save(state(), checkpoint_id=path)
    data = path.read_bytes()
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        assert not loads(path)
    path.write_bytes(data + b"\0")
    assert not loads(path)


def test_files_of_different_saves_are_not_mixed(tmp_path):
    for name in ("a", "b"):
        save(state(), checkpoint_id=tmp_path / name, max_shard_size=1000)
    a, b = (sorted((tmp_path / n).glob("*-0000*.safetensors")) for n in ("a", "b"))
    assert loads(tmp_path / "a") and len(a) == len(b) > 1
    a[1].write_bytes(b[1].read_bytes())
    assert not loads(tmp_path / "a")
    a[1].unlink()
    assert not loads(tmp_path / "a")


def test_the_command_line_finds_what_is_damaged(tmp_path):
    path = tmp_path / "x.safetensors"
    save(state(), checkpoint_id=path)
    command = [sys.executable, "-m", "dtensor.checkpoint"]
    code, output, _ = run([*command, "verify", str(path)])
    assert code == 0 and "3 tensors, 2436 bytes: good" in output
    code, output, _ = run([*command, "inspect", str(path)])
    assert code == 0 and "w  F64  (300,)  2400 bytes" in output
    assert "z  complex128  (1,)" in output and "deep.step  7.0" in output
    data = path.read_bytes()
    path.write_bytes(flip(data, 8 * len(data) - 1))
    code, output, _ = run([*command, "verify", str(path)])
    assert code == 1 and "1 blocks damaged" in output and "deep.name.0" in output
    code, output, _ = run([*command, "verify", str(tmp_path / "none")])
    assert code == 1 and "no checkpoint" in output


# --- failures while it is saved -------------------------------------------------------

OLD, NEW = np.arange(64.0), np.arange(64.0) * 2


def saved(value, path):
    mesh = init_device_mesh("cpu", (2,))
    x = distribute_tensor(value, mesh, [Shard(0)])
    save({"x": x, "y": value}, checkpoint_id=path, max_shard_size=600)


@pytest.mark.parametrize("call", ["open", "fsync", "rename", "write_at", "fstat"])
@pytest.mark.parametrize("rank", [0, 1])
def test_whatever_call_fails_the_old_checkpoint_stays(
    call, rank, tmp_path, monkeypatch
):
    """The k-th call on one rank fails, for k = 1, 2, ..., until a save succeeds."""
    place = _C if call == "write_at" else os
    real = getattr(place, call)
    count = wanted = 0

    def fail(*args, **options):
        nonlocal count
        if _world.current().rank == rank:
            count += 1
            if count == wanted:
                raise OSError(28, "No space left on device")
        return real(*args, **options)

    def go():
        try:
            saved(NEW, tmp_path)
        except OSError as error:
            return error.failures.keys()
        return None

    run_ranks(2, saved, OLD, tmp_path)
    while wanted < 50:
        count, wanted = 0, wanted + 1
        monkeypatch.setattr(place, call, fail)
        failed = run_ranks(2, go)
        monkeypatch.undo()
        found = read(tmp_path)
        if failed == [None, None]:
            break
        assert failed[0] == failed[1] == {rank}
        # After the rename of the index the new one is there: then either is right.
        values = [np.asarray(found[name]).tolist() for name in ("x", "y")]
        assert values in ([OLD.tolist()] * 2, [NEW.tolist()] * 2)
        assert not list(tmp_path.glob(".tmp-*"))
        if values[0] == NEW.tolist():
            run_ranks(2, saved, OLD, tmp_path)
    assert failed == [None, None] and (wanted > 1 or call == "fstat" or rank == 1)
    assert np.array_equal(found["x"], NEW)


def test_a_save_that_has_just_begun_is_not_cleared_away(tmp_path, monkeypatch):
    flock = fcntl.flock
    late = [Place(str(tmp_path), "f" * 16)]

    def wait(lock, how):
        """Another save comes between the making and the locking of a lock."""
        if how == fcntl.LOCK_EX and late:
            late.pop().clear()
            assert os.listdir(tmp_path) == []
        flock(lock, how)

    monkeypatch.setattr(fcntl, "flock", wait)
    place = Place(str(tmp_path), "0" * 16)
    lock = place.begin()
    Place(str(tmp_path), "f" * 16).clear()
    assert os.listdir(tmp_path) == [f".tmp-{'0' * 16}-lock"]
    place.end(lock)
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_cleared_away_fails_nobody(tmp_path, monkeypatch):
    listdir = os.listdir
    calls = []

    def fail(path):
        calls.append(path)
        if len(calls) == 3:  # begin, commit, end
            raise OSError(5, "Input/output error")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", fail)
    run_ranks(2, saved, NEW, tmp_path)
    monkeypatch.undo()
    assert len(calls) == 3 and list(tmp_path.glob(".tmp-*"))
    run_ranks(2, saved, OLD, tmp_path)
    assert not list(tmp_path.glob(".tmp-*"))
    assert np.array_equal(read(tmp_path)["x"], OLD)


def test_a_full_disk_is_told_on_all_ranks_and_the_old_checkpoint_stays(tmp_path):
    def go():
        with pytest.raises(OSError, match="File too large"):
            saved(np.arange(10**5) * 1.0, tmp_path)

    run_ranks(2, saved, OLD, tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, limits[1]))
    try:
        run_ranks(2, go)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert np.array_equal(read(tmp_path)["x"], OLD)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_background_save_without_file_descriptors_says_so_at_once_on_all_ranks(
    rank, tmp_path
):
    """From some call on a rank gets no file descriptor any more, while it writes."""

    def go():
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(NEW, mesh, [Shard(0)])
        future = async_save({"x": x}, checkpoint_id=tmp_path)
        with pytest.raises(CheckpointException) as caught:
            future.result()
        return {r: str(error) for r, error in caught.value.failures.items()}

    def refuse(self, k):
        raise OSError(24, "Too many open files")

    run_ranks(2, saved, OLD, tmp_path)
    opened = Save._opened
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Save,
            "_opened",
            lambda self, k: (refuse if self.ranks.rank == rank else opened)(self, k),
        )
        start = time.monotonic()
        told = run_ranks(2, go)
    assert time.monotonic() - start < 5
    assert told[0] == told[1] == {rank: "[Errno 24] Too many open files"}
    assert np.array_equal(read(tmp_path)["x"], OLD)


def test_a_place_that_cannot_be_written_to_is_told_on_all_ranks(tmp_path):
    (tmp_path / "file").write_text("")

    def go():
        with pytest.raises(NotADirectoryError):
            saved(OLD, tmp_path / "file" / "c")

    run_ranks(2, go)


@pytest.mark.parametrize("end", ["-all~", "-1~"])
def test_on_a_full_disk_an_empty_file_tells_the_others(end, tmp_path, monkeypatch):
    failed = set()

    class Full(io.FileIO):
        """An empty file still has room."""

        def write(self, data):
            if data:
                raise OSError(errno.ENOSPC, "No space left on device")
            return 0

    def full(path, mode):
        if mode == "wb" and path.endswith(end):
            failed.add(path)
            return Full(path, mode)
        return open(path, mode)

    def go():
        x = distribute_tensor(np.zeros(9), init_device_mesh("cpu", (3,)), [Shard(0)])
        future = async_save({"x": x}, checkpoint_id=tmp_path)
        with pytest.raises(OSError, match="is the disk full"):
            future.result()

    save({"x": np.ones(9)}, checkpoint_id=tmp_path)
    monkeypatch.setattr(_ranks, "open", full, raising=False)
    run_ranks(3, go)
    assert failed and np.array_equal(read(tmp_path)["x"], np.ones(9))
    assert os.listdir(tmp_path) == ["model.safetensors"]
