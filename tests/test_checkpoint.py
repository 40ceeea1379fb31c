"""What was saved is loaded, bit for bit, into any layout and number of ranks."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from meshes import line

from dtensor import (
    DTensor,
    Layout,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor._core import world as _world
from dtensor.checkpoint import (
    CheckpointException,
    async_save,
    load,
    save,
)
from dtensor.placement_types import _StridedShard
from dtensor.testing import run_ranks

SHAPES = [
    *[(), (0, 3), (1,), (7,), (17,), (12, 5), (5, 12), (1, 9)],
    *[(3, 4, 5), (2, 1, 6), (2, 3, 1, 5)],
]
DTYPES = [
    *("bool", "int8", "uint16", "int64", "float16", "float32", "float64"),
    *("complex64", "complex128", "longdouble", "clongdouble", ml_dtypes.bfloat16),
]


def elements(shape, dtype, seed=0):
    """Random elements of any dtype; of longdouble and complex more than a float has."""
    rng = np.random.default_rng([seed, *shape])
    dtype = np.dtype(dtype)
    if dtype.kind in "fcV":
        x = rng.standard_normal(shape).astype(dtype) / dtype.type(3)
        if dtype.kind == "c":
            x = x + 1j * rng.standard_normal(shape).astype(dtype)
        return np.asarray(x, dtype)
    return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)


def random_layout(rng, n, shape, dtype):
    """One of the ways to hold an array on n ranks."""
    shapes = [(n,), *((k, n // k) for k in range(1, n + 1) if n % k == 0)]
    mesh = init_device_mesh("cpu", shapes[rng.integers(len(shapes))])
    kinds = [
        Replicate(),
        *map(Shard, range(len(shape))),
        *map(Shard, range(len(shape))),
    ]
    if len(shape):
        kinds.append(_StridedShard(len(shape) - 1, split_factor=2))
    placements = [kinds[rng.integers(len(kinds))] for _ in range(mesh.ndim)]
    options = {}
    if mesh.ndim == 1 and type(placements[0]) is Shard and rng.integers(2):
        dim = placements[0].dim
        inner = np.sort(rng.integers(0, shape[dim] + 1, n - 1)).tolist()
        options["cuts"] = {dim: [0, *inner, shape[dim]]}
    elif placements == [Shard(0), Shard(0)] and rng.integers(2):
        options["shard_order"] = {0: (1, 0)}
    return Layout(mesh, placements, shape, dtype, **options)


def held(layout, whole):
    """An array in a layout; what all ranks have is cut without communication."""
    mesh = layout.mesh
    replicated = distribute_tensor(
        whole, mesh, [Replicate()] * mesh.ndim, src_data_rank=None
    )
    part = replicated.redistribute(placements=layout).to_local().numpy()
    return DTensor(np.array(part), layout, requires_grad=False)


def pairs(a, b):
    return [
        (k, *pair) for k, pair in enumerate(itertools.product(SHAPES, DTYPES[a::b]))
    ]


@pytest.mark.parametrize("a", [1, 2, 3, 4])
def test_what_a_ranks_saved_b_ranks_load_in_other_layouts(a, tmp_path):
    cases = pairs(a % 2, 2)

    def layouts(n, seed):
        rng = np.random.default_rng(seed)
        return [random_layout(rng, n, shape, dtype) for _, shape, dtype in cases]

    def put():
        state = {
            f"x{k}": held(layout, elements(shape, dtype, k))
            for (k, shape, dtype), layout in zip(cases, layouts(a, a), strict=True)
        }
        save(state, checkpoint_id=tmp_path)

    def get(b):
        state = {
            f"x{k}": held(layout, np.zeros(shape, dtype))
            for (k, shape, dtype), layout in zip(cases, layouts(b, 10 + b), strict=True)
        }
        load(state, checkpoint_id=tmp_path)
        for k, shape, dtype in cases:
            found = state[f"x{k}"].to_local().numpy()
            want = held(state[f"x{k}"].layout, elements(shape, dtype, k))
            want = want.to_local().numpy()
            assert found.dtype == want.dtype and np.array_equal(found, want)

    run_ranks(a, put)
    for b in (1, 2, 3, 4):
        run_ranks(b, get, b)
    theirs = safetensors.numpy.load_file(tmp_path / "model.safetensors")
    assert theirs.keys() == {f"x{k}" for k, _, _ in cases}
    for k, shape, dtype in cases:
        want = elements(shape, dtype, k)
        if np.dtype(dtype).kind == "c" and want.itemsize <= 16:
            want = np.stack([want.real, want.imag], -1)
        if "long" not in str(dtype):
            assert theirs[f"x{k}"].dtype == want.dtype
            assert np.array_equal(theirs[f"x{k}"], want)


@pytest.mark.mpi
def test_ranks_of_mpi_save_and_load(tmp_path_factory):
    path = _world.MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("checkpoint")))
    mesh = line()
    whole = elements((13, 6), "float32")
    x = distribute_tensor(whole, mesh, [Shard(1)])
    async_save({"x": x, "step": 1}, checkpoint_id=path).result()
    metadata = save({"x": x * 2, "step": 2}, checkpoint_id=path)
    assert metadata.state_dict_metadata["x"].size == (13, 6)
    state = {"x": distribute_tensor(whole * 0, mesh, [Shard(0)]), "step": 0}
    load(state, checkpoint_id=path)
    assert np.array_equal(state["x"].full_tensor(), whole * 2) and state["step"] == 2
    with pytest.raises(CheckpointException, match="Missing key .* y"):
        load({"y": x}, checkpoint_id=path)
    _world.MPI.COMM_WORLD.Barrier()
