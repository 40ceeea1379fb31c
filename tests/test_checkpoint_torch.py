"""Checkpoints that are files of torch.save: each rank reads its own parts."""

import json
import subprocess
import sys

import numpy as np
import pytest
from torch_archives import archive

import dtensor
import dtensor.torch as torch
from dtensor import _C, Replicate, Shard, nn
from dtensor.checkpoint import CheckpointException, load, load_hf, read, save
from dtensor.fsdp import fully_shard
from dtensor.testing import run_ranks
from dtensor.torch.distributed.checkpoint.format_utils import dcp_to_torch_save


def contents():
    base = torch.arange(60.0).reshape(5, 12)
    return {
        "whole": base,
        "turned": base.T,
        "part": base[1:4, ::3],
        "permuted": torch.arange(60).reshape(3, 4, 5).permute(2, 0, 1),
        "empty": torch.zeros(0, 3),
        "number": torch.tensor(3),
        "complex": torch.ones(3, 2, dtype=torch.complex64) * 1j,
        "flag": torch.tensor([True, False, True]),
        "parameter": torch.nn.Parameter(base[0]),
        "nested": {"step": 3, "list": [torch.ones(2), 1.5], "size": torch.Size([2])},
    }


def leaf(state, name):
    return state["nested"]["list"][0] if name == "nested" else state[name]


@pytest.mark.parametrize("placement", [None, Replicate(), Shard(0), Shard(1), Shard(2)])
def test_a_file_is_read_in_any_layout(placement, tmp_path):
    wanted = contents()
    torch.save(wanted, tmp_path / "x.pt")

    def placements(name, shape):
        cut = isinstance(placement, Shard) and placement.dim < len(shape)
        return [placement if cut else Replicate()]

    def go():
        mesh = dtensor.init_device_mesh("cpu", (3,)) if placement else None
        found = read(tmp_path / "x.pt", mesh, placements)
        for name in wanted:
            x, y = leaf(found, name), leaf(wanted, name).detach()
            x = x.full_tensor() if placement else x
            assert np.array_equal(x, y) and x.dtype == y.dtype, name
        assert found["nested"]["step"] == 3 and found["nested"]["list"][1] == 1.5

    run_ranks(3, go)


def test_two_mesh_dims_cut_what_is_not_contiguous(tmp_path):
    wanted = contents()["permuted"]
    torch.save({"x": wanted}, tmp_path / "x.pt")

    def go():
        mesh = dtensor.init_device_mesh("cpu", (2, 2))
        for both in ([Shard(0), Shard(0)], [Shard(2), Shard(1)]):
            found = read(tmp_path / "x.pt", mesh, both)["x"]
            assert np.array_equal(found.full_tensor(), wanted.numpy())

    run_ranks(4, go)


def test_it_is_loaded_into_tensors_and_modules(tmp_path):
    wanted = contents()
    torch.save(wanted, tmp_path / "pytorch_model.bin")

    def go():
        mesh = dtensor.init_device_mesh("cpu", (2,))
        x = dtensor.zeros((12, 5), device_mesh=mesh, placements=[Shard(1)])
        state = {"turned": x, "nested": {"step": 0}}
        load(state, checkpoint_id=tmp_path)
        assert np.array_equal(x.full_tensor(), wanted["turned"].numpy())
        assert state["nested"]["step"] == 3
        model = nn.Linear(12, 5, bias=False)
        load_hf(model, tmp_path, rename=lambda n: "weight" if n == "whole" else None)
        assert np.array_equal(model.weight.detach(), wanted["whole"].numpy())

    run_ranks(2, go)


def test_several_files_have_an_index(tmp_path):
    torch.save({"a": torch.ones(3)}, tmp_path / "one.bin")
    torch.save({"b": torch.zeros(2)}, tmp_path / "two.bin")
    index = {"weight_map": {"a": "one.bin", "b": "two.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    found = read(tmp_path)
    assert found["a"].tolist() == [1, 1, 1] and found["b"].tolist() == [0, 0]


def test_no_more_than_the_parts_is_read(tmp_path, monkeypatch):
    torch.save({"x": torch.arange(4000.0)}, tmp_path / "x.pt")
    shapes = []
    original = _C.read_part
    monkeypatch.setattr(
        _C, "read_part", lambda *a: (shapes.append(a[3].nbytes), original(*a))[1]
    )

    def go():
        mesh = dtensor.init_device_mesh("cpu", (4,))
        read(tmp_path / "x.pt", mesh, [Shard(0)])

    run_ranks(4, go)
    assert shapes == [4000] * 4


WIDE = {
    "a list": b"](K\x01e.",
    "code": b"cos\nsystem\n.",
    "a set": b"}K\x01c__builtin__\nset\n](K\x01e\x85Rs.",
    "nothing": b"",
}


@pytest.mark.parametrize("name", WIDE)
def test_other_contents_are_refused_on_all_ranks(name, tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(archive(**{"data.pkl": WIDE[name]}))

    def go():
        with pytest.raises(CheckpointException) as info:
            read(path)
        assert len(info.value.failures) == 2

    run_ranks(2, go)


def test_dicts_that_hold_each_other_again_and_again_are_refused(tmp_path):
    state = {}
    for _ in range(60):
        state = {"a": state, "b": state}
    torch.save(state, tmp_path / "x.pt")
    with pytest.raises(CheckpointException, match="too often"):
        read(tmp_path / "x.pt")


def test_tensors_much_larger_than_the_file_are_refused(tmp_path):
    torch.save({"x": torch.ones(1).expand(10**9)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt")["x"].shape == (10**9,)
    with pytest.raises(CheckpointException, match="times as large"):
        read(tmp_path / "x.pt")


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    torch.save(contents(), tmp_path / "x.pt")
    data = (tmp_path / "x.pt").read_bytes()
    for size in (4, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "x.pt").write_bytes(data[:size])
        with pytest.raises(CheckpointException):
            read(tmp_path / "x.pt")


def test_a_function_may_change_each_tensor_that_a_module_takes(tmp_path):
    """Weights that are stored transposed, or with their heads in another order."""
    w, q = np.arange(12.0, dtype="f4").reshape(4, 3), np.arange(8.0, dtype="f4")
    path = tmp_path / "x.pt"
    given = {"weight": torch.from_numpy(w), "bias": torch.zeros(3)}
    torch.save(given, path)
    torch.save({"scale": torch.from_numpy(q)}, tmp_path / "q.pt")

    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(np.zeros(8, "f4"))

    def paired(x):
        return x.reshape(2, 2, 2).swapaxes(1, 2).reshape(8)

    def go():
        mesh = dtensor.init_device_mesh("cpu", (2,))
        for cut in (False, True):
            layer, scale = nn.Linear(4, 3), Scale()
            if cut:
                fully_shard(layer, mesh=mesh)
                fully_shard(scale, mesh=mesh)
            load_hf(layer, path, convert={"weight": lambda x: x.T}.get)
            load_hf(scale, tmp_path / "q.pt", convert=lambda name: paired)
            found = layer.state_dict()["weight"], scale.state_dict()["scale"]
            for x, wanted in zip(found, (w.T, paired(q)), strict=True):
                assert isinstance(x, dtensor.DTensor) == cut
                x = x.full_tensor() if cut else x
                assert np.array_equal(x.detach(), wanted)
            with pytest.raises(ValueError, match=r"the shape \(4, 3\)"):
                load_hf(layer, path, convert={"weight": lambda x: x * 2}.get)

    run_ranks(2, go)


def test_a_checkpoint_becomes_one_file_of_torch_save_and_back(tmp_path):
    def go():
        mesh = dtensor.init_device_mesh("cpu", (2,))
        model = nn.Linear(3, 4)
        fully_shard(model, mesh=mesh)
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        save(state, checkpoint_id=tmp_path / "dcp")
        return {name: x.full_tensor() for name, x in model.state_dict().items()}

    weights = run_ranks(2, go)[0]
    dcp_to_torch_save(tmp_path / "dcp", tmp_path / "x.pt")
    found = torch.load(tmp_path / "x.pt")
    assert found["model"].keys() == weights.keys()
    assert all(np.array_equal(found["model"][name], weights[name]) for name in weights)
    assert found["optimizer"]["state"][0]["exp_avg"].shape == (4, 3)
    module = "dtensor.torch.distributed.checkpoint.format_utils"
    command = [sys.executable, "-m", module, "torch_to_dcp", "x.pt", "again"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=100)
    again = read(tmp_path / "again")
    assert again["optimizer"]["param_groups"] == found["optimizer"]["param_groups"]
    for name in weights:
        assert np.array_equal(again["model"][name], weights[name])
    with pytest.raises(CheckpointException):
        dcp_to_torch_save(tmp_path / "nowhere", tmp_path / "y.pt")
    assert not (tmp_path / "y.pt").exists()
