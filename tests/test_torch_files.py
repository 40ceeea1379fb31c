"""Files of torch.save: PyTorch's are read bit by bit, ours are read by PyTorch."""

import io
import pickle
import subprocess

import numpy as np
import pytest
from torch_archives import DATA, FILE, archive, loaded, members_of, program

import dtensor
import dtensor.torch as torch
from dtensor import nn

# --- what is there --------------------------------------------------------------------


@pytest.mark.parametrize("mapped", [False, True])
def test_a_file_of_pytorch_is_read_bit_by_bit(mapped):
    program.check(torch, torch.load(FILE, weights_only=True, mmap=mapped))


def test_what_we_save_comes_back(tmp_path):
    torch.save(program.contents(torch), tmp_path / "x.pt")
    for mapped in (False, True):
        found = torch.load(tmp_path / "x.pt", mmap=mapped)
        program.check(torch, found)
        again = io.BytesIO()
        torch.save(found, again)
        again.seek(0)
        program.check(torch, torch.load(again, map_location="cpu"))
    assert abs(FILE.stat().st_size - (tmp_path / "x.pt").stat().st_size) < 4000


@pytest.mark.validate
def test_pytorch_reads_what_we_save_and_we_what_it_saves(tmp_path, torch_python):
    ours, theirs = tmp_path / "ours.pt", tmp_path / "torch_files.pt"
    torch.save(program.contents(torch), ours)
    script = DATA / "torch_files.py"
    subprocess.run([torch_python, script, "check", ours], check=True)
    subprocess.run([torch_python, script, "make", theirs], check=True)
    program.check(torch, torch.load(theirs))
    with FILE.open("rb") as one, theirs.open("rb") as other:
        stored, new = members_of(one), members_of(other)
    del stored[".data/serialization_id"], new[".data/serialization_id"]
    assert stored == new


def test_a_module_and_its_optimizer_come_back():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save({"m": model.state_dict(), "o": optimizer.state_dict()}, file)
    file.seek(0)
    found = torch.load(file)
    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    other.load_state_dict(found["m"])
    assert found["m"]._metadata == model.state_dict()._metadata
    for name, value in model.state_dict().items():
        assert torch.equal(value, other.state_dict()[name])
    again = torch.optim.Adam(other.parameters())
    again.load_state_dict(found["o"])
    assert torch.equal(
        again.state_dict()["state"][0]["exp_avg"],
        optimizer.state_dict()["state"][0]["exp_avg"],
    )


def test_arrays_that_pytorch_has_no_views_of_are_copied():
    x = np.arange(12.0).reshape(3, 4)
    reversed_ = dtensor.as_tensor(x[::-1])
    gaps = dtensor.as_tensor(np.arange(24.0).reshape(4, 6)[::2, ::3])
    file = io.BytesIO()
    torch.save([reversed_, gaps], file)
    file.seek(0)
    for wanted, found in zip([reversed_, gaps], torch.load(file), strict=True):
        assert np.array_equal(wanted.numpy(), found.numpy())


def test_storages_of_the_other_byte_order_are_turned():
    contents = {n: torch.arange(5).to(getattr(torch, n)) + 1 for n in program.NAMES[1:]}
    contents["complex64"] = contents["complex64"] * 2j
    file = io.BytesIO()
    torch.save(contents, file)
    members = members_of(io.BytesIO(file.getvalue()))
    for k, x in enumerate(contents.values()):
        part = x.element_size() // (2 if x.is_complex() else 1)
        data = np.frombuffer(members[f"data/{k}"], f"u{part}").byteswap()
        members[f"data/{k}"] = data.tobytes()
    found = loaded(archive(members, byteorder=b"big"))
    for name, x in contents.items():
        assert torch.equal(found[name], x), name


def test_tensors_of_other_devices_need_a_map_location():
    file = io.BytesIO()
    torch.save([torch.ones(2)], file)
    members = members_of(io.BytesIO(file.getvalue()))
    here, there = b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0"
    text = members["data.pkl"].replace(here, there)
    data = archive(members, **{"data.pkl": text})
    with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
        loaded(data)
    for to in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda s, loc: s.cpu()):
        (found,) = torch.load(io.BytesIO(data), map_location=to)
        assert found.tolist() == [1, 1]
    for to in ("cuda", {"cpu": "cpu"}, lambda s, loc: None):
        with pytest.raises(RuntimeError, match="CUDA"):
            torch.load(io.BytesIO(data), map_location=to)
    (found,) = torch.load(io.BytesIO(data), map_location="meta")
    assert found.is_meta and found.shape == (2,)


# --- what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.ones(2), "from_numpy"),
        (np.float64(1), "item"),
        (nn.Linear(2, 2), "state_dict"),
        (print, "builtin_function_or_method"),
        (torch.Size, "type"),
        (1 << 3000, "integer"),
        (np.dtype("U3"), "dtype"),
    ],
)
def test_what_pytorch_would_not_read_is_not_written(value, sentence, tmp_path):
    with pytest.raises(pickle.PicklingError, match=sentence):
        torch.save({"a": [value]}, tmp_path / "x.pt")
    assert not (tmp_path / "x.pt").exists()


def test_a_dtensor_is_left_to_the_checkpoints(tmp_path):
    mesh = dtensor.init_device_mesh("cpu", (1,))
    x = dtensor.ones(4, device_mesh=mesh)
    with pytest.raises(TypeError, match=r"dtensor\.checkpoint\.save"):
        torch.save({"x": x}, tmp_path / "x.pt")


def test_endless_containers_and_older_formats_are_refused():
    endless = ()
    for _ in range(5000):
        endless = (endless,)
    with pytest.raises(pickle.PicklingError, match="nested"):
        torch.save(endless, io.BytesIO())
    inside = []
    inside.append(inside)
    file = io.BytesIO()
    torch.save(inside, file)
    found = loaded(file.getvalue())
    assert found[0] is found
    with pytest.raises(NotImplementedError, match="protocol 2"):
        torch.save(1, file, pickle_protocol=4)
    with pytest.raises(NotImplementedError, match="zip"):
        torch.save(1, file, _use_new_zipfile_serialization=False)
