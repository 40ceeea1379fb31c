"""A file from anywhere can fail to load, and nothing worse."""

import json
import os
import resource
import sys

import numpy as np
import pytest

from dtensor import _C
from dtensor.checkpoint import CheckpointException, __main__, read, save
from dtensor.checkpoint._header import Header, entry_of
from dtensor.checkpoint._store import Store
from dtensor.testing import run_ranks


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    count = len(text) if length is None else length
    return count.to_bytes(8, "little") + text + data


def tensor(begin, end, dtype="U8", shape=None):
    shape = [end - begin] if shape is None else shape
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


NOTES = {
    "dtensor.version": "1",
    "dtensor.save": "0" * 16,
    "dtensor.file": "1/1",
    "dtensor.block": "8",
    "dtensor.crc32c": "00000000",
    "dtensor.header_crc32c": "00000000",
    "dtensor.dtypes": "{}",
    "dtensor.values": "{}",
    "dtensor.paths": "{}",
}


def signed(notes, data=b"\0" * 8):
    """A file with notes as ours, whose checksums are right."""
    notes = {**NOTES, "dtensor.crc32c": f"{_C.crc32c(data):08x}"} | notes
    text = json.dumps(
        {"__metadata__": notes, "x": tensor(0, len(data))}, separators=(",", ":")
    ).encode()
    told = b'"dtensor.header_crc32c":"'
    at = text.index(told) + len(told)
    crc = b"%08x" % _C.crc32c(len(text).to_bytes(8, "little") + text)
    return file_of(text[:at] + crc + text[at + 8 :], data)


HOSTILE = {
    "nothing": b"",
    "a length alone": file_of(b"", length=10),
    "an endless length": file_of({}, length=2**64 - 1),
    "a long length": file_of({}, length=10**9),
    "overlap": file_of({"a": tensor(0, 8), "x": tensor(4, 12)}, b"\0" * 12),
    "a hole": file_of({"a": tensor(0, 4), "x": tensor(8, 12)}, b"\0" * 12),
    "a duplicate": file_of(
        b'{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
        b'"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
    ),
    "nesting": file_of(b'{"x":' + b"[" * 10**6),
    "nested objects": file_of(b'{"x":' * 10**5),
    "no UTF-8": file_of(b'{"__metadata__":{"a":"\xff"}}'),
    "a product that overflows": file_of({"x": tensor(0, 0, "U8", [2**32, 2**32])}),
    "no dtype of NumPy's": file_of({"x": tensor(0, 2, "F8_E4M3")}, b"\0" * 2),
    "a block of no bytes": signed({"dtensor.block": "0"}),
    "a block of many bytes": signed({"dtensor.block": "9" * 30}),
    "a block longer than the data": signed({"dtensor.block": "99999999"}),
    "a number of 5000 digits": signed({"dtensor.block": "9" * 5000}),
    "too many checksums": signed({"dtensor.crc32c": "00" * 8}),
    "nested values": signed({"dtensor.values": "[" * 100000}),
    "values that are none": signed({"dtensor.values": '{"y":"{\\"exec\\":1}"}'}),
    "a value beyond floats": signed(
        {"dtensor.values": json.dumps({"y": '{"float":1%s}' % ("0" * 400)})}
    ),
    "a dtype that is half a text": signed(
        {"dtensor.values": json.dumps({"y": '{"dtype":"(1,f8"}'})}
    ),
    "values of a wrong kind": signed({"dtensor.values": '{"y":3}'}),
    "paths to nowhere": signed({"dtensor.paths": '{"x":[[-1]]}'}),
    "a list of a million places": signed({"dtensor.paths": '{"x":[[1000000]]}'}),
    "a path through a leaf": signed(
        {"dtensor.values": '{"y":"1"}', "dtensor.paths": '{"x":["y","x"]}'}
    ),
    "a path through a list": signed({"dtensor.paths": '{"x":[[0],"x"]}'}),
    "a path of the end": signed({"dtensor.paths": '{"x":[[999999999999]]}'}),
    "dtypes that do not fit": signed({"dtensor.dtypes": '{"x":"complex64"}'}),
    "a version to come": signed({"dtensor.version": "2"}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_on_all_ranks_in_little_memory(name, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(HOSTILE[name])

    def go():
        with pytest.raises(CheckpointException) as info:
            read(path)
        assert len(info.value.failures) == 2 and isinstance(info.value, ValueError)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run_ranks(2, go)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 100_000  # kB


def test_a_signed_file_that_is_not_hostile_loads(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(signed({}))
    assert np.array_equal(read(path)["x"], np.zeros(8))


def test_a_file_of_5_terabytes_is_opened(tmp_path):
    header = Header([entry_of("x", np.dtype("u1"), (5 * 10**12,), 0)], None)
    header.finish("0" * 16, "1/1")
    path = tmp_path / "x.safetensors"
    path.write_bytes(header.made())
    os.truncate(path, path.stat().st_size + header.data_bytes)  # no data: holes
    with Store(str(path)) as store:
        assert store.array("x") == (np.uint8, (5 * 10**12,))


def test_names_are_data_and_no_paths(tmp_path):
    names = ["../../up", "/absolute", "a\0b", "", ".", "x" * 5000, "\n\u202e"]
    values = {name: np.full(2, k) for k, name in enumerate(names)}
    save(values, checkpoint_id=tmp_path / "c")
    found = read(tmp_path / "c")
    assert all(np.array_equal(found[name], values[name]) for name in names)
    assert os.listdir(tmp_path) == ["c"]
    with pytest.raises(ValueError, match="the safetensors format reserves this name"):
        save({"__metadata__": np.ones(1)}, checkpoint_id=tmp_path / "c")


@pytest.mark.parametrize("name", ["model.safetensors", "model.safetensors.index.json"])
def test_a_pipe_is_not_waited_for(name, tmp_path):
    os.mkfifo(tmp_path / name)
    with pytest.raises(CheckpointException, match=name):
        read(tmp_path)


def test_no_name_speaks_to_the_terminal(tmp_path, capsys, monkeypatch):
    path = tmp_path / "x.safetensors"
    save({"\x1b[31m\n": np.ones(2), "v": "\x9b"}, checkpoint_id=path)
    monkeypatch.setattr(sys, "argv", ["", "inspect", str(path)])
    assert __main__.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(map(str.isprintable, lines))


@pytest.mark.parametrize(
    "index",
    [
        "",
        "[]",
        "{}",
        '{"weight_map": 3}',
        '{"weight_map": {"x": "../x.safetensors"}}',
        '{"weight_map": {"x": "/x.safetensors"}}',
        '{"weight_map": {"x": "x.txt"}}',
        '{"weight_map": {"x": ["x.safetensors"]}}',
        '{"weight_map": {"x": "x.safetensors", "x": "x.safetensors"}}',
        '{"weight_map": {"y": "x.safetensors"}}',
        '{"weight_map": {"x": "gone.safetensors"}}',
        "[" * 10**6,
    ],
)
def test_a_hostile_index_is_refused(index, tmp_path):
    for path in (tmp_path, tmp_path / "in"):
        path.mkdir(exist_ok=True)
        (path / "x.safetensors").write_bytes(file_of({"x": tensor(0, 1)}, b"\1"))
    (tmp_path / "in" / "model.safetensors.index.json").write_text(index)
    with pytest.raises(CheckpointException):
        read(tmp_path / "in")
