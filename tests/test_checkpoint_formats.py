"""Files of other programs: Hugging Face's safetensors, and NumPy's .npy."""

import json
import os
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    Tensor,
    distribute_tensor,
    init_device_mesh,
    nn,
)
from dtensor.checkpoint import (
    CheckpointException,
    load,
    load_hf,
    load_npy,
    read,
    save_npy,
)
from dtensor.fsdp import fully_shard
from dtensor.testing import run_ranks

WEIGHTS = {
    "0.weight": np.arange(60, dtype="float32").reshape(10, 6),
    "0.bias": np.arange(10, dtype="float32"),
    "2.weight": np.arange(30, dtype="float32").reshape(3, 10) + 0.5,
    "2.bias": np.arange(3, dtype="float32") - 0.5,
}


def model():
    return nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))


def written(directory, files):
    """A directory as Hugging Face's tools write it, in one file or two."""
    names = list(WEIGHTS)
    if files == 1:
        safetensors.numpy.save_file(
            WEIGHTS, directory / "model.safetensors", metadata={"format": "pt"}
        )
        return
    where = {}
    for k, part in enumerate((names[:3], names[3:]), 1):
        file = f"model-0000{k}-of-00002.safetensors"
        safetensors.numpy.save_file({n: WEIGHTS[n] for n in part}, directory / file)
        where |= dict.fromkeys(part, file)
    index = {"metadata": {"total_size": 412}, "weight_map": where}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_pretrained_weights_go_straight_into_shards(n, files, tmp_path):
    written(tmp_path, files)

    def go():
        made = fully_shard(model(), mesh=init_device_mesh("cpu", (n,)))
        keys = load_hf(made, tmp_path)
        assert not keys.missing_keys and not keys.unexpected_keys
        for name, weight in made.state_dict().items():
            assert isinstance(weight, DTensor)
            assert np.array_equal(weight.full_tensor(), WEIGHTS[name])

    run_ranks(n, go)


def test_pretrained_numbers_become_those_of_the_module(tmp_path):
    file = tmp_path / "x.safetensors"
    half = {name: w.astype(ml_dtypes.bfloat16) for name, w in WEIGHTS.items()}
    # The library's NumPy half does not write bfloat16: the header is made by hand.
    at, entries, data = 0, {}, b""
    for name, w in half.items():
        entries[name] = {
            "dtype": "BF16",
            "shape": w.shape,
            "data_offsets": [at, at + w.nbytes],
        }
        at, data = at + w.nbytes, data + w.tobytes()
    header = json.dumps(entries).encode()
    file.write_bytes(len(header).to_bytes(8, "little") + header + data)
    made = model()
    load_hf(made, file)
    for name, weight in made.state_dict().items():
        assert weight.dtype == np.float32
        assert np.array_equal(weight, half[name].astype("float32"))


def test_names_are_changed_and_judged(tmp_path):
    written(tmp_path, 1)

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = model()

    made = Wrapped()
    with pytest.raises(RuntimeError, match="Unexpected key.*'0.bias'.*Missing key"):
        load_hf(made, tmp_path)
    load_hf(made, tmp_path, rename=lambda name: f"body.{name}")
    assert np.array_equal(made.body[2].bias.detach(), WEIGHTS["2.bias"])
    before = made.body[0].bias.detach().copy() * 0
    made.body[0].bias.detach()[...] = before
    keys = load_hf(
        made,
        tmp_path,
        strict=False,
        rename=lambda name: None if name == "0.bias" else f"body.{name}",
    )
    assert keys.missing_keys == ["body.0.bias"] and keys.unexpected_keys == []
    assert np.array_equal(made.body[0].bias.detach(), before)
    with pytest.raises(ValueError, match="'0.bias' and '2.bias' both become 'bias'"):
        load_hf(made, tmp_path, rename=lambda name: name[2:])
    with pytest.raises(ValueError, match="Size mismatch between saved"):
        first = {"0.weight": "weight", "0.bias": "bias"}
        load_hf(nn.Linear(2, 2), tmp_path, rename=first.get)


def test_tied_weights_are_not_missing(tmp_path):
    tied = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    tied[1].weight = tied[0].weight
    file = tmp_path / "x.safetensors"
    safetensors.numpy.save_file({"0.weight": np.eye(4, dtype="float32")}, file)
    assert load_hf(tied, file).missing_keys == []
    assert np.array_equal(tied[1].weight.detach(), np.eye(4))


def test_a_file_of_others_is_read_without_a_template(tmp_path):
    written(tmp_path, 2)

    def go():
        mesh = init_device_mesh("cpu", (2,))
        found = read(tmp_path, mesh, {"0.weight": [Shard(1)]})
        assert found.keys() == WEIGHTS.keys()
        assert found["0.weight"].placements == (Shard(1),)
        assert found["2.bias"].placements == (Replicate(),)
        for name, weight in found.items():
            assert np.array_equal(weight.full_tensor(), WEIGHTS[name])
        cut = read(tmp_path, mesh, lambda name, shape: [Shard(len(shape) - 1)])
        assert cut["2.weight"].to_local().shape == (3, 5)
        state = {"2.bias": np.zeros(3)}
        load(state, checkpoint_id=tmp_path)
        assert np.array_equal(state["2.bias"], WEIGHTS["2.bias"])

    run_ranks(2, go)


# --- .npy -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype", ["float64", "int8", "complex64", "longdouble", "bool"]
)
@pytest.mark.parametrize("n", [1, 3])
def test_an_array_is_saved_as_numpy_reads_it(n, dtype, tmp_path):
    path = tmp_path / "x.npy"

    def go(shape, placements):
        mesh = init_device_mesh("cpu", (n,))
        x = (np.arange(np.prod(shape)).reshape(shape) % 3).astype(dtype)
        save_npy(path, distribute_tensor(x, mesh, placements))
        for target in ([Replicate()], [Shard(len(shape) - 1)] if shape else []):
            if target:
                y = load_npy(path, mesh, target)
                assert y.placements == tuple(target) and y.dtype == x.dtype
                assert np.array_equal(y.full_tensor(), x)

    for shape in [(5, 7), (0, 3), (4,), ()]:
        for placements in [[Replicate()]] + [[Shard(d)] for d in range(len(shape))]:
            run_ranks(n, go, shape, placements)
            x = (np.arange(np.prod(shape)).reshape(shape) % 3).astype(dtype)
            assert np.array_equal(np.load(path), x) and np.load(path).dtype == x.dtype


def test_arrays_of_numpy_are_loaded(tmp_path):
    path = tmp_path / "x.npy"
    for array in (
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(5, dtype=">i4"),
        np.float32(3),
    ):
        np.save(path, array)
        assert isinstance(load_npy(path), Tensor)
        assert np.array_equal(load_npy(path).numpy(), array)

        def go(array=array):
            mesh = init_device_mesh("cpu", (2,))
            y = load_npy(path, mesh, [Shard(0) if array.ndim else Replicate()])
            assert np.array_equal(y.full_tensor().numpy(), array)

        run_ranks(2, go)
    x = np.arange(5).astype(ml_dtypes.bfloat16)
    save_npy(path, x)
    assert load_npy(path, dtype="bfloat16").dtype == x.dtype
    assert np.array_equal(load_npy(path, dtype="bfloat16"), x)


def test_what_is_no_array_is_refused_on_all_ranks(tmp_path):
    path = tmp_path / "x.npy"

    def refuse(*kinds):
        def go():
            mesh = init_device_mesh("cpu", (2,))
            with pytest.raises(CheckpointException) as info:
                load_npy(path, mesh, [Shard(0)])
            assert len(info.value.failures) == 2 and isinstance(info.value, kinds)

        run_ranks(2, go)

    refuse(FileNotFoundError)
    path.write_bytes(b"nothing")
    refuse(ValueError)
    np.save(path, np.array([{}]), allow_pickle=True)
    refuse(ValueError)
    np.save(path, np.arange(100.0))
    path.write_bytes(path.read_bytes()[:-8])
    refuse(ValueError)
    with pytest.raises(ValueError, match=".npy"):
        save_npy(tmp_path / "x", np.ones(3))
    with pytest.raises(TypeError, match="objects"):
        save_npy(path, np.array([{}]))


@pytest.mark.parametrize(
    "mine",
    [
        lambda rank: np.full(4, rank),
        lambda rank: np.zeros(4 + rank),
        lambda rank: np.zeros(4, ["f4", "f8"][rank]),
    ],
    ids=["elements", "shape", "dtype"],
)
def test_different_arrays_of_ranks_are_not_mixed(mine, tmp_path):
    def go():
        with pytest.raises(ValueError, match="not the same on all ranks"):
            save_npy(tmp_path / "x.npy", mine(init_device_mesh("cpu", (2,)).get_rank()))

    run_ranks(2, go)
    assert os.listdir(tmp_path) == []


def test_of_foreign_bytes_a_rank_takes_its_part_into_memory(tmp_path):
    path = tmp_path / "x.npy"
    x = np.arange(2**20)  # 8 MiB
    np.save(path, x.astype(">i8"))
    tracemalloc.start()
    y = run_ranks(8, lambda: load_npy(path, init_device_mesh("cpu", (8,)), [Shard(0)]))
    assert tracemalloc.get_traced_memory()[1] < 2 * x.nbytes  # of all ranks
    tracemalloc.stop()
    assert y[7].dtype == x.dtype
    assert np.array_equal(y[7].to_local(), x[-(2**17) :])


def test_an_array_that_fails_to_be_saved_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.npy"
    save_npy(path, np.arange(3))

    def go():
        with pytest.raises(TypeError, match="array of objects"):
            save_npy(path, np.array([None]))

    run_ranks(2, go)
    assert np.array_equal(np.load(path), np.arange(3)) and os.listdir(tmp_path) == [
        "x.npy"
    ]


@pytest.mark.parametrize("op, expected", [("sum", 3), ("avg", 1.5), ("max", 2)])
def test_a_pending_reduction_is_saved_reduced(tmp_path, op, expected):
    path = tmp_path / "x.npy"

    def go():
        mesh = init_device_mesh("cpu", (2,))
        mine = np.full((3, 2), mesh.get_rank() + 1.0)
        save_npy(path, DTensor.from_local(mine, mesh, [Partial(op)]))

    run_ranks(2, go)
    assert np.array_equal(np.load(path), np.full((3, 2), expected))
