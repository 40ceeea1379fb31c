"""What may be in a state dict, and where a checkpoint may be."""

import json
import os

import numpy as np
import pytest
import safetensors

from dtensor import (
    Tensor,
    init_device_mesh,
    nn,
    tensor,
)
from dtensor.checkpoint import (
    FileSystemReader,
    FileSystemWriter,
    load,
    read,
    save,
)
from dtensor.fsdp import fully_shard
from dtensor.testing import run_ranks

# --- what a state dict is -------------------------------------------------------------


VALUES = {
    "int": -(10**30),
    "float": 0.1,
    "nan": float("nan"),
    "inf": float("-inf"),
    "text": 'ü"\\\n\u0000',
    "none": None,
    "true": True,
    "complex": 1 - 2j,
    "bytes": b"\x00\xff",
    "tuple": (1, (2.5, "a"), []),
    "list": [1, [2, {"k": (3,)}]],
    "dict": {},
    "dtype": np.dtype("float32"),
}


def test_values_come_back_as_they_were(tmp_path):
    save(dict(VALUES), checkpoint_id=tmp_path)
    state = dict.fromkeys(VALUES)
    load(state, checkpoint_id=tmp_path)
    assert repr(state) == repr(VALUES)
    assert repr(sorted(read(tmp_path).items())) == repr(sorted(VALUES.items()))


def test_nested_state_is_filled_in_place_and_read_back_nested(tmp_path):
    def state(factor):
        return {
            "model": {"w.0": np.arange(6.0) * factor, "b": Tensor(np.ones(2) * factor)},
            0: {"list": [np.ones(3) * factor, 5 * factor, (np.zeros(1) + factor, 7)]},
            "number": np.float32(2.5 * factor),
            "step": 3 * factor,
        }

    saved, found = state(1), state(0)
    inner, array = found["model"], found["model"]["w.0"]
    save(saved, checkpoint_id=tmp_path)
    load(found, checkpoint_id=tmp_path)
    assert found["model"] is inner and inner["w.0"] is array
    assert repr(found) == repr(saved)
    again = read(tmp_path)
    assert again["model"].keys() == saved["model"].keys()
    assert np.array_equal(again[0]["list"][0], np.ones(3)) and again["step"] == 3
    assert again[0]["list"][1] == 5 and np.array_equal(again[0]["list"][2][0], [1.0])


def test_two_leaves_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="duplicated flatten key a.b"):
        save({"a.b": 1, "a": {"b": 2}}, checkpoint_id=tmp_path)


@pytest.mark.parametrize(
    "thing",
    [object(), {1, 2}, lambda: 0, slice(3), np.array([None]), np.dtype(">f8")],
    ids=["object", "set", "function", "slice", "objects", "dtype"],
)
def test_objects_are_refused_with_their_name(thing, tmp_path):
    with pytest.raises(TypeError, match="cannot be saved.*deep.thing"):
        save({"deep": {"thing": thing}}, checkpoint_id=tmp_path)
    assert os.listdir(tmp_path) == []


def test_statistics_of_rows_of_ranks_are_refused_with_what_makes_them_the_same(
    tmp_path,
):
    def go():
        mesh = init_device_mesh("cpu", (2,))
        rows = tensor(np.arange(12, dtype="f4").reshape(4, 3) * (1 + mesh.get_rank()))
        model = nn.Sequential(nn.BatchNorm1d(3))
        synced = nn.SyncBatchNorm.convert_sync_batchnorm(
            nn.Sequential(nn.BatchNorm1d(3)), mesh
        )
        for each in (model, synced):
            fully_shard(each, mesh=mesh)(rows)
        with pytest.raises(ValueError, match="SyncBatchNorm.convert_sync_batchnorm"):
            save(model.state_dict(), checkpoint_id=tmp_path)
        save(synced.state_dict(), checkpoint_id=tmp_path)

    run_ranks(2, go)


def test_objects_with_state_give_it_and_take_it_back(tmp_path):
    class Counter:
        def __init__(self, count):
            self.count = count

        def state_dict(self):
            return {"count": self.count}

        def load_state_dict(self, state):
            self.count = state["count"]

    module, other = nn.Linear(3, 2), nn.Linear(3, 2)
    save({"model": module, "counter": Counter(5)}, checkpoint_id=tmp_path)
    counter = Counter(0)
    state = {"model": other, "counter": counter}
    load(state, checkpoint_id=tmp_path)
    assert (
        state["counter"] is counter and counter.count == 5 and state["model"] is other
    )
    assert np.array_equal(other.weight.detach(), module.weight.detach())


def test_dtypes_become_those_of_the_tensors_where_they_can(tmp_path):
    save({"x": np.arange(5, dtype="float32")}, checkpoint_id=tmp_path)
    for dtype in ("float64", "float16", "complex128"):
        state = {"x": np.zeros(5, dtype)}
        load(state, checkpoint_id=tmp_path)
        assert np.array_equal(state["x"], np.arange(5))
    with pytest.raises(
        TypeError, match="'x' is float32, which cannot be cast to int32"
    ):
        load({"x": np.zeros(5, "int32")}, checkpoint_id=tmp_path)


def test_arrays_of_any_strides_are_saved_and_filled(tmp_path):
    x = np.arange(24.0).reshape(4, 6)
    save({"x": x.T, "y": x[::-1, ::2]}, checkpoint_id=tmp_path)
    room = np.zeros((8, 12))
    state = {"x": np.zeros((4, 6)).T, "y": room[::2, ::-4]}
    load(state, checkpoint_id=tmp_path)
    assert np.array_equal(state["x"], x.T) and np.array_equal(state["y"], x[::-1, ::2])


# --- where it is ----------------------------------------------------------------------


def test_a_path_is_a_directory_or_a_file(tmp_path):
    for path in (tmp_path / "a" / "b", tmp_path / "one.safetensors"):
        save({"x": np.ones(2)}, storage_writer=FileSystemWriter(path))
        state = {"x": np.zeros(2)}
        load(state, storage_reader=FileSystemReader(str(path)))
        assert state["x"].tolist() == [1, 1]
    assert (tmp_path / "one.safetensors").is_file()
    assert os.listdir(tmp_path / "a" / "b") == ["model.safetensors"]
    with pytest.raises(ValueError, match="checkpoint_id is needed"):
        save({})


def test_several_files_and_one_follow_each_other(tmp_path):
    def state(factor):
        return {f"x{k}": np.arange(100.0) * factor + k for k in range(5)}

    def check(factor):
        found = state(0)
        load(found, checkpoint_id=tmp_path)
        assert all(np.array_equal(found[k], v) for k, v in state(factor).items())

    for factor, most, files in [(1, 900, 6), (2, 900, 6), (3, 10**9, 1), (4, 2000, 4)]:
        metadata = save(state(factor), checkpoint_id=tmp_path, max_shard_size=most)
        assert len(os.listdir(tmp_path)) == files
        assert len(set(metadata.storage_data.values())) == max(files - 1, 1)
        check(factor)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    for name, file in index["weight_map"].items():  # as Hugging Face's tools read it
        with safetensors.safe_open(tmp_path / file, "np") as theirs:
            assert np.array_equal(theirs.get_tensor(name), state(4)[name])
            assert theirs.metadata()["format"] == "pt"


def test_what_killed_saves_left_is_cleared_away(tmp_path):
    for name in ("lock", "model.safetensors", "1-0"):
        (tmp_path / f".tmp-0123456789abcdef-{name}").write_text("")
    save({"x": np.ones(1)}, checkpoint_id=tmp_path)
    assert os.listdir(tmp_path) == ["model.safetensors"]
